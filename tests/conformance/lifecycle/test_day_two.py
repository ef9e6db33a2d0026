"""What happens after the first install: columns, approvals, holds, whole namespaces that go, and the record of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_ROLE, CLUSTER_SERVICE_VERSION, INSTALL_PLAN, NAMESPACE, SUBSCRIPTION
from tests.conformance.control_plane import program
from tests.conformance.http import Api
from tests.conformance.lifecycle.conftest import TARGETS
from tests.conformance.targets import running
from tests.kit.installation import (
    SAMPLES,
    Installation,
    a_namespace,
    a_subscription,
    an_operator_group,
    condition,
    olmf,
)
from tests.kit.waiting import PATIENCE_SECONDS

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
ALPHA = "/apis/operators.coreos.com/v1alpha1"


@pytest.mark.parametrize(
    ("path", "columns"),
    [
        pytest.param(
            f"{ALPHA}/catalogsources",
            ["Name", "Display", "Type", "Publisher", "Age"],
            id="catalog.md 1: CatalogSource",
        ),
        pytest.param(
            f"{ALPHA}/subscriptions", ["Name", "Package", "Source", "Channel"], id="catalog.md 3: Subscription"
        ),
        pytest.param(f"{ALPHA}/installplans", ["Name", "CSV", "Approval", "Approved"], id="catalog.md 4: InstallPlan"),
        pytest.param(
            f"{ALPHA}/clusterserviceversions",
            ["Name", "Display", "Version", "Release", "Replaces", "Phase"],
            id="csv.md 1: ClusterServiceVersion",
        ),
        pytest.param("/apis/operators.coreos.com/v1/operatorgroups", ["Name", "Age"], id="OperatorGroup"),
    ],
)
def test_a_table_has_the_columns_of_olm(installation: Installation, path: str, columns: list[str]) -> None:
    answer = Api.of(kubeconfig_of(installation)).get(path, accept=TABLE)
    assert [column["name"] for column in answer.body["columnDefinitions"]] == columns


@pytest.mark.conformance
def test_kubectl_prints_what_was_installed(installation: Installation, namespace: str) -> None:
    subscribe(installation, namespace, channel="stable")
    installation.until_phase("tide.v1.0.0", namespace)
    printed = run_kubectl(installation, "get", "sub,csv,installplans,og", "-n", namespace)
    lines = [line.split() for line in printed.splitlines()]
    assert ["subscription.operators.coreos.com/tide", "tide", "local", "stable"] in lines
    (csv,) = (line for line in lines if line[:1] == ["clusterserviceversion.operators.coreos.com/tide.v1.0.0"])
    assert csv[-1] == "Succeeded"
    (plan,) = (line for line in lines if line and line[0].startswith("installplan."))
    assert plan[1:] == ["tide.v1.0.0", "Automatic", "true"]
    (catalog,) = run_kubectl(installation, "get", "catsrc", "-n", "olm", "--no-headers").splitlines()
    assert catalog.split()[:3] == ["local", "local", "grpc"]


@pytest.mark.conformance
@pytest.mark.parametrize("folder", ["crds", "rbac", "base"])
def test_what_we_render_is_accepted(installation: Installation, folder: str) -> None:
    path = Path(__file__).parents[3] / "k8s" / folder
    run_kubectl(installation, "apply", "-k", str(path), "--dry-run=server", "--server-side", "--force-conflicts")


def test_every_version_of_a_manual_subscription_waits_for_its_approval(
    installation: Installation, namespace: str
) -> None:
    subscribe(installation, namespace, startingCSV="tide.v0.1.0", installPlanApproval="Manual")
    approve(installation, pending_plan(installation, namespace, "tide.v0.1.0"))
    first = installation.until_phase("tide.v0.1.0", namespace)
    second = pending_plan(installation, namespace, "tide.v1.0.0")
    reported = {"state": "UpgradePending", "installedCSV": "tide.v0.1.0"}
    installation.until(
        SUBSCRIPTION.ref("tide", namespace), lambda each: reported.items() <= each["status"].items(), str(reported)
    )
    now = installation.cluster.get(CLUSTER_SERVICE_VERSION.ref("tide.v0.1.0", namespace))
    assert now is not None
    assert now["metadata"]["uid"] == first["metadata"]["uid"]
    approve(installation, second)
    installation.until_phase("tide.v1.0.0", namespace)
    installation.until_gone(CLUSTER_SERVICE_VERSION.ref("tide.v0.1.0", namespace))


def test_a_held_package_stays_until_it_is_released(installation: Installation, namespace: str) -> None:
    subscribe(installation, namespace, startingCSV="tide.v0.1.0", installPlanApproval="Manual")
    approve(installation, pending_plan(installation, namespace, "tide.v0.1.0"))
    installation.until_phase("tide.v0.1.0", namespace)
    pending_plan(installation, namespace, "tide.v1.0.0")
    installation.olmf("hold", "tide", "-n", namespace, "--reason", "a frozen week")
    installation.cluster.merge(SUBSCRIPTION.ref("tide", namespace), {"spec": {"installPlanApproval": "Automatic"}})
    installation.until(SUBSCRIPTION.ref("tide", namespace), lambda each: "a frozen week" in str(each["status"]), "hold")
    assert "a frozen week" in installation.olmf("list", "-n", namespace).stdout
    assert installation.cluster.get(CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", namespace)) is None
    installation.olmf("hold", "tide", "-n", namespace, "--release")
    installation.olmf("upgrade", "tide", "-n", namespace)
    installation.until_phase("tide.v1.0.0", namespace)


def test_a_namespace_goes_with_all_that_it_had(installation: Installation, namespace: str) -> None:
    installation.apply(an_operator_group(namespace), a_subscription("ledger", namespace))
    installation.until_phase("ledger.v2.1.0", namespace)
    owned = {"olm.owner": "ledger.v2.1.0", "olm.owner.namespace": namespace}
    roles = installation.cluster.list(CLUSTER_ROLE, labels=owned)
    assert roles
    installation.cluster.delete(NAMESPACE.ref(namespace))
    installation.until_gone(NAMESPACE.ref(namespace))
    for role in roles:
        installation.until_gone(CLUSTER_ROLE.ref(role["metadata"]["name"]))


def test_an_automatic_plan_does_not_wait_for_a_manual_neighbour(installation: Installation, namespace: str) -> None:
    install_neighbours(installation, namespace)
    installation.until_phase("beacon.v1.0.0", namespace)
    assert pending_plan(installation, namespace, "tide.v1.0.0")["spec"]["clusterServiceVersionNames"] == ["tide.v1.0.0"]


def test_today_decides_what_it_decided_then(installation: Installation, namespace: str, tmp_path: Path) -> None:
    subscribe(installation, namespace)
    installation.until_phase("tide.v1.0.0", namespace)
    file = tmp_path / "capture.tar.gz"
    installation.olmf("capture", "-o", str(file), "--since", "60")
    replayed = olmf("replay", str(file), check=False)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr


@pytest.fixture(scope="module", params=TARGETS)
def as_olm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """An installation that makes one plan per namespace, as OLM."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OLMF_PLAN_SCOPE", "namespace")
        folder = tmp_path_factory.mktemp(f"as-olm-{request.param}")
        with running(request.param, folder, "--bundles", str(SAMPLES)) as found:
            yield found


