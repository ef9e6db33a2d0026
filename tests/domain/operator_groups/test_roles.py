from __future__ import annotations

import pytest

from shared.domain.operator_groups.group import Api
from shared.domain.operator_groups.roles import aggregation_label, group_role_name

ADMIN, EDIT, VIEW = (
    "8rdAjL0E35JMMAkOqYmoorzjpIIihfnj3DcgDU",
    "9lBEUxqAYE7CX7wZfFEPYutTfQTo43WarB08od",
    "1l6ymczPK5SceF4d0DCtAnWZuvmKn6s8oBUxHr",
)


@pytest.mark.parametrize(
    ("namespace", "group", "suffix", "digest"),
    [
        pytest.param("operator-ns", "operator-group-1", "admin", ADMIN, id="csv.md 16: operator-group-1 admin"),
        pytest.param("operator-ns", "operator-group-1", "edit", EDIT, id="csv.md 16: operator-group-1 edit"),
        pytest.param("operator-ns", "operator-group-1", "view", VIEW, id="csv.md 16: operator-group-1 view"),
        pytest.param("ns", "default", "admin", "6IN5zxvv5bRr9aGZrPq0B8ZscsOnk9tTVolivY", id="csv.md 16: default admin"),
        pytest.param("ns", "default", "edit", "4Ix89kZh7o9smh3LgWxbP0lIF3POI4Y1zP7icI", id="csv.md 16: default edit"),
        pytest.param("ns", "default", "view", "79Erc1nIbHgzzRi2VBPsknoPdCZ0uAX16TT023", id="csv.md 16: default view"),
    ],
)
def test_names_of_group_roles(namespace: str, group: str, suffix: str, digest: str) -> None:
    assert group_role_name(namespace, group, suffix) == f"olm.og.{group}.{suffix}-{digest}"


def test_a_long_name_is_cut() -> None:
    """csv.md 8.7: at most 253 characters."""
    assert len(group_role_name("ns", "g" * 300, "admin")) == 253


@pytest.mark.parametrize(
    ("api", "digest"),
    [
        pytest.param("Ghost.v1alpha1.ghouls", "6435ab0d7c6bda64", id="csv.md 16: Ghost"),
        pytest.param("Goblin.v1alpha1.ghouls", "557c9f42470aa352", id="csv.md 16: Goblin"),
        pytest.param("EtcdCluster.v1beta2.etcd.database.coreos.com", "c571d720f17289d3", id="csv.md 16: EtcdCluster"),
        pytest.param("c1.v1.g1", "30189bbead057e8a", id="csv.md 16: c1"),
    ],
)
def test_aggregation_labels(api: str, digest: str) -> None:
    parsed = Api.parse(api)

    assert parsed is not None
    assert aggregation_label(parsed, "view") == f"olm.opgroup.permissions/aggregate-to-{digest}-view"
