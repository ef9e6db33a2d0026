"""The NetworkPolicy of a CatalogSource: ports in, Outcome out."""

from __future__ import annotations

from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest

from functions.catalog_source.isolate_unpacking import isolate_unpacking
from shared import kinds
from shared.api.manifest import Manifest
from shared.ports import Attempt, WriteFailure
from shared.step import NOTHING, Create, Outcome, Record, Ref, Replace
from tests.functions.subscription.world import World, a_catalog_source
from tests.kit.cluster import FakeCluster

REF = kinds.CATALOG_SOURCE.ref("local", "olm")
POLICY = kinds.NETWORK_POLICY.ref("local-unpack-bundles", "olm")
SPECS = [
    pytest.param({}, id="an image"),
    pytest.param({"address": "registry.olm:50051"}, id="an image, and an address that does not count"),
    pytest.param({"sourceType": "configmap", "image": "", "configMap": "c"}, id="a ConfigMap"),
    pytest.param({"sourceType": "internal", "image": "", "configMap": "c"}, id="an internal ConfigMap"),
]


def decided(*objects: Manifest, attempt: Attempt | None = None, ref: Ref = REF) -> Outcome:
    return isolate_unpacking(ref, FakeCluster(objects), attempt=attempt or Attempt())


def a_catalog(**spec: Any) -> Manifest:
    found = a_catalog_source(**spec)
    found["metadata"] |= {"uid": "1", "resourceVersion": "7"}
    return found


def made() -> Manifest:
    """The policy as a catalog gets it."""
    (write,) = decided(a_catalog()).writes
    assert isinstance(write, Create)
    return {**write.manifest, "metadata": {**write.manifest["metadata"], "uid": "9", "resourceVersion": "3"}}


def of_somebody() -> Manifest:
    meta = {"name": POLICY.name, "namespace": POLICY.namespace}
    return {"apiVersion": POLICY.api_version, "kind": POLICY.kind, "metadata": meta, "spec": {"podSelector": {}}}


@pytest.mark.parametrize("spec", SPECS)
def test_catalog_md_2_4_1_each_catalog_gets_its_policy_once(spec: dict[str, Any]) -> None:
    (write,) = decided(a_catalog(**spec)).writes
    assert isinstance(write, Create)
    assert (Ref.of(write.manifest), write.must_be_new) == (POLICY, True)
    assert decided(a_catalog(**spec), write.manifest) == NOTHING


def test_a_catalog_by_address_gets_none_as_with_olm() -> None:
    assert decided(a_catalog(image="", address="registry.olm:50051")) == NOTHING


def test_row_21_an_edited_policy_is_repaired_as_it_was_read() -> None:
    edited = deepcopy(made())
    edited["spec"]["ingress"] = [{}]
    assert decided(a_catalog(), edited) == Outcome((Replace(made()),))


def test_a_policy_of_somebody_else_is_left_alone_and_named() -> None:
    outcome = decided(a_catalog(), of_somebody())
    why = "the NetworkPolicy local-unpack-bundles is not its own: rename one of the two"
    note = Record(REF, "Warning", "NoNetworkPolicy", f"pods that unpack its bundles lack a NetworkPolicy: {why}")
    assert outcome == Outcome((note,), again_in=timedelta(minutes=15), summary=why)


def test_a_policy_that_is_refused_is_named() -> None:
    refused = Attempt(2, WriteFailure("forbidden", "exceeded quota", 0, POLICY))
    outcome = decided(a_catalog(), attempt=refused)
    assert [type(one) for one in outcome.writes] == [Record]
    assert outcome.message == "its NetworkPolicy cannot be written: exceeded quota"
    assert outcome.again_in == timedelta(minutes=15)


def test_a_catalog_whose_name_no_policy_can_have_is_told() -> None:
    source, name = a_catalog(), "a" * 239
    source["metadata"]["name"] = name
    outcome = decided(source, ref=kinds.CATALOG_SOURCE.ref(name, "olm"))
    assert (outcome.message, outcome.again_in) == ("no NetworkPolicy can have its name", None)


def test_what_goes_is_waited_for() -> None:
    going = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    edited = {**made(), "spec": {"podSelector": {}}}
    assert decided() == NOTHING
    assert decided({**a_catalog(), "metadata": {**a_catalog()["metadata"], **going}}) == NOTHING
    assert decided(a_catalog(), {**edited, "metadata": {**edited["metadata"], **going}}) == NOTHING


def test_row_21_the_policy_is_kept_while_its_catalog_exists_and_goes_with_it() -> None:
    world = World()
    world.put(a_catalog_source())
    world.settle()
    (original,) = world.list(kinds.NETWORK_POLICY, "olm")
    with world.edited(POLICY) as policy:
        policy["spec"]["egress"] = []
    world.settle()
    assert world.objects[POLICY]["spec"] == original["spec"]
    with world.edited(POLICY) as policy:
        del policy["metadata"]["labels"]["olm.managed"]
    world.settle()
    assert world.objects[POLICY]["metadata"]["labels"] == original["metadata"]["labels"]
    world.remove(POLICY)
    world.settle()
    assert world.objects[POLICY]["spec"] == original["spec"]
    written = world.writes
    world.receive("io.olmf.resync.requested", REF)
    world.settle()
    assert world.writes == written, "no write when it is right"
    world.remove(REF)
    world.settle()
    assert POLICY not in world.objects
