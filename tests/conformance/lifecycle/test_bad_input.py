"""Bad input of every sort: a condition or an error says what is wrong, nothing runs hot, and a neighbour installs."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pytest

from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, OPERATOR_GROUP, SUBSCRIPTION
from tests.conformance.lifecycle.conftest import TARGETS
from tests.conformance.targets import running
from tests.kit.image_registry import Answer, ScriptedRegistry, a_file, a_layer, scripted_registry
from tests.kit.installation import SAMPLES, Installation, a_namespace, a_subscription
from tests.kit.installation import an_operator_group as a_group
from tests.kit.waiting import wait_for

CONFIGS = {"operators.operatorframework.io.index.configs.v1": "/configs"}


@pytest.fixture(scope="module", params=TARGETS)
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with running(request.param, tmp_path_factory.mktemp("bad"), "--bundles", str(SAMPLES)) as found:
        yield found


@pytest.fixture(scope="module")
def registry() -> Iterator[ScriptedRegistry]:
    with scripted_registry() as served:
        yield served


def a_catalog(name: str, **spec: Any) -> Manifest:
    meta = {"name": name, "namespace": "olm"}
    return {"apiVersion": CATALOG_SOURCE.api_version, "kind": "CatalogSource", "metadata": meta, "spec": spec}


def a_catalog_image(registry: ScriptedRegistry, name: str, *bundles: tuple[str, str]) -> str:
    """A catalog of packages with one bundle each, by name and image."""
    documents: list[Manifest] = []
    for package, image in bundles:
        first = {"name": f"{package}.v1.0.0"}
        documents += [
            {"schema": "olm.package", "name": package, "defaultChannel": "main"},
            {"schema": "olm.channel", "package": package, "name": "main", "entries": [first]},
            {"schema": "olm.bundle", "package": package, **first, "image": image, "properties": [
                {"type": "olm.package", "value": {"packageName": package, "version": "1.0.0"}}]},
        ]  # fmt: skip
    return a_catalog_image_of(registry, name, documents)


def a_catalog_image_of(registry: ScriptedRegistry, name: str, documents: Sequence[Manifest]) -> str:
    """The reference of an image of this catalog."""
    content = "\n".join(map(json.dumps, documents)).encode()
    registry.put(name, "1", [a_layer(a_file("configs/catalog.json", content))], CONFIGS)
    return f"{registry.address}/{name}:1"


def a_neighbour_installs(host: Installation, namespace: str) -> None:
    """A good operator installs beside whatever is broken."""
    host.apply(a_namespace(namespace), a_group(namespace, targets=(namespace,)), a_subscription("tide", namespace))
    host.until_phase("tide.v1.0.0", namespace)


def nothing_runs_hot(host: Installation, seconds: float = 2.0) -> None:
    """At most a handful of runs while nothing happens from outside, as soon as what is going on has ended."""

    def is_calm() -> bool:
        before = entries(host)
        time.sleep(seconds)
        return entries(host) - before < 30

    wait_for(is_calm, "an end of the runs")


def entries(host: Installation) -> int:
    """How many events and runs the journal has."""
    return len(json.loads(host.olmf("events", "list", "-o", "json").stdout))


def test_a_catalog_source_that_cannot_be_served_reports_why(host: Installation, registry: ScriptedRegistry) -> None:
    registry.put("empty", "1", [a_layer(a_file("readme", b"no catalog"))])
    registry.put("nonsense", "1", [a_layer(a_file("configs/a.yaml", b"{{{{"))], CONFIGS)
    registry.gate = lambda asked: Answer(status=401) if asked.path.startswith("/v2/locked/") else None
    cases = {
        "without-image": (a_catalog("without-image", sourceType="grpc"), "image and address unset"),
        "of-no-type": (a_catalog("of-no-type", sourceType="carrier-pigeon", image="x"), "unknown sourcetype"),
        "not-there": (a_catalog("not-there", sourceType="grpc", image=f"{registry.address}/gone:1"), "gone"),
        "no-catalog": (a_catalog("no-catalog", sourceType="grpc", image=f"{registry.address}/empty:1"), "empty"),
        "no-yaml": (a_catalog("no-yaml", sourceType="grpc", image=f"{registry.address}/nonsense:1"), "nonsense"),
        "locked": (a_catalog("locked", sourceType="grpc", image=f"{registry.address}/locked:1"), "without a login"),
        "no-reference": (a_catalog("no-reference", sourceType="grpc", image="::: not an image"), "not an image"),
    }
    host.apply(*(manifest for manifest, _ in cases.values()))
    for name, (_, sentence) in cases.items():
        host.until(CATALOG_SOURCE.ref(name, "olm"), partial(_reports, sentence), sentence)
    a_neighbour_installs(host, "beside-bad-catalogs")
    wait_for(lambda: {"not-there", "locked"} <= tried_later(host), "they are tried again, after a while")
    nothing_runs_hot(host)
    for name in cases:
        host.cluster.delete(CATALOG_SOURCE.ref(name, "olm"))


def _reports(sentence: str, source: Manifest) -> bool:
    return sentence in ((source.get("status") or {}).get("message") or "")


def tried_later(host: Installation) -> set[str]:
    """The catalogs that wait for their next snapshot."""
    waits = json.loads(host.olmf("queue", "ls", "-o", "json").stdout)
    return {
        each["ref"].rpartition("/")[2]
        for each in waits
        if each["step"] == "catalog_source/snapshot_catalog" and each["state"] == "delayed" and each["due"]
    }


def test_a_bundle_that_cannot_be_unpacked_reports_why(host: Installation, registry: ScriptedRegistry) -> None:
    no_csv = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "alone"}}
    registry.put("bundles/hollow", "1", [a_layer(a_file("manifests/c.yaml", json.dumps(no_csv).encode()))])
    hollow, gone = f"{registry.address}/bundles/hollow:1", f"{registry.address}/bundles/gone:1"
    image = a_catalog_image(registry, "catalogs/bad", ("hollow", hollow), ("gone", gone))
    host.apply(a_catalog("bad", sourceType="grpc", image=image))
    for package in ("hollow", "gone"):
        host.apply(a_namespace(package), a_group(package), a_subscription(package, package, source="bad"))
    a_neighbour_installs(host, "beside-bad-bundles")
    for package, sentence in (("hollow", "ClusterServiceVersion"), ("gone", "bundles/gone")):
        host.until(SUBSCRIPTION.ref(package, package), _message(sentence), sentence)
    nothing_runs_hot(host)


def _message(sentence: str) -> Callable[[Manifest], bool]:
    return lambda subscription: sentence in _troubles(subscription)


def _troubles(subscription: Manifest) -> str:
    kinds = {"BundleUnpacking", "BundleUnpackFailed", "InstallPlanFailed", "ResolutionFailed"}
    conditions = (subscription.get("status") or {}).get("conditions") or ()
    found = [each for each in conditions if each["type"] in kinds and each["status"] == "True"]
    return "; ".join(f"{each['type']}: {each.get('message')}" for each in found)


def test_a_missing_service_account_is_named(host: Installation) -> None:
    host.apply(a_namespace("accountless"), a_group("accountless", targets=("accountless",)))
    container = {"name": "c", "image": "x"}
    template = {
        "metadata": {"labels": {"app": "x"}},
        "spec": {"serviceAccountName": "nobody", "containers": [container]},
    }
    deployment = {"name": "x", "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template}}
    rules = [{"serviceAccountName": "nobody", "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}]
    host.apply(
        {
            "apiVersion": CLUSTER_SERVICE_VERSION.api_version,
            "kind": "ClusterServiceVersion",
            "metadata": {"name": "lonely.v1", "namespace": "accountless"},
            "spec": {
                "displayName": "lonely",
                "version": "1.0.0",
                "installModes": [{"type": "OwnNamespace", "supported": True}],
                "install": {"strategy": "deployment", "spec": {"permissions": rules, "deployments": [deployment]}},
            },
        }
    )
    csv = host.until(
        CLUSTER_SERVICE_VERSION.ref("lonely.v1", "accountless"),
        lambda each: (each.get("status") or {}).get("requirementStatus"),
    )
    (missing,) = [each for each in csv["status"]["requirementStatus"] if each["kind"] == "ServiceAccount"]
    assert (csv["status"]["phase"], missing["name"], missing["status"]) == ("Pending", "nobody", "NotPresent")
    nothing_runs_hot(host)


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        pytest.param("Subscription", {"name": 7, "source": "local", "sourceNamespace": "olm"}, id="a number as name"),
        pytest.param("CatalogSource", {"sourceType": ["grpc"]}, id="a list as source type"),
        pytest.param("InstallPlan", {"approved": "yes", "approval": "Manual"}, id="a word as approval"),
        pytest.param("OperatorGroup", {"targetNamespaces": "all"}, id="a word as target namespaces"),
    ],
)
def test_wrong_types_are_rejected_by_the_schema(host: Installation, kind: str, spec: Manifest) -> None:
    version = OPERATOR_GROUP.api_version if kind == "OperatorGroup" else SUBSCRIPTION.api_version
    manifest = {"apiVersion": version, "kind": kind, "metadata": {"name": "bad", "namespace": "default"}, "spec": spec}
    with pytest.raises(ApiError) as refusal:
        host.cluster.create(manifest)
    assert refusal.value.status == 422
    assert "spec" in str(refusal.value)


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        pytest.param({}, b"", id="nothing"),
        pytest.param({"Content-Type": "application/cloudevents+json"}, b"{", id="broken JSON"),
        pytest.param({"Content-Type": "application/cloudevents+json"}, b'{"specversion": "1.0"}', id="no attributes"),
        pytest.param(
            {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "s", "ce-type": "t"}, b"{}", id="about nothing"
        ),
    ],
)
def test_a_malformed_event_is_refused_with_a_sentence(host: Installation, headers: dict[str, str], body: bytes) -> None:
    request = urllib.request.Request(host.status()["endpoint"], data=body, headers=headers, method="POST")
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(request)
    with refusal.value as answer:
        assert 400 <= answer.code < 500
        assert len(answer.read().decode().split()) > 3, "a sentence"


def test_a_subscription_to_nothing_and_two_groups_are_reported(host: Installation) -> None:
    host.apply(a_namespace("nothing"), a_group("nothing"), a_subscription("tide", "nothing", source="atlantis"))
    host.apply(a_namespace("crowd"), a_group("crowd", name="one"), a_group("crowd", name="two"))
    host.apply(a_subscription("tide", "crowd"))
    unhealthy = host.until_condition("tide", "nothing", "CatalogSourcesUnhealthy")
    assert "atlantis" in unhealthy["message"]
    condition = host.until_condition("tide", "crowd", "ResolutionFailed")
    assert "OperatorGroup" in condition["message"]
    a_neighbour_installs(host, "beside-nothing")
    nothing_runs_hot(host)
