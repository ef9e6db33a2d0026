"""What an API server says that a ServiceAccount may not do."""

from __future__ import annotations

import pytest

from shared.domain.objects.denials import Denial, denials, plain, summary, until_granted

WHO = 'User "system:serviceaccount:ns:limited"'
HERE = 'in the namespace "ns"'
SERVICES = f'services "a" is forbidden: {WHO} cannot create resource "services" in API group "" {HERE}'
DEPLOYMENTS = f'deployments.apps is forbidden: {WHO} cannot create resource "deployments" in API group "apps" {HERE}'
NODES = f'nodes is forbidden: {WHO} cannot list resource "nodes" in API group "" at the cluster scope'
GIVES = (
    'roles.rbac.authorization.k8s.io "r" is forbidden: user "system:serviceaccount:ns:limited" '
    '(groups=["system:serviceaccounts" "system:authenticated"]) is attempting to grant RBAC permissions not currently '
    'held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'
)


@pytest.mark.parametrize(
    ("message", "want", "said"),
    [
        pytest.param(
            f"error: Service a: {SERVICES}; besides: Deployment b: {DEPLOYMENTS}; Service c: {SERVICES}",
            [Denial("ns", "limited", "create", "services", "ns"),
             Denial("ns", "limited", "create", "deployments.apps", "ns")],
            "ServiceAccount ns/limited may not create services, deployments.apps in namespace ns",
            id="several objects, each right once",
        ),
        pytest.param(
            NODES, [Denial("ns", "limited", "list", "nodes")],
            "ServiceAccount ns/limited may not list nodes in the cluster", id="in the cluster",
        ),
        pytest.param(
            f"{GIVES}; {NODES}",
            [Denial("ns", "limited", "list", "nodes"), Denial("ns", "limited", "")],
            "ServiceAccount ns/limited may not list nodes in the cluster, nor give away rights that it has not itself",
            id="it gives away more than it has",
        ),
    ],
)  # fmt: skip
def test_what_is_denied(message: str, want: list[Denial], said: str) -> None:
    found = tuple(denials(message))
    assert list(found) == want
    assert summary(found) == plain(message) == said


def test_what_was_denied_is_awaited_of_its_account() -> None:
    assert until_granted(tuple(denials(NODES))) == "when ServiceAccount ns/limited is given what it lacks"


@pytest.mark.parametrize(
    "message",
    [
        pytest.param("", id="nothing"),
        pytest.param('Service "a" is invalid: spec: no', id="another error"),
        pytest.param(SERVICES.replace("system:serviceaccount:ns:limited", "jane"), id="a person"),
    ],
)
def test_what_is_no_denial(message: str) -> None:
    assert tuple(denials(message)) == ()
    assert plain(message) == message
