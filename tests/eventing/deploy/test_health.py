"""The checks of health for Flux and Argo CD say of objects what their status says (`k8s/health`)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from cel_expr_python import cel

from eventing.workqueue import connect
from shared.api.manifest import Manifest
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_CATALOG,
    CLUSTER_EXTENSION,
    CLUSTER_OBJECT_SET,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    SUBSCRIPTION,
    Kind,
)
from tests.eventing.diagnosis.status import test_extension as extensions
from tests.functions.cluster_extension.world import EXTENSION, World, a_world, installed

FOLDER = Path(__file__).parents[3] / "k8s" / "health"
OF_FLUX = yaml.safe_load((FOLDER / "flux.yaml").read_text())["spec"]["healthCheckExprs"]
OF_ARGO = yaml.safe_load((FOLDER / "argocd.yaml").read_text())["data"]
HEALTHY, WAITS, UNHEALTHY = "Healthy", "Progressing", "Degraded"


def of_flux(manifest: Manifest) -> str:
    """What Flux makes of the expressions: an error, as of a field that is not there, is no answer yet."""
    [check] = [one for one in OF_FLUX if (one["apiVersion"], one["kind"]) == (manifest["apiVersion"], manifest["kind"])]
    variables = dict.fromkeys(("metadata", "spec", "status"), cel.Type.DYN)
    environment = cel.NewEnv(variables=variables)

    def holds(expression: str) -> bool:
        data = {key: value for key, value in manifest.items() if key in variables}
        return environment.compile(expression).eval(data=data).value() is True  # an error is a value, too

    if "failed" in check and holds(check["failed"]):
        return UNHEALTHY
    return HEALTHY if holds(check["current"]) else WAITS


@pytest.fixture
def of_argo(redis_url: str) -> Callable[[Manifest], tuple[str, str]]:
    """What Argo CD makes of the script: health and message. A Redis runs the same Lua."""

    def asked(manifest: Manifest) -> tuple[str, str]:
        group = manifest["apiVersion"].partition("/")[0]
        script = OF_ARGO[f"resource.customizations.health.{group}_{manifest['kind']}"]
        around = f"local function check(obj)\n{script}\nend\nreturn cjson.encode(check(cjson.decode(ARGV[1])))"
        with connect(redis_url) as client:
            found = json.loads(client.eval(around, 0, json.dumps(manifest)))
        return found["status"], found["message"]

    return asked


def an_object(kind: Kind, **status: Any) -> Manifest:
    found: Manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "a", "generation": 2}}
    return {**found, **({"status": status} if status else {})}


def conditions(*entry: tuple[str, str, str], generation: int = 2) -> list[Manifest]:
    return [
        {"type": kind, "status": status, "reason": why, "message": "m", "observedGeneration": generation}
        for kind, status, why in entry
    ]


def a_catalog(progressing: str, reason: str, *, serving: str = "True", why: str = "x", generation: int = 2) -> Manifest:
    entry = (("Progressing", progressing, reason), ("Serving", serving, why))
    return an_object(CLUSTER_CATALOG, conditions=conditions(*entry, generation=generation))


def a_revision(progressing: str, reason: str, *, available: str = "") -> Manifest:
    found = (("Available", available, "x"),) if available else ()
    return an_object(CLUSTER_OBJECT_SET, conditions=conditions(("Progressing", progressing, reason), *found))


def a_subscription(*conditions: str, **status: Any) -> Manifest:
    listed = [{"type": kind, "status": "True"} for kind in conditions]
    return an_object(SUBSCRIPTION, conditions=listed, **status)


LATEST = {"state": "AtLatestKnown", "installedCSV": "a.v1", "currentCSV": "a.v1"}
CASES = [
    pytest.param(an_object(CLUSTER_EXTENSION), WAITS, id="a new extension"),
    pytest.param(an_object(CLUSTER_CATALOG), WAITS, id="a new catalog"),
    pytest.param(a_catalog("True", "Succeeded"), HEALTHY, id="a catalog that is served"),
    pytest.param(a_catalog("True", "Succeeded", generation=1), WAITS, id="a catalog that was edited"),
    pytest.param(a_catalog("True", "Retrying"), WAITS, id="a catalog that serves an older content"),
    pytest.param(a_catalog("False", "Blocked", serving="False"), UNHEALTHY, id="a catalog that only an edit can help"),
    pytest.param(
        a_catalog("True", "Succeeded", serving="False", why="UserSpecifiedUnavailable"),
        HEALTHY,
        id="a catalog that is not served because its spec says so",
    ),
    pytest.param(a_catalog("True", "Succeeded", serving="False"), WAITS, id="a catalog that is not served yet"),
    pytest.param(an_object(CLUSTER_OBJECT_SET), WAITS, id="a new revision"),
    pytest.param(a_revision("True", "RollingOut", available="False"), WAITS, id="a revision that is rolled out"),
    pytest.param(a_revision("True", "Succeeded", available="True"), HEALTHY, id="a revision that is"),
    pytest.param(
        a_revision("False", "ProgressDeadlineExceeded", available="False"), UNHEALTHY, id="a revision that is late"
    ),
    pytest.param(a_revision("False", "Blocked"), UNHEALTHY, id="a revision that only an edit can help"),
    pytest.param(a_revision("False", "Archived", available="Unknown"), HEALTHY, id="a revision of the past"),
    pytest.param(an_object(INSTALL_PLAN), WAITS, id="a new plan"),
    pytest.param(an_object(INSTALL_PLAN, phase="Complete"), HEALTHY, id="a plan that was carried out"),
    pytest.param(an_object(INSTALL_PLAN, phase="Failed"), UNHEALTHY, id="a plan that failed"),
    pytest.param(an_object(CATALOG_SOURCE), WAITS, id="a new CatalogSource"),
    pytest.param(an_object(CATALOG_SOURCE, connectionState={"lastObservedState": "READY"}), HEALTHY, id="READY"),
    pytest.param(
        an_object(CATALOG_SOURCE, connectionState={"lastObservedState": "CONNECTING"}), WAITS, id="CONNECTING"
    ),
    pytest.param(an_object(CLUSTER_SERVICE_VERSION), WAITS, id="a new version"),
    pytest.param(an_object(CLUSTER_SERVICE_VERSION, phase="Succeeded"), HEALTHY, id="Succeeded"),
    pytest.param(an_object(CLUSTER_SERVICE_VERSION, phase="Installing"), WAITS, id="Installing"),
    pytest.param(an_object(CLUSTER_SERVICE_VERSION, phase="Failed", message="m"), UNHEALTHY, id="Failed"),
]


@pytest.mark.parametrize(("manifest", "want"), CASES)
def test_both_report_the_same(manifest: Manifest, want: str, of_argo: Callable[[Manifest], tuple[str, str]]) -> None:
    assert (of_flux(manifest), of_argo(manifest)[0]) == (want, want)


@pytest.mark.parametrize(
    ("manifest", "want"),
    [
        pytest.param(an_object(SUBSCRIPTION), WAITS, id="new"),
        pytest.param(a_subscription(**LATEST), HEALTHY, id="at the latest version"),
        pytest.param(a_subscription(**{**LATEST, "state": "UpgradePending"}), WAITS, id="an upgrade"),
        pytest.param(a_subscription("InstallPlanPending"), WAITS, id="a plan that waits"),
        pytest.param(a_subscription("ResolutionFailed"), UNHEALTHY, id="no version"),
        pytest.param(a_subscription("BundleUnpackFailed"), UNHEALTHY, id="no bundle"),
    ],
)
def test_subscriptions_which_argo_cd_knows_itself(manifest: Manifest, want: str) -> None:
    assert of_flux(manifest) == want


@pytest.mark.parametrize(
    ("make", "flux", "argo"),
    [
        pytest.param(installed, HEALTHY, HEALTHY, id="installed"),
        pytest.param(extensions.refused_by_catalogs, WAITS, WAITS, id="no bundle"),
        pytest.param(extensions.colliding, WAITS, WAITS, id="collision"),
        pytest.param(extensions.misconfigured, UNHEALTHY, UNHEALTHY, id="configuration"),
        pytest.param(extensions.late, UNHEALTHY, UNHEALTHY, id="late"),
        pytest.param(extensions.failing, WAITS, WAITS, id="not available any more"),
        pytest.param(lambda: extensions.settled(a_world()), WAITS, WAITS, id="rolling out"),
        pytest.param(lambda: extensions.edit(installed(), version="9.x"), WAITS, WAITS, id="edited a moment ago"),
    ],
)
def test_extensions_as_the_steps_write_them(
    make: Callable[[], World], flux: str, argo: str, of_argo: Callable[[Manifest], tuple[str, str]]
) -> None:
    manifest = make().objects[EXTENSION]
    health, message = of_argo(manifest)
    assert (of_flux(manifest), health, bool(message)) == (flux, argo, True)
