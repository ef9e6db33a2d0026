"""What counts as a right that was gained."""

from __future__ import annotations

import pytest

from tests.conformance.attacks.gains import Permissions, gained

ROLE = ("ClusterRole", "", "r")
NOTHING, SECRETS = '{"rules":null}', '{"rules":[{"resources":["secrets"]}]}'
SECRETS_AND_PODS = '{"rules":[{"resources":["secrets"]},{"resources":["pods"]}]}'
PODS_AND_SECRETS = '{"rules":[{"resources":["pods"]},{"resources":["secrets"]}]}'
ONE, TWO = (f'{{"roleRef":{{"name":"r"}},"rules":null,"subjects":[{{"name":"{name}"}}]}}' for name in ("a", "b"))
BINDING = ("ClusterRoleBinding", "", "b")
MAY = ("mallory", "other", "get", "", "secrets", "")


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
    assert len(gained(Permissions(before, frozenset()), Permissions(after, frozenset()))) == count


def test_what_the_api_server_allows() -> None:
    assert gained(Permissions({}, frozenset()), Permissions({}, frozenset({MAY}))) == ["mallory other get  secrets "]
    assert gained(Permissions({}, frozenset({MAY})), Permissions({}, frozenset())) == []
