"""What an API server says that a ServiceAccount may not do."""

from __future__ import annotations

import pytest

from shared.domain.objects.denials import Denial, denials, other_parts, plain, summary, until_granted

WHO = 'User "system:serviceaccount:ns:limited"'
HERE = 'in the namespace "ns"'
SERVICES = f'services "a" is forbidden: {WHO} cannot create resource "services" in API group "" {HERE}'
DEPLOYMENTS = f'deployments.apps is forbidden: {WHO} cannot create resource "deployments" in API group "apps" {HERE}'
NODES = f'nodes is forbidden: {WHO} cannot list resource "nodes" in API group "" at the cluster scope'
OTHERS = SERVICES.replace(":limited", ":other")
FEW = "ServiceAccount ns/limited may not create services in namespace ns"
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


@pytest.mark.parametrize(
    ("message", "said"),
    [
        pytest.param(
            f"etcd: Service a: {SERVICES}; CustomResourceDefinition etcds.example.com is not there; fix: make it",
            f"{FEW}; CustomResourceDefinition etcds.example.com is not there; fix: make it", id="first",
        ),
        pytest.param(f"no such API; besides: Service a: {SERVICES}; 3 more", f"no such API; {FEW}; 3 more", id="later"),
        pytest.param(
            f"{SERVICES}; no such API; Deployment b: {DEPLOYMENTS}",
            "ServiceAccount ns/limited may not create services, deployments.apps in namespace ns; no such API",
            id="around it",
        ),
    ],
)  # fmt: skip
def test_what_else_a_message_says_stays(message: str, said: str) -> None:
    assert plain(message) == said
    others = [part for part in said.split("; ") if not part.startswith("ServiceAccount")]
    assert list(other_parts(message)) == others


def test_accounts_are_told_apart() -> None:
    message = f"{DEPLOYMENTS}; {OTHERS}"
    found = tuple(denials(message))
    assert plain(message) == message, "which object is refused to which of them stands there alone"
    others = FEW.replace("/limited", "/other")
    assert summary(found) == f"{FEW.replace('services', 'deployments.apps')}; {others}"
    given = "is given what it lacks"
    assert until_granted(found) == f"when ServiceAccount ns/limited {given} and ServiceAccount ns/other {given}"


def test_who_gives_rights_away_is_not_who_lacks_another() -> None:
    """The text between a user and what he attempts names no other user."""
    found = list(denials(f"{OTHERS}; {GIVES}"))
    assert found == [Denial("ns", "other", "create", "services", "ns"), Denial("ns", "limited", "")]