def test_one_plan_per_namespace_is_a_setting(as_olm: Installation) -> None:
    as_olm.apply(a_namespace("together"))
    install_neighbours(as_olm, "together")
    plan = pending_plan(as_olm, "together", "tide.v1.0.0")
    assert len(plan["spec"]["clusterServiceVersionNames"]) == 2
    assert plan["spec"]["approval"] == "Manual"


def kubeconfig_of(installation: Installation) -> Path:
    """Of the administrator."""
    return Path(installation.status()["kubeconfig"])


def run_kubectl(installation: Installation, *words: str) -> str:
    """What the real kubectl printed."""
    command: list[str | Path] = [program("kubectl"), f"--kubeconfig={kubeconfig_of(installation)}", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def subscribe(installation: Installation, namespace: str, **spec: Any) -> None:
    """To tide, for its own namespace."""
    group = an_operator_group(namespace, targets=(namespace,))
    installation.apply(group, a_subscription("tide", namespace, **spec))


def install_neighbours(installation: Installation, namespace: str) -> None:
    """Tide by hand and beacon by itself, in one namespace; resolved together."""
    installation.apply(
        a_subscription("tide", namespace, installPlanApproval="Manual"),
        a_subscription("beacon", namespace, channel="stable"),
        an_operator_group(namespace, targets=(namespace,)),
    )


def pending_plan(installation: Installation, namespace: str, csv: str) -> Manifest:
    """The plan for a version, as soon as its Subscription waits for it."""
    plans: list[Manifest] = []

    def is_waiting(subscription: Manifest) -> bool:
        waits = condition(subscription, "InstallPlanPending").get("reason") == "RequiresApproval"
        found = installation.cluster.list(INSTALL_PLAN, namespace) if waits else ()
        plans[:] = [plan for plan in found if csv in plan["spec"]["clusterServiceVersionNames"]]
        return bool(plans)

    installation.until(SUBSCRIPTION.ref("tide", namespace), is_waiting, f"a plan for {csv} that waits")
    return plans[0]


def approve(installation: Installation, plan: Manifest) -> None:
    """As a person does."""
    meta = plan["metadata"]
    installation.cluster.merge(INSTALL_PLAN.ref(meta["name"], meta["namespace"]), {"spec": {"approved": True}})
