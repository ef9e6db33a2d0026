"""ClusterObjectSets made by hand, of kinds that nobody watches but for them, and with what goes wrong (v1.md §21)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from shared.api.manifest import Manifest, uid_of
from shared.kinds import CLUSTER_OBJECT_SET, CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, DEPLOYMENT, NAMESPACE, SECRET, Ref
from tests.conformance.lifecycle.test_extensions import is_another
from tests.functions.cluster_extension.world import a_config_map
from tests.functions.cluster_object_set.test_hand_over import VARIABLE, VARIABLE_WITH_SOURCE, a_deployment
from tests.functions.cluster_object_set.test_revisions import a_set, held
from tests.functions.subscription.world import a_crd
from tests.kit.installation import Installation, condition

GAUGES = CUSTOM_RESOURCE_DEFINITION.ref("gauges.sets.example.com")


@pytest.fixture
def revision(installation: Installation, namespace: str) -> Iterator[Ref]:
    """A name of the test's own, whose set goes with the test."""
    ref = CLUSTER_OBJECT_SET.ref(namespace)
    yield ref
    for each in (ref, GAUGES):
        if installation.cluster.get(each) is not None:
            installation.cluster.delete(each)
            installation.until_gone(each)


def made(installation: Installation, ref: Ref, *objects: Manifest, owner: str = "", number: int = 1) -> None:
    manifest = a_set(held(*objects), name=ref.name, owner=owner, number=number)
    del manifest["metadata"]["uid"], manifest["metadata"]["generation"]
    installation.cluster.create(manifest)


def until(installation: Installation, ref: Ref, reason: str, message: str = "") -> None:
    def holds(each: Manifest) -> bool:
        found = condition(each, "Progressing")
        return bool(found["reason"] == reason and message in found["message"])

    installation.until(ref, holds, reason)


def an_object(ref: Ref, **content: object) -> Manifest:
    meta = {"name": ref.name, "namespace": ref.namespace}
    return {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": meta, **content}


def test_whatever_kind_an_object_has_it_comes_back_at_once(
    installation: Installation, revision: Ref, namespace: str
) -> None:
    note, budget = SECRET.ref("note", namespace), Ref("policy/v1", "PodDisruptionBudget", "budget", namespace)
    selector = {"matchLabels": {"app": "a"}}
    made(
        installation, revision,
        an_object(note, stringData={"a": "b"}), an_object(budget, spec={"minAvailable": 1, "selector": selector}),
    )  # fmt: skip
    until(installation, revision, "Succeeded")
    for ref in (note, budget):
        old = uid_of(installation.cluster.get(ref) or {})
        installation.cluster.delete(ref)
        installation.until(ref, partial(is_another, old), "made again")
    installation.cluster.merge(note, {"data": {"a": "eA=="}})
    installation.until(note, lambda each: each["data"] == {"a": "Yg=="}, "as it was")
    until(installation, revision, "Succeeded")


def test_v1_md_21_7_a_variable_gets_a_source_in_the_place_of_its_value(
    installation: Installation, revision: Ref, namespace: str
) -> None:
    """The server refuses both together, also in the dry run before the phase is handed over."""
    names, following = ("one", "two"), CLUSTER_OBJECT_SET.ref(f"{namespace}-2")
    deployments = [
        [a_deployment(name, env, namespace=namespace) for name in names] for env in (VARIABLE, VARIABLE_WITH_SOURCE)
    ]
    made(installation, revision, *deployments[0], owner=namespace)
    until(installation, revision, "Succeeded")
    try:
        made(installation, following, *deployments[1], owner=namespace, number=2)
        until(installation, following, "Succeeded")
        for name in names:
            found = installation.cluster.get(DEPLOYMENT.ref(name, namespace)) or {}
            [variable] = found["spec"]["template"]["spec"]["containers"][0]["env"]
            assert variable == VARIABLE_WITH_SOURCE
        until(installation, revision, "Archived")
    finally:
        installation.cluster.delete(following)
        installation.until_gone(following)


def test_a_kind_that_is_defined_later_is_waited_for(installation: Installation, revision: Ref, namespace: str) -> None:
    gauge = Ref("sets.example.com/v1", "Gauges", "one", namespace)
    made(installation, revision, an_object(gauge))
    until(installation, revision, "Retrying", "the server does not serve the kind Gauges of sets.example.com/v1")
    installation.cluster.create(a_crd(GAUGES.name))
    until(installation, revision, "Succeeded")
    assert installation.cluster.get(gauge) is not None


def test_an_object_that_no_cluster_takes_is_reported(installation: Installation, revision: Ref, namespace: str) -> None:
    made(installation, revision, a_config_map("large", namespace, a="x" * 1_100_000))
    until(installation, revision, "Retrying", f"revision reconcile: v1/ConfigMap/{namespace}/large: ")


def test_a_namespace_that_is_being_deleted_is_reported(
    installation: Installation, revision: Ref, namespace: str
) -> None:
    kept = a_config_map("kept", namespace)
    kept["metadata"]["finalizers"] = ["example.com/kept"]
    installation.cluster.create(kept)
    installation.cluster.delete(NAMESPACE.ref(namespace))
    installation.until(NAMESPACE.ref(namespace), lambda each: each["metadata"]["deletionTimestamp"], "deleted")
    try:
        made(installation, revision, a_config_map("late", namespace))
        until(installation, revision, "Retrying", "because it is being terminated")
    finally:
        installation.cluster.merge(CONFIG_MAP.ref("kept", namespace), {"metadata": {"finalizers": None}})
