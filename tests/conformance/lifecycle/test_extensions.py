"""ClusterExtensions at work: from the object to what runs, through an upgrade, and back (v1.md §26)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pytest

from shared import names
from shared.api.manifest import Manifest, labels_of, resource_version_of, uid_of
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_CATALOG,
    CLUSTER_EXTENSION,
    CLUSTER_OBJECT_SET,
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    ROLE,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    Ref,
)
from tests.conformance.lifecycle.test_cluster_catalogs import a_catalog, until_served
from tests.conformance.lifecycle.test_install import _state
from tests.kit.helm_release import ETCD, PLACE, a_release, owned, owner_of, secrets_of
from tests.kit.installation import SAMPLES, Installation, a_namespace, condition, olmf

CATALOG = CLUSTER_CATALOG.ref("extensions")


def an_extension(
    name: str, namespace: str, package: str = "tide", *, spec: Manifest | None = None, **source: Any
) -> Manifest:
    labels = {"matchLabels": {"olm.operatorframework.io/metadata.name": CATALOG.name}}
    desired = {"packageName": package, "selector": labels, **source}
    return {
        "apiVersion": CLUSTER_EXTENSION.api_version, "kind": "ClusterExtension", "metadata": {"name": name},
        "spec": {"namespace": namespace, "source": {"sourceType": "Catalog", "catalog": desired}, **(spec or {})},
    }  # fmt: skip


@pytest.fixture
def extension(installation: Installation, namespace: str) -> Iterator[Ref]:
    """A name of the test's own, whose extension and catalog go with the test."""
    remove_definitions(installation)
    source = CATALOG_SOURCE.ref("local", "olm")
    installation.until(source, lambda each: _state(each) == "READY", "READY")
    found = installation.cluster.get(source)
    assert found is not None
    installation.apply(a_catalog(CATALOG.name, str(found["spec"]["image"])))
    until_served(installation, CATALOG)
    ref = CLUSTER_EXTENSION.ref(namespace)
    yield ref
    for each in (ref, CATALOG):
        if installation.cluster.get(each) is not None:
            installation.cluster.delete(each)
            installation.until_gone(each)
    for one in revisions(installation, ref):
        installation.until_gone(Ref.of(one))


def remove_definitions(installation: Installation, kind: str = "") -> None:
    """What classic operators of other tests left behind, of a plural kind: no extension takes what it did not make."""
    for one in map(Ref.of, installation.cluster.list(CUSTOM_RESOURCE_DEFINITION)):
        if one.name.startswith(kind) and one.name.endswith(".samples.olmf.io"):
            installation.cluster.delete(one)
            installation.until_gone(one)


def revisions(installation: Installation, extension: Ref) -> tuple[Manifest, ...]:
    labels = {"olm.operatorframework.io/owner-name": extension.name}
    return installation.cluster.list(CLUSTER_OBJECT_SET, labels=labels)


def until_installed(installation: Installation, extension: Ref, version: str) -> Manifest:
    """The extension as soon as a version is rolled out."""

    def holds(each: Manifest) -> bool:
        is_settled = condition(each, "Progressing")["reason"] == "Succeeded"
        return bool(is_settled and each["status"]["install"]["bundle"]["version"] == version)

    return installation.until(extension, holds, f"version {version}")


def test_an_extension_is_installed(installation: Installation, extension: Ref, namespace: str) -> None:
    installation.apply(an_extension(extension.name, namespace, version="0.1.0"))
    found = until_installed(installation, extension, "0.1.0")
    assert condition(found, "Installed")["reason"] == "Succeeded"
    assert condition(found, "Available")["status"] == "True"
    assert found["status"]["activeRevisions"] == [{"name": f"{extension.name}-1"}]
    deployment = installation.cluster.get(DEPLOYMENT.ref("tide-controller", namespace))
    assert deployment is not None
    assert deployment["metadata"]["labels"]["olm.operatorframework.io/owner-name"] == extension.name
    rows = json.loads(installation.olmf("extension", "ls", "-o", "json").stdout)
    assert [(one["name"], one["version"], one["message"]) for one in rows] == [(extension.name, "0.1.0", "")]
    why = installation.olmf("why", f"ClusterExtension/{extension.name}").stdout
    assert "resolve_extension" in why
    installation.cluster.delete(extension)
    installation.until_gone(extension)
    installation.until_gone(DEPLOYMENT.ref("tide-controller", namespace))


