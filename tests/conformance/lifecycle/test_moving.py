"""An operator moves from a Subscription to a ClusterExtension while it runs on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, NoReturn

import pytest

from eventing.cli.extension.cluster import content_of_cluster
from eventing.cli.extension.live_plan import files_of
from eventing.cli.requests.adoption import AdoptionRequest, adopt
from eventing.cli.requests.releasing import ReleaseRequest, release
from shared import names
from shared.adapters.kube import KubeClient
from shared.api.manifest import labels_of, metadata, uid_of
from shared.kinds import (
    CLUSTER_EXTENSION,
    CLUSTER_OBJECT_SET,
    CLUSTER_SERVICE_VERSION,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    POD,
    SERVICE_ACCOUNT,
    SUBSCRIPTION,
    Ref,
)
from tests.conformance.lifecycle.test_extensions import CATALOG, an_extension, extension, until_installed
from tests.kit.installation import SAMPLES, Installation, a_subscription, an_operator_group, condition
from tests.kit.waiting import PATIENCE_SECONDS

__all__ = ["extension"]
TIDE = CLUSTER_EXTENSION.ref("tide")
DEFINITION = CUSTOM_RESOURCE_DEFINITION.ref("tides.samples.olmf.io")


@pytest.fixture
def operator(installation: Installation, extension: Ref, namespace: str) -> Any:
    """Tide 0.1.0, installed by a Subscription for all namespaces; what it becomes goes with the test."""
    found = a_subscription("tide", namespace)
    found["metadata"]["annotations"] = {names.VERSION: "0.1.0"}
    installation.apply(an_operator_group(namespace), found)
    installation.until_phase("tide.v0.1.0", namespace)
    installation.until_it_rests()
    yield DEPLOYMENT.ref("tide-controller", namespace)
    installation.olmf("extension", "uninstall", "tide", "--delete-objects", check=False)


def identities(installation: Installation, deployment: Ref) -> list[object]:
    """Who the objects are, and which pods run."""
    place = deployment.namespace
    refs = (deployment, DEFINITION, SERVICE_ACCOUNT.ref("tide-controller", place))
    found = [installation.cluster.get(ref) or {} for ref in refs]
    pods = sorted(uid_of(one) for one in installation.cluster.list(POD, place))
    return [*map(uid_of, found), found[0]["spec"], pods]


def test_an_operator_moves_to_an_extension(installation: Installation, operator: Ref, namespace: str) -> None:
    before = identities(installation, operator)
    reported = installation.olmf("extension", "adopt", "tide", "-n", namespace).stdout
    assert f"keep   Deployment {namespace}/tide-controller" in reported or "change Deployment" in reported
    assert installation.cluster.get(TIDE) is None, "nothing is done without --apply"
    installation.olmf("extension", "adopt", "tide", "-n", namespace, "--apply", "--catalog", CATALOG.name)
    found = until_installed(installation, TIDE, "0.1.0")
    assert found["status"]["activeRevisions"] == [{"name": "tide-1"}]
    assert installation.cluster.list(SUBSCRIPTION, namespace) == ()
    assert installation.cluster.list(CLUSTER_SERVICE_VERSION, namespace) == ()
    installation.until_it_rests()
    assert identities(installation, operator) == before
    present = installation.cluster.get(operator) or {}
    controllers = [one["name"] for one in metadata(present)["ownerReferences"] if one["controller"]]
    assert controllers == ["tide-1"]
    assert names.OWNER not in labels_of(present)
    assert condition(installation.cluster.get(TIDE) or {}, "Available")["status"] == "True"


def test_an_operator_that_moved_is_upgraded(installation: Installation, operator: Ref, namespace: str) -> None:
    installation.olmf("extension", "adopt", "tide", "-n", namespace, "--apply", "--catalog", CATALOG.name)
    until_installed(installation, TIDE, "0.1.0")
    installation.cluster.merge(TIDE, {"spec": {"source": {"catalog": {"version": "0.2.0"}}}})
    until_installed(installation, TIDE, "0.2.0")
    container = (installation.cluster.get(operator) or {})["spec"]["template"]["spec"]["containers"][0]
    variables = {one["name"] for one in container.get("env") or ()}
    assert "OPERATOR_CONDITION_NAME" not in variables, "nothing is left of the version"


def test_what_cannot_be_moved_as_it_is_is_reported(installation: Installation, operator: Ref, namespace: str) -> None:
    installation.apply({
        "apiVersion": CLUSTER_EXTENSION.api_version, "kind": "ClusterExtension", "metadata": {"name": "other"},
        "spec": {"namespace": namespace, "source": {"sourceType": "Catalog", "catalog": {"packageName": "tide"}}},
    })  # fmt: skip
    try:
        done = installation.olmf("extension", "adopt", "tide", "-n", namespace, "--apply", check=False)
        assert done.returncode == 1
        assert "ClusterExtension other is there already, of package tide" in done.stderr
    finally:
        installation.cluster.delete(CLUSTER_EXTENSION.ref("other"))
        installation.until_gone(CLUSTER_EXTENSION.ref("other"))
    assert installation.cluster.get(CLUSTER_OBJECT_SET.ref("tide-1")) is None
    assert json.loads(installation.olmf("list", "-n", namespace, "-o", "json").stdout)


def test_an_operator_moves_back(installation: Installation, operator: Ref, namespace: str) -> None:
    before = identities(installation, operator)
    installation.olmf("extension", "adopt", "tide", "-n", namespace, "--apply", "--catalog", CATALOG.name)
    until_installed(installation, TIDE, "0.1.0")
    installation.until_it_rests()
    reported = installation.olmf("extension", "release", "tide").stdout
    assert f"keep   Deployment {namespace}/tide-controller" in reported
    installation.olmf("extension", "release", "tide", "--apply")
    installation.until_phase("tide.v0.1.0", namespace)
    installation.until_it_rests()
    assert identities(installation, operator) == before
    assert installation.cluster.get(TIDE) is None
    assert installation.cluster.list(CLUSTER_OBJECT_SET, labels={names.V1_OWNER_NAME: "tide"}) == ()
    present = installation.cluster.get(operator) or {}
    assert [one["kind"] for one in metadata(present)["ownerReferences"]] == ["ClusterServiceVersion"]
    assert names.V1_MANAGED_BY not in labels_of(present)


def test_what_never_was_a_version_restarts_its_pods(installation: Installation, extension: Ref, namespace: str) -> None:
    installation.apply(an_operator_group(namespace), an_extension(extension.name, namespace, version="0.1.0"))
    until_installed(installation, extension, "0.1.0")
    reported = installation.olmf("extension", "release", extension.name, check=False)
    assert reported.returncode == 1
    assert "Deployment tide-controller: its pods would be restarted, for OPERATOR_CONDITION_NAME" in reported.stdout
    installation.olmf("extension", "release", extension.name, "--restart-pods", "--apply")
    installation.until_phase("tide.v0.1.0", namespace)
    installation.until_gone(extension)


class Killed(BaseException):
    """The end of a process, which nothing catches."""


class Mortal(KubeClient):
    """A client whose process is killed right after its first write."""

    def _write(self, *words: Any, **named: Any) -> NoReturn:
        super()._write(*words, **named)
        raise Killed

    def delete(self, ref: Ref, **named: Any) -> None:
        super().delete(ref, **named)
        raise Killed


def carried_on(move: Callable[[], Iterator[str]]) -> int:
    """Killed right after each write, and begun anew, until it comes to its end: how often that was."""
    for number in range(40):
        try:
            list(move())
        except Killed:
            continue
        return number
    raise AssertionError("it never comes to its end")


def test_whoever_is_killed_at_any_write_is_carried_on(
    installation: Installation, operator: Ref, namespace: str
) -> None:
    before = identities(installation, operator)
    addresses = json.loads((installation.state / "olmf.json").read_text())
    cluster = Mortal.from_kubeconfig(addresses["kubeconfig"])
    content, patience = content_of_cluster(cluster), timedelta(seconds=PATIENCE_SECONDS)
    folder = str(SAMPLES / "tide" / "0.1.0")
    request = AdoptionRequest(
        SUBSCRIPTION.ref("tide", namespace), content, lambda image: files_of(folder, image), CATALOG.name
    )
    assert carried_on(lambda: adopt(cluster, request, patience)) >= 8
    until_installed(installation, TIDE, "0.1.0")
    installation.until_it_rests()
    assert identities(installation, operator) == before
    assert installation.cluster.list(CLUSTER_SERVICE_VERSION, namespace) == ()
    assert carried_on(lambda: release(cluster, ReleaseRequest("tide"), patience, "olm")) >= 5
    installation.until_phase("tide.v0.1.0", namespace)
    installation.until_it_rests()
    assert identities(installation, operator) == before
    assert installation.cluster.get(TIDE) is None
    cluster.close()
