"""What counts as a right that was gained."""

from __future__ import annotations

import pytest

from tests.conformance.attacks.gains import Look, Permissions, Right

ROLE = ("ClusterRole", "", "r")
NOTHING, SECRETS = '{"rules":null}', '{"rules":[{"resources":["secrets"]}]}'
SECRETS_AND_PODS = '{"rules":[{"resources":["secrets"]},{"resources":["pods"]}]}'
PODS_AND_SECRETS = '{"rules":[{"resources":["pods"]},{"resources":["secrets"]}]}'
ONE, TWO = (f'{{"roleRef":{{"name":"r"}},"rules":null,"subjects":[{{"name":"{name}"}}]}}' for name in ("a", "b"))
BINDING = ("ClusterRoleBinding", "", "b")
LOOK = Look("own", tenants=("mallory",), others=(), places=("other",))


@pytest.mark.parametrize(
    ("before", "after", "count"),
    [
        pytest.param({}, {ROLE: NOTHING}, 0, id="a role without rules"),
        pytest.param({}, {ROLE: SECRETS}, 1, id="a new role"),
        pytest.param({ROLE: NOTHING}, {ROLE: SECRETS}, 1, id="a role that got rules"),
        pytest.param({ROLE: SECRETS}, {ROLE: NOTHING}, 0, id="a role that lost its rules"),
        pytest.param({ROLE: SECRETS}, {ROLE: SECRETS}, 0, id="the same"),
        pytest.param({ROLE: SECRETS_AND_PODS}, {ROLE: PODS_AND_SECRETS}, 0, id="the same in another order"),
        pytest.param({ROLE: SECRETS_AND_PODS}, {ROLE: SECRETS}, 0, id="a role that lost one of its rules"),
        pytest.param({ROLE: SECRETS}, {ROLE: PODS_AND_SECRETS}, 1, id="a role that got one more rule"),
        pytest.param({BINDING: ONE}, {BINDING: TWO}, 1, id="a binding of somebody else"),
        pytest.param({}, {("ClusterRoleBinding", "", "b"): '{"roleRef":{},"rules":null}'}, 1, id="a new binding"),
    ],
)
def test_roles_and_bindings(
    before: dict[tuple[str, str, str], str], after: dict[tuple[str, str, str], str], count: int
) -> None:
    assert len(LOOK.gained(Permissions(before), Permissions(after))) == count


def may(*rights: Right, subject: str = "mallory", place: str = "other") -> Permissions:
    return Permissions({}, {(subject, place): frozenset(rights)})


GETS, ALL = ("get", "", "secrets", ""), ("*", "*", "*", "")
BEFORE = may(("get", "", "secrets", "x"), ("*", "apps", "deployments", ""), ("get", "", "*/status", ""))


@pytest.mark.parametrize(
    ("right", "is_gain"),
    [
        pytest.param(GETS, True, id="all names where it was one"),
        pytest.param(("get", "", "secrets", "x"), False, id="what was there"),
        pytest.param(("get", "", "secrets", "y"), True, id="another name"),
        pytest.param(("patch", "apps", "deployments", "a"), False, id="one verb and name of all"),
        pytest.param(("patch", "apps", "deployments/scale", ""), True, id="a subresource"),
        pytest.param(("get", "", "pods/status", ""), False, id="a subresource of all"),
        pytest.param(("*", "", "secrets", "x"), True, id="all verbs"),
        pytest.param(("get", "", "/logs", ""), True, id="a path"),
        pytest.param(ALL, True, id="everything"),
    ],
)
def test_rights_that_rules_give(right: Right, *, is_gain: bool) -> None:
    assert bool(LOOK.gained(BEFORE, may(right))) is is_gain
    assert not LOOK.gained(may(ALL), may(right))


def test_a_new_account_had_what_any_new_one_has() -> None:
    new, newcomer = LOOK.account("new"), LOOK.account("newcomer")
    assert LOOK.gained(may(subject=newcomer), may(GETS, subject=new)) == [f"{new} in other: get  secrets "]
    assert not LOOK.gained(may(GETS, subject=newcomer), may(GETS, subject=new))


def test_in_the_own_namespace_counts_what_the_tenant_could_not_give() -> None:
    account = LOOK.account("new")
    assert not LOOK.gained(may(GETS, place="own"), may(GETS, subject=account, place="own"))
    assert LOOK.gained(may(GETS, place="own"), may(ALL, subject=account, place="own"))
    assert LOOK.gained(may(GETS, place="own"), may(GETS, subject=account, place="other"))


def test_what_the_api_server_allows() -> None:
    asked = Permissions({}, {}, frozenset({("mallory", "", GETS)}))
    assert LOOK.gained(Permissions({}), asked) == ["mallory in the cluster, reviewed: get  secrets "]
    assert LOOK.gained(asked, Permissions({})) == []