def test_an_extension_is_upgraded(installation: Installation, extension: Ref, namespace: str) -> None:
    installation.apply(an_extension(extension.name, namespace, "beacon", version="1.0.0"))
    until_installed(installation, extension, "1.0.0")
    deployment = only_deployment(installation, namespace)
    user = {"metadata": {"annotations": {"mine": "stays"}, "labels": {"mine": "stays"}}}
    installation.cluster.merge(deployment, user)
    installation.apply(an_extension(extension.name, namespace, "beacon", version="1.1.0"))
    found = until_installed(installation, extension, "1.1.0")
    assert found["status"]["activeRevisions"] == [{"name": f"{extension.name}-2"}]
    first = CLUSTER_OBJECT_SET.ref(f"{extension.name}-1")
    installation.until(first, lambda each: condition(each, "Progressing")["reason"] == "Archived", "archived")
    installation.until(first, lambda each: not each["metadata"].get("finalizers"), "let go")
    definition = installation.cluster.get(CUSTOM_RESOURCE_DEFINITION.ref("beacons.samples.olmf.io"))
    second = installation.cluster.get(CLUSTER_OBJECT_SET.ref(f"{extension.name}-2"))
    present = installation.cluster.get(deployment)
    assert definition is not None
    assert second is not None
    assert present is not None
    for one in (definition, present):
        owners = [(each["uid"], each["controller"]) for each in one["metadata"]["ownerReferences"]]
        assert owners == [(second["metadata"]["uid"], True)]
    assert present["metadata"]["annotations"]["mine"] == present["metadata"]["labels"]["mine"] == "stays"
    managers = [(one["manager"], one["operation"]) for one in present["metadata"]["managedFields"]]
    assert ("olm.operatorframework.io", "Apply") in managers
    assert ("olm.operatorframework.io", "Update") not in managers


def test_an_extension_that_rests_writes_nothing(installation: Installation, extension: Ref, namespace: str) -> None:
    installation.apply(an_extension(extension.name, namespace, "beacon"))
    before = until_installed(installation, extension, "1.1.0")
    installation.until_it_rests()
    after = installation.cluster.get(extension)
    assert after is not None
    assert resource_version_of(after) == resource_version_of(before)


def test_what_an_extension_has_comes_back(installation: Installation, extension: Ref, namespace: str) -> None:
    installation.apply(an_extension(extension.name, namespace, "beacon"))
    until_installed(installation, extension, "1.1.0")
    deployment = only_deployment(installation, namespace)
    service = next(Ref.of(one) for one in installation.cluster.list(SERVICE, namespace))
    for ref in (deployment, service):
        old = uid_of(installation.cluster.get(ref) or {})
        installation.cluster.delete(ref)
        installation.until(ref, partial(is_another, old), "made again")
    installation.cluster.merge(deployment, {"spec": {"replicas": 3, "minReadySeconds": 1}})
    installation.until(deployment, lambda each: each["spec"]["replicas"] == 1, "as it was")
    present = installation.cluster.get(deployment)
    assert present is not None
    assert present["spec"]["minReadySeconds"] == 1, "what the bundle says nothing about stays"
    until_installed(installation, extension, "1.1.0")


def test_an_extension_takes_nothing_of_others(installation: Installation, extension: Ref, namespace: str) -> None:
    name = {"name": "beacon-metrics", "namespace": namespace}
    foreign = {"apiVersion": "v1", "kind": "Service", "metadata": name, "spec": {"ports": [{"port": 1}]}}
    installation.apply(foreign)
    installation.apply(an_extension(extension.name, namespace, "beacon"))
    found = installation.until(extension, lambda each: "collisions" in condition(each, "Progressing")["message"])
    assert condition(found, "Progressing")["reason"] == "Retrying"
    assert condition(found, "Installed")["status"] == "False"
    assert f"Object Service.v1 {namespace}/beacon-metrics" in condition(found, "Progressing")["message"]
    kept = installation.cluster.get(SERVICE.ref("beacon-metrics", namespace))
    assert kept is not None
    assert kept["spec"]["ports"][0]["port"] == 1
    assert not kept["metadata"].get("ownerReferences")
    installation.cluster.delete(SERVICE.ref("beacon-metrics", namespace))
    until_installed(installation, extension, "1.1.0")


def test_an_extension_outlives_its_catalog(installation: Installation, extension: Ref, namespace: str) -> None:
    installation.apply(an_extension(extension.name, namespace, "beacon"))
    until_installed(installation, extension, "1.1.0")
    installation.cluster.delete(CATALOG)
    installation.until_gone(CATALOG)
    installation.until(
        extension, lambda each: condition(each, "Deprecated")["status"] == "Unknown", "without a catalog"
    )
    service = SERVICE.ref("beacon-metrics", namespace)
    installation.cluster.delete(service)
    installation.until(service, lambda each: each["spec"], "made again")
    until_installed(installation, extension, "1.1.0")


