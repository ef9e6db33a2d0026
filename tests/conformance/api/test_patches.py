"""JSON, merge and strategic merge patches."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.api.objects import a_config_map, a_definition, a_deployment, a_widget, apps, core, define
from tests.conformance.http import Api

JSON_PATCH, STRATEGIC = "json-patch+json", "strategic-merge-patch+json"


def test_a_merge_patch_sets_and_null_removes(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map(data={"a": "1", "b": "2"}))
    answer = http.patch(core(namespace, "configmaps", "a"), {"data": {"b": None, "c": "3"}})
    assert (answer.status, answer.body["data"]) == (200, {"a": "1", "c": "3"})


def test_a_merge_patch_replaces_lists(http: Api, namespace: str) -> None:
    http.post(apps(namespace), a_deployment())
    container = {"name": "other", "image": "i"}
    body = http.patch(apps(namespace, "d"), {"spec": {"template": {"spec": {"containers": [container]}}}}).body
    assert [one["name"] for one in body["spec"]["template"]["spec"]["containers"]] == ["other"]


def test_a_patch_with_a_resource_version_is_conditional(http: Api, namespace: str) -> None:
    old = http.post(core(namespace, "configmaps"), a_config_map()).body["metadata"]["resourceVersion"]
    http.patch(core(namespace, "configmaps", "a"), {"data": {"x": "y"}})
    answer = http.patch(core(namespace, "configmaps", "a"), {"metadata": {"resourceVersion": old}, "data": {"x": "z"}})
    assert (answer.status, answer.body["reason"]) == (409, "Conflict")


def test_a_patch_of_what_is_not_there_is_not_found(http: Api, namespace: str) -> None:
    assert http.patch(core(namespace, "configmaps", "a"), {"data": {}}).status == 404


@pytest.mark.parametrize(
    ("operations", "data"),
    [
        pytest.param([{"op": "add", "path": "/data/n", "value": "1"}], {"k": "v", "n": "1"}, id="add"),
        pytest.param([{"op": "replace", "path": "/data/k", "value": "1"}], {"k": "1"}, id="replace"),
        pytest.param(
            [{"op": "test", "path": "/data/k", "value": "v"}, {"op": "copy", "from": "/data/k", "path": "/data/l"}],
            {"k": "v", "l": "v"},
            id="test and copy",
        ),
        pytest.param([{"op": "move", "from": "/data/k", "path": "/data/a~1b~0c"}], None, id="move to an odd name"),
        pytest.param(
            [{"op": "add", "path": "/data/x", "value": "1"}, {"op": "remove", "path": "/data/k"}],
            {"x": "1"},
            id="remove",
        ),
    ],
)
def test_a_json_patch_operates(http: Api, namespace: str, operations: Any, data: Any) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    answer = http.patch(core(namespace, "configmaps", "a"), operations, JSON_PATCH)
    if data is None:  # `/` may not be part of a key: the path was understood, the result is not valid
        assert (answer.status, "a/b~c" in answer.body["message"]) == (422, True)
    else:
        assert (answer.status, answer.body["data"]) == (200, data)


def test_a_json_patch_whose_test_fails_changes_nothing(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    operations = [{"op": "test", "path": "/data/k", "value": "x"}, {"op": "remove", "path": "/data/k"}]
    answer = http.patch(core(namespace, "configmaps", "a"), operations, JSON_PATCH)
    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    assert http.get(core(namespace, "configmaps", "a")).body["data"] == {"k": "v"}


def test_a_json_patch_of_an_absent_path_is_invalid(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    answer = http.patch(core(namespace, "configmaps", "a"), [{"op": "remove", "path": "/data/none"}], JSON_PATCH)
    assert (answer.status, answer.body["reason"]) == (422, "Invalid")


def test_a_strategic_patch_merges_containers_by_name(http: Api, namespace: str) -> None:
    http.post(apps(namespace), a_deployment())
    containers = [{"name": "c", "env": [{"name": "A", "value": "b"}]}, {"name": "d", "image": "j"}]
    body = http.patch(
        apps(namespace, "d"), {"spec": {"template": {"spec": {"containers": containers}}}}, STRATEGIC
    ).body
    found = {one["name"]: (one["image"], one.get("env")) for one in body["spec"]["template"]["spec"]["containers"]}
    assert found == {"c": ("i:1", [{"name": "A", "value": "b"}]), "d": ("j", None)}


def test_a_strategic_patch_deletes_an_item_by_key(http: Api, namespace: str) -> None:
    http.post(apps(namespace), a_deployment())
    path = apps(namespace, "d")
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    for change in (env, [{"name": "A", "$patch": "delete"}]):
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "c", "env": change}]}}}}
        body = http.patch(path, patch, STRATEGIC).body
    assert body["spec"]["template"]["spec"]["containers"][0]["env"] == [{"name": "B", "value": "2"}]


def test_a_strategic_patch_replaces_on_demand(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    body = http.patch(core(namespace, "configmaps", "a"), {"data": {"$patch": "replace", "x": "y"}}, STRATEGIC).body
    assert body["data"] == {"x": "y"}


def test_a_strategic_patch_keeps_finalizers_that_it_does_not_name(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map(finalizers=["a.example.com/x"]))
    path = core(namespace, "configmaps", "a")
    body = http.patch(path, {"metadata": {"finalizers": ["b.example.com/x"]}}, STRATEGIC).body
    assert sorted(body["metadata"]["finalizers"]) == ["a.example.com/x", "b.example.com/x"]
    removal = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a.example.com/x", "b.example.com/x"]}}
    assert "finalizers" not in http.patch(path, removal, STRATEGIC).body["metadata"]


def test_a_strategic_patch_retains_only_the_named_keys(http: Api, namespace: str) -> None:
    http.post(apps(namespace), a_deployment())
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    assert http.patch(apps(namespace, "d"), patch, STRATEGIC).body["spec"]["strategy"] == {"type": "Recreate"}


def test_a_custom_kind_takes_no_strategic_patch(http: Api, namespace: str, word: str) -> None:
    path = f"{define(http, a_definition(word))}/namespaces/{namespace}/widgets"
    http.post(path, a_widget(word))
    assert http.patch(f"{path}/w", {"spec": {"size": 4}}, STRATEGIC).status == 415


def test_an_unknown_sort_of_patch_is_refused(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    assert http.patch(core(namespace, "configmaps", "a"), {}, "x-patch+json").status == 415


def test_a_patch_of_status_changes_the_status_only(http: Api, namespace: str) -> None:
    http.post(apps(namespace), a_deployment())
    body = http.patch(f"{apps(namespace, 'd')}/status", {"status": {"replicas": 3}, "spec": {"replicas": 9}}).body
    assert (body["status"]["replicas"], body["spec"]["replicas"]) == (3, 1)


def _containers(*names: str) -> list[dict[str, str]]:
    return [{"name": name, "image": "i:1"} for name in names]


@pytest.mark.parametrize(
    ("operations", "names"),
    [
        pytest.param([("add", "/0", "x")], ["x", "a", "b"], id="before the first"),
        pytest.param([("add", "/-", "x")], ["a", "b", "x"], id="behind the last"),
        pytest.param([("replace", "/1", "x")], ["a", "x"], id="in the place of another"),
        pytest.param([("add", "/7", "x")], None, id="beyond the end"),
    ],
)
def test_a_json_patch_reaches_into_lists(http: Api, namespace: str, operations: Any, names: Any) -> None:
    pod = {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": _containers("a", "b")}}
    http.post(apps(namespace), a_deployment(template=pod))
    base = "/spec/template/spec/containers"
    arguments = [{"op": op, "path": base + place, "value": _containers(name)[0]} for op, place, name in operations]
    answer = http.patch(apps(namespace, "d"), arguments, JSON_PATCH)
    if names is None:
        assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    else:
        assert [one["name"] for one in answer.body["spec"]["template"]["spec"]["containers"]] == names


@pytest.mark.parametrize(
    ("operations", "status"),
    [
        pytest.param({"op": "add"}, 400, id="no list"),
        pytest.param([{"op": "jump", "path": "/data/k"}], 422, id="an unknown operation"),
    ],
)
def test_what_is_no_json_patch_is_refused(http: Api, namespace: str, operations: Any, status: int) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    assert http.patch(core(namespace, "configmaps", "a"), operations, JSON_PATCH).status == status


@pytest.mark.parametrize(
    ("containers", "names"),
    [
        pytest.param([{"$patch": "replace"}, *_containers("x")], ["x"], id="replace the list"),
        pytest.param([{"name": "a", "$patch": "delete"}], ["b"], id="delete an item"),
    ],
)
def test_directives_steer_a_strategic_patch(http: Api, namespace: str, containers: Any, names: Any) -> None:
    pod = {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": _containers("a", "b")}}
    http.post(apps(namespace), a_deployment(template=pod))
    answer = http.patch(apps(namespace, "d"), {"spec": {"template": {"spec": {"containers": containers}}}}, STRATEGIC)
    assert [one["name"] for one in answer.body["spec"]["template"]["spec"]["containers"]] == names


def test_a_strategic_patch_replaces_lists_that_have_no_strategy(http: Api, namespace: str) -> None:
    pod = {
        "metadata": {"labels": {"app": "d"}},
        "spec": {"containers": [{"name": "c", "image": "i:1", "args": ["a", "b"]}]},
    }
    http.post(apps(namespace), a_deployment(template=pod))
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "c", "args": ["x"]}]}}}}
    (container,) = http.patch(apps(namespace, "d"), patch, STRATEGIC).body["spec"]["template"]["spec"]["containers"]
    assert (container["image"], container["args"]) == ("i:1", ["x"])


def test_a_strategic_patch_of_an_item_names_it(http: Api, namespace: str) -> None:
    http.post(apps(namespace), a_deployment())
    patch = {"spec": {"template": {"spec": {"containers": [{"image": "x"}]}}}}
    answer = http.patch(apps(namespace, "d"), patch, STRATEGIC)
    assert answer.status in (400, 500), "the real server calls it an internal error"
    assert "does not contain declared merge key: name" in answer.body["message"]


@pytest.mark.parametrize("kind", ["merge-patch+json", STRATEGIC])
def test_a_patch_does_not_rename(http: Api, namespace: str, kind: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    answer = http.patch(core(namespace, "configmaps", "a"), {"metadata": {"name": "b"}}, kind)
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert "does not match the name on the URL" in answer.body["message"]


def test_a_json_patch_replaces_what_is_not_there(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    operations = [
        {"op": "replace", "path": "/data/new", "value": "x"},
        {"op": "copy", "from": "/metadata/annotations", "path": "/metadata/labels"},
    ]
    answer = http.patch(core(namespace, "configmaps", "a"), operations, "json-patch+json")
    assert (answer.status, answer.body["data"]) == (200, {"k": "v", "new": "x"})


@pytest.mark.parametrize("kind", ["merge-patch+json", "strategic-merge-patch+json"])
def test_a_patch_that_makes_another_kind_of_object_is_invalid(http: Api, namespace: str, kind: str) -> None:
    http.post(apps(namespace), a_deployment())
    answer = http.patch(apps(namespace, "d"), {"spec": {"replicas": "x"}}, kind)
    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    assert answer.body["message"].startswith(' "" is invalid: patch: Invalid value: ')
    strict = http.patch(apps(namespace, "d") + "?fieldValidation=Strict", {"spec": {"bogus": 1}}, kind)
    assert strict.status == 422
    assert 'strict decoding error: unknown field "spec.bogus"' in strict.body["message"]


@pytest.mark.parametrize("path", ["/metadata", "/metadata/name"])
def test_a_patch_that_takes_the_name_away_is_refused(http: Api, namespace: str, path: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    operation = {"op": "replace", "path": path, "value": None}
    assert http.patch(core(namespace, "configmaps", "a"), [operation], "json-patch+json").status == 400
