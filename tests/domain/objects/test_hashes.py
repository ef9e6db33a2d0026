"""Every known answer of csv.md §16."""

import pytest

from shared.domain.go_types import encoding
from shared.domain.objects import hashes

RULE = {"verbs": ["get"], "apiGroups": ["g"], "resources": ["r"]}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("operator-ns/operator-group-1/admin", "8rdAjL0E35JMMAkOqYmoorzjpIIihfnj3DcgDU"),
        ("operator-ns/operator-group-1/edit", "9lBEUxqAYE7CX7wZfFEPYutTfQTo43WarB08od"),
        ("operator-ns/operator-group-1/view", "1l6ymczPK5SceF4d0DCtAnWZuvmKn6s8oBUxHr"),
        ("ns/default/admin", "6IN5zxvv5bRr9aGZrPq0B8ZscsOnk9tTVolivY"),
        ("ns/default/edit", "4Ix89kZh7o9smh3LgWxbP0lIF3POI4Y1zP7icI"),
        ("ns/default/view", "79Erc1nIbHgzzRi2VBPsknoPdCZ0uAX16TT023"),
    ],
    ids=lambda value: f"csv.md 16 group role: {value}",
)
def test_names_of_group_roles(text: str, want: str) -> None:
    assert hashes.text_hash(text) == want


@pytest.mark.parametrize(
    ("api", "want"),
    [
        ("Ghost.v1alpha1.ghouls", "6435ab0d7c6bda64"),
        ("Goblin.v1alpha1.ghouls", "557c9f42470aa352"),
        ("EtcdCluster.v1beta2.etcd.database.coreos.com", "c571d720f17289d3"),
        ("c1.v1.g1", "30189bbead057e8a"),
    ],
    ids=lambda value: f"csv.md 16 API: {value}",
)
def test_api_hash(api: str, want: str) -> None:
    kind, version, group = api.split(".", 2)
    assert hashes.api_hash(kind, version, group) == want


@pytest.mark.parametrize(
    ("rules", "want"),
    [
        pytest.param(
            [{"apiGroups": ["my.api.group"], "resources": ["apis"], "verbs": ["get"]}],
            "at8sRDqcK4AXzI32cbh2c0izxUCkb58RxQIkX2",
            id="csv.md 16: rules in any order of keys",
        ),
        pytest.param(None, "8svkgjrWNOjkQ01d1SG1sBJN8XPVhKn0GkNTVF", id="csv.md 16: no rules at all"),
    ],
)
def test_rules_hash(rules: list[dict[str, list[str]]] | None, want: str) -> None:
    assert hashes.rules_hash(rules) == want


def test_binding_hash_of_csv_md_16() -> None:
    role_ref = {"kind": "Role", "name": "r1", "apiGroup": "rbac.authorization.k8s.io"}
    subjects = [{"namespace": "ns", "name": "sa", "kind": "ServiceAccount"}]
    assert hashes.binding_hash(role_ref, subjects) == "7SfpKsJLVxX0PRIYWPBICV00AxxJNNcssdSf3p"


def test_role_name_of_csv_md_16() -> None:
    name = hashes.role_name("a", {"rules": [RULE], "serviceAccountName": "sa"})
    assert name == "a-sa-9cdU2R807KLfI5VGSztsF0Vjd4QDsz8GFZx3VR"


def test_cluster_role_name_of_csv_md_16() -> None:
    name = hashes.cluster_role_name("a", "ns", {"rules": [RULE], "serviceAccountName": "sa"})
    assert name == "a-5lnkS6S5QHBtsIeHkbHmtUOXd5gzfTxOtFsHgi"


@pytest.mark.parametrize("length", range(20, 32), ids=lambda length: f"csv.md 5.7: a base of {length} characters")
def test_long_names_are_cut(length: int) -> None:
    name = hashes.cluster_role_name("x" * length, "ns", {"serviceAccountName": "sa", "rules": [RULE]})
    base, _, digest = name.partition("-")
    fits = length + len(digest) <= 63
    assert len(base) == (length if fits else 62 - len(digest))


def test_deployment_hash_of_csv_md_16() -> None:
    container = {"image": "img<&>", "name": "c"}
    spec = {
        "revisionHistoryLimit": 1,
        "template": {
            "spec": {"containers": [container]},
            "metadata": {"annotations": {"olm.targetNamespaces": "a,b"}, "labels": {"app": "x"}},
        },
        "selector": {"matchLabels": {"app": "x"}},
        "replicas": 1,
    }
    assert hashes.deployment_hash(spec) == "610WwpDwjZa4tk7oi8lvtKkB4OK0uJU0Z0NuKp"


def test_alongside_key_is_the_fnv_of_namespace_and_name() -> None:
    assert hashes.alongside_key("ns", "csv") == hashes.fnv1a("ns/csv")
    assert hashes.fnv1a("") == "cbf29ce484222325"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("team-15/etcd.v0.9.4574", "53a27e84e2bf1", id="catalog.md 1.5: three digits less than 16"),
        pytest.param("team-80/etcd.v0.9.7355", "f127e8d8847f", id="catalog.md 1.5: four digits less than 16"),
    ],
)
def test_an_alongside_key_is_not_padded(text: str, want: str) -> None:
    """Answers of Go's hash/fnv with `%x`."""
    assert hashes.alongside_key(*text.split("/")) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("text-4905", "19Lw6XPqRtaTvvqMjS8xVhRDpeXHaF11ysTW", id="csv.md 16: 36 digits"),
        pytest.param("text-8475", "bJ95LUWsmg9gn4caHaBrrJbIMvEy0AphmBVI", id="csv.md 16: with a zero byte in front"),
    ],
)
def test_a_digest_is_not_padded(text: str, want: str) -> None:
    """Answers of Go's crypto/sha256 and math/big."""
    assert hashes.text_hash(text) == want


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}', id="map keys are sorted"),
        pytest.param("<>&\u2028é", '"\\u003c\\u003e\\u0026\\u2028é"', id="HTML characters are escaped, others kept"),
    ],
)
def test_go_json(value: object, want: str) -> None:
    assert encoding.encode(value) == want


def test_go_json_keeps_zeros_that_are_set_and_drops_what_is_empty() -> None:
    assert encoding.encode({"replicas": 0, "paused": None, "extra": 1}, "DeploymentSpec") == (
        '{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{},"extra":1}'
    )


def test_base62_of_nothing_is_zero() -> None:
    assert hashes.in_base(62, b"\0") == "0"