def test_nothing_of_an_extension_is_left(installation: Installation, extension: Ref, namespace: str) -> None:
    installation.apply(an_extension(extension.name, namespace, "beacon"))
    until_installed(installation, extension, "1.1.0")
    sets = [Ref.of(one) for one in revisions(installation, extension)]
    secrets = [one for one in installation.cluster.list(SECRET, "olm") if is_of(one, extension)]
    assert secrets
    installation.cluster.delete(extension)
    installation.until_gone(extension)
    for ref in (*sets, *map(Ref.of, secrets), CUSTOM_RESOURCE_DEFINITION.ref("beacons.samples.olmf.io")):
        installation.until_gone(ref)
    for kind in (DEPLOYMENT, SERVICE, SERVICE_ACCOUNT, ROLE, CLUSTER_ROLE, CLUSTER_ROLE_BINDING):
        assert [Ref.of(one) for one in installation.cluster.list(kind) if is_of(one, extension)] == []


def is_another(uid: str, manifest: Manifest) -> bool:
    return uid_of(manifest) != uid


def is_of(manifest: Manifest, extension: Ref) -> bool:
    return labels_of(manifest).get("olm.operatorframework.io/owner-name") == extension.name


def only_deployment(installation: Installation, namespace: str) -> Ref:
    [found] = installation.cluster.list(DEPLOYMENT, namespace)
    return Ref.of(found)


def test_v1_md_21_9_a_helm_release_is_taken_over(installation: Installation, extension: Ref, namespace: str) -> None:
    nothing = {"matchLabels": {"olm.operatorframework.io/metadata.name": "none"}}
    installation.apply(an_extension(extension.name, namespace, version="0.1.0", selector=nothing))
    installation.until(extension, lambda each: condition(each, "Progressing")["reason"] == "Retrying", "looked at")
    there = released(installation, extension, namespace)
    deployment = DEPLOYMENT.ref("tide-controller", namespace)
    installation.until(deployment, lambda each: condition(each, "Available")["status"] == "True", "available")
    before = identities(installation, there, deployment)
    install = {"install": {"bundle": {"name": "tide.v0.1.0", "version": "0.1.0"}}}
    installation.cluster.merge(extension, {"status": install}, subresource="status")
    first, second = (CLUSTER_OBJECT_SET.ref(f"{extension.name}-{number}") for number in (1, 2))
    installation.until(first, lambda each: condition(each, "Progressing")["reason"] == "Succeeded", "taken over")
    installation.apply(an_extension(extension.name, namespace, version="0.1.0"))
    installation.until(second, lambda each: condition(each, "Progressing")["reason"] == "Succeeded", "rolled out")
    installation.until(first, lambda each: condition(each, "Progressing")["reason"] == "Archived", "archived")
    until_installed(installation, extension, "0.1.0")
    assert identities(installation, there, deployment) == before
    assert installation.cluster.list(SECRET, PLACE, labels={"name": extension.name}), "its Secrets stay"


def identities(installation: Installation, refs: Sequence[Ref], deployment: Ref) -> tuple[list[str], object]:
    """The uids of all objects, and the pods that a Deployment wants."""
    found = installation.cluster.get(deployment)
    assert found is not None
    return [uid_of(installation.cluster.get(ref) or {}) for ref in refs], found["spec"]


def released(installation: Installation, extension: Ref, namespace: str) -> list[Ref]:
    """What upstream's older engine would have made of tide 0.1.0, and its release in several Secrets."""
    words = ("extension", "render", str(SAMPLES / "tide" / "0.1.0"), "--install-namespace", namespace, "-o", "json")
    owner = installation.cluster.get(extension) or {}
    marks = {names.V1_OWNER_KIND: "ClusterExtension", names.V1_OWNER_NAME: extension.name}
    objects = json.loads(olmf(*words).stdout)
    for one in objects:
        one["metadata"]["labels"] = labels_of(one) | marks
        meta = {**one["metadata"], "ownerReferences": [owner_of(owner)]}
        installation.cluster.create({**one, "metadata": meta}, field_manager=names.V1_HELM_MANAGER)
    labels = {key: value.replace("etcd", "tide").replace("1.0.0", "0.1.0") for key, value in ETCD.items()}
    index, *others = secrets_of(a_release(owner, objects, labels), owner, chunk=900)
    assert others
    del index["metadata"]["uid"]
    installation.apply(a_namespace(PLACE))
    stored = installation.cluster.create(index)
    for one in others:
        installation.cluster.create(owned(one, stored))
    return list(map(Ref.of, objects))
