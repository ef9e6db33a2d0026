"""The bindings that operators of one name share: their names, their subjects, and who lacks one of both rights."""

from __future__ import annotations

from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv, RoleBinding
from shared.domain.endpoints import sharing
from shared.domain.endpoints.endpoint import endpoints_of
from shared.kinds import CLUSTER_ROLE_BINDING, ROLE_BINDING
from tests.domain.endpoints.builders import a_server, a_webhook

DELEGATOR = CLUSTER_ROLE_BINDING.ref("operator-service-system:auth-delegator")
READER = ROLE_BINDING.ref("operator-service-auth-reader", "kube-system")


def of(*namespaces: str, account: str = "default", **labels: str) -> RoleBinding:
    subjects: list[Manifest] = [{"kind": "ServiceAccount", "name": account, "namespace": one} for one in namespaces]
    return RoleBinding({"metadata": {"labels": labels or {"olm.managed": "true"}}, "subjects": subjects})


def test_the_names_of_olm_csv_md_7_1() -> None:
    assert sharing.bindings("operator-service") == (DELEGATOR, READER)
    [endpoint] = endpoints_of(csv := Csv(a_server(a_webhook())))
    found = (sharing.delegator(csv, endpoint, None), sharing.reader(endpoint, None))
    assert [(one["kind"], one["metadata"]["name"]) for one in found] == [
        (ref.kind, ref.name) for ref in (DELEGATOR, READER)
    ]
    assert [one["roleRef"]["name"] for one in found] == [
        "system:auth-delegator", "extension-apiserver-authentication-reader",
    ]  # fmt: skip


def test_a_text_that_is_no_name_has_no_bindings() -> None:
    assert sharing.bindings("a/b-service") == ()


@pytest.mark.parametrize(
    ("name", "service"),
    [
        (DELEGATOR.name, "operator-service"),
        (READER.name, "operator-service"),
        ("operator-system:auth-delegator", ""),
        ("system:auth-delegator", ""),
        ("metrics-auth-reader", ""),
    ],
)
def test_the_service_of_a_binding(name: str, service: str) -> None:
    assert sharing.service_behind(name) == service


TORN: list[Any] = [
    pytest.param((of("a", "b"), of("b", "a")), (), id="both are in both"),
    pytest.param((of("a", "b"), of("b")), ("a",), id="one was taken out of one"),
    pytest.param((None, of("a", "b")), ("a", "b"), id="one was deleted"),
    pytest.param((of("a", is_ours="no"), of("a")), ("a",), id="one has lost our label"),
    pytest.param((of("a"), of("a", account="x")), ("a",), id="another account"),
    pytest.param((of("a", ""), of("a")), (), id="a user is in no namespace"),
    pytest.param((None, None), (), id="nothing is left that tells"),
]


@pytest.mark.parametrize(("found", "want"), TORN)
def test_who_lacks_one_of_both_permissions(found: tuple[RoleBinding | None, ...], want: tuple[str, ...]) -> None:
    assert sharing.torn(found) == want


NO_LABEL = {"somebody": "else"}


@pytest.mark.parametrize(
    ("labels", "accounts", "names"),
    [
        pytest.param({}, (), ["default"], id="an edited version has changed its account"),
        pytest.param({}, ("old",), ["old", "default"], id="another version of the namespace runs with it"),
        pytest.param(NO_LABEL, (), ["old", "default"], id="the binding is not ours"),
    ],
)
def test_a_binding_names_no_account_that_serves_no_more(
    labels: dict[str, str], accounts: tuple[str, ...], names: list[str]
) -> None:
    """csv.md 7.1: of its own namespace; those of others stay, and so do people."""
    csv = Csv(a_server(a_webhook()))
    [endpoint] = endpoints_of(csv)
    person: Manifest = {"kind": "User", "name": "ann"}
    present = of(endpoint.namespace, "elsewhere", account="old", **labels)
    present = RoleBinding({**present.raw, "subjects": [*present.raw["subjects"], person]})
    for made in (sharing.delegator(csv, endpoint, present, accounts), sharing.reader(endpoint, present, accounts)):
        found = made["subjects"]
        assert [one["name"] for one in found if one.get("namespace") == endpoint.namespace] == names
        assert person in found
        assert {"kind": "ServiceAccount", "name": "old", "namespace": "elsewhere"} in found
