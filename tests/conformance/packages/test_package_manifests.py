"""PackageManifests as kubectl and consoles read them, through the API server (csv.md §13)."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator

import pytest
import yaml

from shared.adapters.kube import ApiError
from shared.domain.serving.publication import API, server_of
from shared.kinds import NAMESPACE
from tests.conformance.control_plane import program
from tests.conformance.lifecycle.conftest import TARGETS
from tests.conformance.targets import running
from tests.kit.installation import SAMPLES, Installation, a_namespace
from tests.kit.waiting import wait_for

SERVER = server_of("olm")
PATH = "/apis/packages.operators.coreos.com/v1"
SERVED = ["beacon", "ledger", "tide"]


@pytest.fixture(scope="module", params=TARGETS)
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("packages")
    with running(request.param, folder, "--bundles", str(SAMPLES)) as found:
        found.apply(a_namespace("team"))
        wait_for(lambda: names(found, "team") == SERVED, "the packages of the samples")
        wait_for(lambda: is_discovered(found), "that discovery tells of the API, which it does a moment later")
        yield found


def names(host: Installation, namespace: str) -> list[str]:
    try:
        found = host.cluster.request("GET", f"{PATH}/namespaces/{namespace}/packagemanifests")
    except ApiError:  # not served now
        return []
    return sorted(one["metadata"]["name"] for one in found["items"])


def is_discovered(host: Installation) -> bool:
    """Whether kubectl would find the resource by its name."""
    try:
        return bool(kubectl(host, "get", "packagemanifests", "-n", "team"))
    except subprocess.CalledProcessError:
        return False


def registered(host: Installation) -> bool:
    return host.cluster.get(API) is not None


def kubectl(host: Installation, *words: str) -> str:
    """What the real client prints."""
    found = subprocess.run(
        [str(program("kubectl")), "--kubeconfig", json.loads((host.state / "olmf.json").read_text())["kubeconfig"],
         *words],
        capture_output=True, text=True, check=True, timeout=120, env={**os.environ, "HOME": str(host.state)},
    )  # fmt: skip
    return found.stdout


def test_kubectl_shows_the_packages_of_the_global_catalog_in_every_namespace(host: Installation) -> None:
    """csv.md 18 row 155: the namespace is rewritten."""
    lines = kubectl(host, "get", "packagemanifests", "-n", "team").splitlines()
    assert lines[0].split() == ["NAME", "CATALOG", "AGE"]
    assert sorted(line.split()[0] for line in lines[1:]) == SERVED
    found = yaml.safe_load(kubectl(host, "get", "packagemanifest", "tide", "-n", "team", "-o", "yaml"))
    assert found["metadata"]["namespace"] == "team"
    assert found["status"]["catalogSourceNamespace"] == "olm"


def test_one_that_is_not_offered_is_not_found(host: Installation) -> None:
    """csv.md 18 row 156."""
    with pytest.raises(subprocess.CalledProcessError) as refused:
        kubectl(host, "get", "packagemanifest", "absent", "-n", "team")
    assert '"absent" not found' in refused.value.stderr


def test_an_icon_is_asked_for_through_the_api_server(host: Installation) -> None:
    """csv.md 18 row 161: one without an icon gets a drawing."""
    assert "<svg" in kubectl(host, "get", "--raw", f"{PATH}/namespaces/team/packagemanifests/tide/icon")


def test_the_api_leaves_with_its_pods_and_namespaces_can_be_deleted_meanwhile(host: Installation) -> None:
    """DESIGN §14: discovery never breaks for long."""
    host.cluster.merge(SERVER, {"spec": {"replicas": 0}})
    wait_for(lambda: not registered(host), "the withdrawal of the API")
    host.apply(a_namespace("gone"))
    host.cluster.delete(NAMESPACE.ref("gone"))
    host.until_gone(NAMESPACE.ref("gone"))
    host.cluster.merge(SERVER, {"spec": {"replicas": 1}})
    wait_for(lambda: registered(host) and names(host, "team") == SERVED, "the packages again")


def test_an_api_that_is_deleted_comes_back(host: Installation) -> None:
    before = host.cluster.get(API)
    assert before
    host.cluster.delete(API)
    host.until(API, lambda now: now["metadata"]["uid"] != before["metadata"]["uid"])
    wait_for(lambda: names(host, "team") == SERVED, "the packages again")
