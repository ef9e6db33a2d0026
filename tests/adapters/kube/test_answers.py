"""What the API server answers is believed only if it is what was asked for."""

from __future__ import annotations

import pytest

from shared.adapters.kube import ApiError, path_of
from shared.adapters.kube.client import list_of, object_about
from shared.adapters.kube.freshness import RESTORED_SECONDS, Freshness
from shared.adapters.kube.listing import label_selector
from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_ROLE, NAMESPACE, ROLE, SECRET, InvalidName, Kind
from shared.names import ANY, NONE

REF = SECRET.ref("pull", "team")


def a_secret(**meta: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "pull", "namespace": "team", **meta}}


def test_the_object_that_was_asked_for() -> None:
    assert object_about(REF, a_secret()) == a_secret()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(a_secret(name="other"), id="another name"),
        pytest.param(a_secret(namespace="elsewhere"), id="another namespace"),
        pytest.param({**a_secret(), "kind": "SecretList"}, id="a list"),
        pytest.param({**a_secret(), "apiVersion": "v2"}, id="another version"),
        pytest.param({"kind": "Namespace", "metadata": {"name": "team"}}, id="its namespace"),
        pytest.param({}, id="nothing"),
    ],
)
def test_an_answer_about_something_else_is_no_answer(answer: Manifest) -> None:
    with pytest.raises(ApiError, match="was asked for") as error:
        object_about(REF, answer)
    assert error.value.is_unreachable


@pytest.mark.parametrize("answer", [a_secret(), {"kind": "PodList"}, {}, {"kind": "SecretList", "items": "all"}])
def test_a_list_that_is_none_is_no_answer(answer: Manifest) -> None:
    with pytest.raises(ApiError, match="where a list of secrets was asked for"):
        list_of(SECRET, answer)
    assert list_of(SECRET, {"kind": "SecretList", "items": None})


def test_a_definition_may_call_its_lists_by_any_name() -> None:
    """`spec.names.listKind` of a CustomResourceDefinition."""
    kind = Kind("cluster.com/v1", "ins", "ins")
    assert list_of(kind, {"kind": "listins", "apiVersion": kind.api_version, "metadata": {}, "items": []})
    with pytest.raises(ApiError, match="where a list of ins was asked for"):
        list_of(kind, {"kind": "listins", "apiVersion": "other.com/v1", "metadata": {}, "items": []})


def test_older_lists_are_refused_until_the_server_counts_as_restored() -> None:
    now = [0.0]
    freshness = Freshness(lambda: now[0])
    freshness.at_least(SECRET, "12345678901234567890")
    freshness.noted(a_secret(resourceVersion="99"))
    assert freshness.query(SECRET)["resourceVersion"] == "12345678901234567890"
    assert [
        freshness.is_older(SECRET, version, freshness.seen(SECRET)) for version in ("99", "12345678901234567891")
    ] == [True, False]
    assert freshness.is_older(SECRET, "99", freshness.seen(SECRET))
    now[0] += RESTORED_SECONDS + 1
    assert freshness.is_older(SECRET, "99", freshness.seen(SECRET)), "nobody asked meanwhile, and it may have been well"
    for _ in range(2):
        now[0] += RESTORED_SECONDS / 2 + 1
        was_older = freshness.is_older(SECRET, "99", freshness.seen(SECRET))
    assert not was_older
    assert freshness.query(SECRET)["resourceVersion"] == "0"


def test_a_list_is_not_too_old_for_what_was_seen_while_it_was_on_its_way() -> None:
    """Where much happens, and lists take long, every one of them would be refused."""
    freshness = Freshness()
    freshness.at_least(SECRET, "7")
    seen = freshness.seen(SECRET)
    freshness.at_least(SECRET, "9")
    assert not freshness.is_older(SECRET, "8", seen)
    assert freshness.is_older(SECRET, "6", seen)


@pytest.mark.parametrize("version", ["", "abc", "²"])
def test_versions_without_an_order_ask_for_any_list(version: str) -> None:
    freshness = Freshness()
    freshness.at_least(SECRET, version)
    assert freshness.query(SECRET)["resourceVersion"] == "0"
    assert not freshness.is_older(SECRET, "1", freshness.seen(SECRET))


@pytest.mark.parametrize(
    ("kind", "namespace", "name"),
    [
        pytest.param(SECRET, "team", "..", id="the folder above"),
        pytest.param(ROLE, "team", ".", id="the folder itself"),
        pytest.param(SECRET, "..", "", id="a namespace of dots"),
        pytest.param(SECRET, "a/b", "", id="a namespace with a slash"),
        pytest.param(CLUSTER_ROLE, "", "a/b", id="a name with a slash"),
    ],
)
def test_no_path_leads_elsewhere(kind: Kind, namespace: str, name: str) -> None:
    with pytest.raises(InvalidName):
        path_of(kind, namespace, name)


def test_a_name_is_one_part_of_a_path() -> None:
    assert path_of(CLUSTER_ROLE, name="system:a b?c#d").endswith("/clusterroles/system%3Aa%20b%3Fc%23d")
    assert path_of(NAMESPACE, name="team") == "/api/v1/namespaces/team"


@pytest.mark.parametrize("labels", [{"a": "x,y"}, {"a": "=b"}, {"a,b": "x"}, {"a=b": "x"}, {"!a": "x"}, {"A B/c": "x"}])
def test_labels_that_would_select_something_else_are_refused(labels: dict[str, str]) -> None:
    with pytest.raises(InvalidName):
        label_selector(labels)
    assert label_selector({"olm.owner": "a", "example.com/b": ""}) == "example.com/b=,olm.owner=a"
    assert label_selector({"olm.owner": ANY, "example.com/b": NONE}) == "!example.com/b,olm.owner"
