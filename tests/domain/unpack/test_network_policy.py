"""The NetworkPolicy of the pods that unpack bundles: whose it is, and when it is right."""

from __future__ import annotations

from copy import deepcopy

import pytest

from shared.api.manifest import Manifest
from shared.api.views import CatalogSource, Object
from shared.domain import selectors
from shared.domain.resolver.identity import CatalogKey
from shared.domain.unpack.network_policy import is_its_own, policy_of, policy_ref, repaired
from shared.domain.unpack.objects import Unpacking
from shared.kinds import NETWORK_POLICY


def a_source(name: str = "my.tea") -> CatalogSource:
    return CatalogSource({"metadata": {"name": name, "namespace": "team", "uid": "7"}})


REF = NETWORK_POLICY.ref("my.tea-unpack-bundles", "team")
DESIRED = policy_of(a_source(), REF)
OWNERS = DESIRED["metadata"]["ownerReferences"]
OURS = {"olm.managed": "true", "olm.catalogSource": "my.tea"}


def test_catalog_md_2_4_1_it_is_olms() -> None:
    assert policy_ref(a_source()) == REF
    assert DESIRED["metadata"]["labels"] == OURS
    assert [(one["kind"], one["name"], one["uid"]) for one in OWNERS] == [("CatalogSource", "my.tea", "7")]
    assert DESIRED["spec"] == {
        "podSelector": {
            "matchExpressions": [
                {"key": "operatorframework.io/bundle-unpack-ref", "operator": "Exists"},
                {"key": "olm.managed", "operator": "In", "values": ["true"]},
            ]
        },
        "policyTypes": ["Ingress", "Egress"],
        "egress": [
            {},
            {
                "ports": [
                    {"port": 53, "protocol": "TCP"},
                    {"port": 53, "protocol": "UDP"},
                    {"port": 5353, "protocol": "TCP"},
                    {"port": 5353, "protocol": "UDP"},
                ]
            },
        ],
    }


def test_catalog_md_2_4_1_it_is_about_the_pods_of_our_unpack_jobs_and_no_others() -> None:
    job = Unpacking("registry/etcd@sha256:1", CatalogKey("team", "my.tea")).job()
    selector = DESIRED["spec"]["podSelector"]
    assert selectors.matches(selector, job["spec"]["template"]["metadata"]["labels"])
    assert not selectors.matches(selector, {"olm.managed": "true"})
    assert not selectors.matches(selector, {"operatorframework.io/bundle-unpack-ref": "x", "olm.managed": "false"})


def test_a_name_that_is_too_long_for_a_label_is_left_out_and_the_policy_is_made() -> None:
    source = a_source("a" * 64)
    ref = policy_ref(source)
    assert ref is not None
    assert policy_of(source, ref)["metadata"]["labels"] == {"olm.managed": "true"}


@pytest.mark.parametrize(
    ("name", "is_possible"),
    [pytest.param("a" * 238, True, id="253 characters"), pytest.param("a" * 239, False, id="too long for a policy")],
)
def test_what_no_policy_can_be_called(name: str, is_possible: bool) -> None:
    assert (policy_ref(a_source(name)) is not None) is is_possible


@pytest.mark.parametrize(
    ("meta", "want"),
    [
        pytest.param({"ownerReferences": OWNERS}, True, id="its owner is the catalog"),
        pytest.param({"labels": {**OURS, "more": "x"}}, True, id="somebody took its owner away"),
        pytest.param({"ownerReferences": [{**OWNERS[0], "uid": "6"}]}, True, id="of a former catalog: it goes"),
        pytest.param({}, False, id="somebody's"),
        pytest.param({"labels": {"olm.managed": "true"}}, False, id="it is not labelled for the catalog"),
        pytest.param({"ownerReferences": [{**OWNERS[0], "name": "tea"}], "labels": OURS}, False, id="of another one"),
        pytest.param({"ownerReferences": [*OWNERS, {**OWNERS[0], "name": "tea"}]}, True, id="somebody added an owner"),
        pytest.param({"ownerReferences": [{**OWNERS[0], "apiVersion": "a.b/v1"}]}, False, id="a kind of the same name"),
        pytest.param({"ownerReferences": [{"kind": "App", "name": "x"}], "labels": OURS}, False, id="somebody owns it"),
    ],
)
def test_whose_it_is(meta: Manifest, want: bool) -> None:
    assert is_its_own(a_source(), Object({"metadata": meta})) is want


def changed(**changes: Manifest) -> Object:
    """The stored policy; fields of its spec and its metadata are replaced."""
    stored = deepcopy(DESIRED)
    stored["metadata"] |= {"uid": "9", "resourceVersion": "3", **changes.get("metadata", {})}
    stored["spec"] |= changes.get("spec", {})
    return Object(stored)


@pytest.mark.parametrize(
    "present",
    [
        pytest.param(changed(), id="as it was written"),
        pytest.param(changed(spec={"ingress": []}), id="an empty list is as good as none"),
        pytest.param(changed(metadata={"labels": {**OURS, "team": "x"}, "annotations": {"a": "b"}}), id="more labels"),
    ],
)
def test_row_21_what_is_equal_in_meaning_is_right(present: Object) -> None:
    assert repaired(present, DESIRED) is None


@pytest.mark.parametrize(
    "present",
    [
        pytest.param(changed(spec={"ingress": [{}]}), id="anybody may connect"),
        pytest.param(changed(spec={"egress": [{}]}), id="a rule is lacking"),
        pytest.param(changed(spec={"egress": [*DESIRED["spec"]["egress"], {}]}), id="a rule is added"),
        pytest.param(changed(spec={"podSelector": {"matchLabels": {"a": "b"}}}), id="about other pods"),
        pytest.param(changed(spec={"podSelector": {}}), id="about all pods"),
        pytest.param(changed(spec={"egress": [{}, {}]}), id="a rule is about all ports"),
        pytest.param(changed(spec={"policyTypes": ["Egress"]}), id="about one direction"),
        pytest.param(changed(metadata={"labels": {"olm.catalogSource": "my.tea"}}), id="a label is lacking"),
        pytest.param(changed(metadata={"ownerReferences": []}), id="its owner is lacking"),
    ],
)
def test_row_21_what_was_edited_is_repaired(present: Object) -> None:
    right = repaired(present, DESIRED)
    assert right is not None
    assert right["spec"] == DESIRED["spec"]
    assert right["metadata"] == {**DESIRED["metadata"], "uid": "9", "resourceVersion": "3"}


def test_what_others_added_to_it_stays() -> None:
    metadata = {"labels": {"team": "x"}, "annotations": {"a": "b"}, "finalizers": ["acme.com/wait"]}
    right = repaired(changed(metadata=metadata), DESIRED) or {}
    assert right["metadata"]["labels"] == {"team": "x", **OURS}
    assert right["metadata"].items() >= {"annotations": {"a": "b"}, "finalizers": ["acme.com/wait"]}.items()
