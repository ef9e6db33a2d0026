"""Reads with the rights of a ServiceAccount."""

from __future__ import annotations

from typing import Any

import pytest

from eventing.local.apiserver.direct import fresh_sandbox
from shared.adapters.kube import ApiError
from shared.adapters.kube.accounts import KubeAccounts
from shared.kinds import NAMESPACE, ROLE, ROLE_BINDING, SECRET, SERVICE_ACCOUNT, Kind
from shared.ports import Denied

WHO = SERVICE_ACCOUNT.ref("reader", "ns")


def made(kind: Kind, name: str, **fields: Any) -> dict[str, Any]:
    place = {"namespace": "ns"} if kind.is_namespaced else {}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name, **place}, **fields}


def test_what_an_account_may_not_read_is_denied() -> None:
    """catalog.md 8.12 row 149: without a grant Forbidden, with one NotFound; never what we ourselves may read."""
    client = fresh_sandbox()
    accounts = KubeAccounts(client)
    client.create(made(NAMESPACE, "ns"))
    client.create(made(SECRET, "there"))

    denied = accounts.get(SECRET.ref("there", "ns"), WHO)
    assert isinstance(denied, Denied)
    assert 'cannot get resource "secrets" in API group "" in the namespace "ns"' in denied.message
    assert isinstance(accounts.list(SECRET, "ns", WHO), Denied)

    rule = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]}
    client.create(made(ROLE, "some", rules=[rule]))
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "some"}
    subject = {"kind": "ServiceAccount", "name": "reader", "namespace": "ns"}
    client.create(made(ROLE_BINDING, "some", roleRef=ref, subjects=[subject]))
    found = accounts.get(SECRET.ref("there", "ns"), WHO)
    assert isinstance(found, dict)
    assert found["metadata"]["name"] == "there"
    assert accounts.get(SECRET.ref("absent", "ns"), WHO) is None
    listed = accounts.list(SECRET, "ns", WHO)
    assert not isinstance(listed, Denied)
    assert [one["metadata"]["name"] for one in listed] == ["there"]


def test_what_an_account_may_not_write_is_known_without_writing_it() -> None:
    """A missing right alone is a denial: what else is wrong with the object is told when it is written."""
    client = fresh_sandbox()
    accounts = KubeAccounts(client)
    client.create(made(NAMESPACE, "ns"))
    account = made(SERVICE_ACCOUNT, "new")
    denied = accounts.refusal(account, WHO)
    assert isinstance(denied, Denied)
    assert 'cannot create resource "serviceaccounts" in API group "" in the namespace "ns"' in denied.message

    client.create(
        made(ROLE, "some", rules=[{"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["create"]}])
    )
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "some"}
    subject = {"kind": "ServiceAccount", "name": "reader", "namespace": "ns"}
    client.create(made(ROLE_BINDING, "some", roleRef=ref, subjects=[subject]))
    assert accounts.refusal(account, WHO) is None
    assert client.get(SERVICE_ACCOUNT.ref("new", "ns")) is None
    assert accounts.refusal({**account, "secrets": 7}, WHO) is None  # it may, but no server takes it
    stored = client.create(account)
    denied = accounts.refusal(stored, WHO)
    assert isinstance(denied, Denied)
    assert 'cannot update resource "serviceaccounts"' in denied.message


class Away:
    """A server that does not answer."""

    def acting_as(self, account: object) -> Any:
        return self

    def get(self, ref: object) -> None:
        raise ApiError(0, "Unreachable", "away")


def test_a_missing_answer_is_no_denial() -> None:
    away: Any = Away()
    with pytest.raises(ApiError, match="away"):
        KubeAccounts(away).get(SECRET.ref("there", "ns"), WHO)


def test_what_a_user_may_is_asked_for_without_acting_as_him() -> None:
    client = fresh_sandbox()
    accounts = KubeAccounts(client)
    client.create(made(NAMESPACE, "ns"))
    asked = {
        "user": "alice", "groups": ["brewers"],
        "resourceAttributes": {"verb": "get", "resource": "secrets", "namespace": "ns", "name": "there"},
    }  # fmt: skip
    assert accounts.allows(asked) is False
    rule = {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["there"], "verbs": ["get"]}
    client.create(made(ROLE, "some", rules=[rule]))
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "some"}
    subject = {"kind": "Group", "name": "brewers", "apiGroup": "rbac.authorization.k8s.io"}
    client.create(made(ROLE_BINDING, "some", roleRef=ref, subjects=[subject]))
    assert accounts.allows(asked) is True
    assert accounts.allows({**asked, "groups": []}) is False
