"""Server-side apply: owners, conflicts, and what goes when it is no longer stated."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.conformance.api.objects import a_config_map, a_definition, a_deployment, a_widget, apps, core, define
from tests.conformance.http import Answer, Api

Json = Any


def _apply(http: Api, path: str, body: Json, manager: str = "one", query: str = "") -> Answer:
    return http.send("PATCH", f"{path}?fieldManager={manager}{query}", body, content="application/apply-patch+yaml")


def _owned(manifest: Json) -> dict[tuple[str, str], Json]:
    return {
        (entry["manager"], entry["operation"]): entry["fieldsV1"]
        for entry in manifest["metadata"].get("managedFields", [])
    }


def test_an_apply_creates_what_is_not_there(http: Api, namespace: str) -> None:
    answer = _apply(http, core(namespace, "configmaps", "a"), a_config_map())
    assert answer.status == 201
    assert _owned(answer.body) == {("one", "Apply"): {"f:data": {"f:k": {}}}}


def test_an_apply_of_the_same_again_makes_no_new_version(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps", "a")
    first, second = (_apply(http, path, a_config_map()) for _ in range(2))
    assert second.status == 200
    assert second.body["metadata"] == first.body["metadata"]


def test_a_field_of_another_manager_is_a_conflict(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps", "a")
    _apply(http, path, a_config_map())
    answer = _apply(http, path, a_config_map(data={"k": "w"}), "two")
    assert (answer.status, answer.body["reason"]) == (409, "Conflict")
    assert answer.body["message"] == 'Apply failed with 1 conflict: conflict with "one": .data.k'
    assert answer.body["details"]["causes"] == [
        {"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.k"}
    ]


def test_several_conflicts_are_reported_together(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps", "a")
    _apply(http, path, a_config_map(data={"k": "1", "l": "1"}))
    answer = _apply(http, path, a_config_map(data={"k": "2", "l": "2"}), "two")
    assert answer.body["message"] == 'Apply failed with 2 conflicts: conflicts with "one":\n- .data.k\n- .data.l'


def test_a_forced_apply_takes_the_field_over(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps", "a")
    _apply(http, path, a_config_map(data={"k": "1", "l": "1"}))
    body = _apply(http, path, a_config_map(data={"k": "2"}), "two", "&force=true").body
    assert body["data"] == {"k": "2", "l": "1"}
    assert _owned(body) == {("one", "Apply"): {"f:data": {"f:l": {}}}, ("two", "Apply"): {"f:data": {"f:k": {}}}}


def test_the_same_value_is_owned_by_both(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps", "a")
    _apply(http, path, a_config_map())
    body = _apply(http, path, a_config_map(), "two").body
    assert set(_owned(body)) == {("one", "Apply"), ("two", "Apply")}


def test_what_is_no_longer_stated_goes(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps", "a")
    _apply(http, path, a_config_map(data={"k": "1", "l": "1"}))
    assert _apply(http, path, a_config_map(data={"k": "1"})).body["data"] == {"k": "1"}


def test_what_another_manager_owns_too_stays(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps", "a")
    _apply(http, path, a_config_map(data={"k": "1", "l": "1"}))
    _apply(http, path, a_config_map(data={"l": "1"}), "two")
    assert _apply(http, path, a_config_map(data={"k": "1"})).body["data"] == {"k": "1", "l": "1"}


def test_an_update_by_somebody_else_takes_the_field_over(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps", "a")
    _apply(http, path, a_config_map())
    http.patch(f"{path}?fieldManager=two", {"data": {"k": "2"}})
    answer = _apply(http, path, a_config_map())
    assert answer.status == 409
    assert 'conflict with "two" using v1' in answer.body["message"]


def test_containers_are_merged_by_name(http: Api, namespace: str) -> None:
    path = apps(namespace, "d")
    _apply(http, path, a_deployment())
    extra = a_deployment()
    extra["spec"]["template"]["spec"]["containers"] = [{"name": "e", "image": "j"}]
    body = _apply(http, path, extra, "two").body
    assert [one["name"] for one in body["spec"]["template"]["spec"]["containers"]] == ["c", "e"]
    body = _apply(http, path, a_deployment(), "two").body
    assert [one["name"] for one in body["spec"]["template"]["spec"]["containers"]] == ["c"]


def test_the_owner_of_a_keyed_item_is_found_by_its_key(http: Api, namespace: str) -> None:
    body = _apply(http, apps(namespace, "d"), a_deployment()).body
    spec = _owned(body)["one", "Apply"]["f:spec"]["f:template"]["f:spec"]
    assert spec == {"f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:name": {}}}}


def test_a_conflict_inside_a_keyed_item_names_the_item(http: Api, namespace: str) -> None:
    path = apps(namespace, "d")
    _apply(http, path, a_deployment())
    other = a_deployment()
    other["spec"]["template"]["spec"]["containers"][0]["image"] = "other"
    message = _apply(http, path, other, "two").body["message"]
    assert message.endswith('conflict with "one": .spec.template.spec.containers[name="c"].image')


def test_an_atomic_map_is_owned_as_a_whole(http: Api, namespace: str) -> None:
    body = _apply(http, apps(namespace, "d"), a_deployment()).body
    assert _owned(body)["one", "Apply"]["f:spec"]["f:selector"] == {}


def test_defaults_are_nobodys(http: Api, namespace: str) -> None:
    path = apps(namespace, "d")
    _apply(http, path, a_deployment())
    assert _apply(http, path, a_deployment(replicas=3), "two").status == 200


def test_an_apply_needs_a_manager(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps", "a")
    answer = http.send("PATCH", path, a_config_map(), content="application/apply-patch+yaml")
    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    assert "fieldManager: Required value: is required for apply patch" in answer.body["message"]


def test_an_apply_states_no_owners(http: Api, namespace: str) -> None:
    body = _apply(http, core(namespace, "configmaps", "a"), a_config_map()).body
    answer = _apply(http, core(namespace, "configmaps", "a"), body)
    assert answer.status == 400
    assert "managedFields must be nil" in answer.body["message"]


def test_an_apply_may_be_yaml(http: Api, namespace: str) -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  day: '2020-01-01'\n"
    answer = _apply(http, core(namespace, "configmaps", "a"), text)
    assert (answer.status, answer.body["data"]) == (201, {"day": "2020-01-01"})


def test_the_status_is_applied_apart(http: Api, namespace: str, word: str) -> None:
    path = f"{define(http, a_definition(word))}/namespaces/{namespace}/widgets/w"
    _apply(http, path, a_widget(word))
    status = {**a_widget(word), "status": {"phase": "Fine"}}
    del status["spec"]
    body = _apply(http, f"{path}/status", status, "two").body
    assert (body["status"], body["spec"]["size"]) == ({"phase": "Fine"}, 3)
    entry = next(one for one in body["metadata"]["managedFields"] if one["manager"] == "two")
    assert (entry["subresource"], entry["fieldsV1"]) == ("status", {"f:status": {"f:phase": {}}})


def test_a_custom_kind_merges_by_its_own_keys(http: Api, namespace: str, word: str) -> None:
    path = f"{define(http, a_definition(word))}/namespaces/{namespace}/widgets/w"
    _apply(http, path, a_widget(word, items=[{"name": "a", "value": "1"}], tags=["x"], words=["p"]))
    body = _apply(http, path, a_widget(word, items=[{"name": "b", "value": "2"}], tags=["y"]), "two").body
    assert body["spec"]["items"] == [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}]
    assert body["spec"]["tags"] == ["x", "y"]
    conflict = _apply(http, path, a_widget(word, words=["q"]), "two")
    assert conflict.body["message"].endswith('conflict with "one": .spec.words')


def test_a_created_object_belongs_to_its_creator(http: Api, namespace: str) -> None:
    body = http.post(f"{core(namespace, 'configmaps')}?fieldManager=maker", a_config_map()).body
    assert _owned(body) == {("maker", "Update"): {"f:data": {".": {}, "f:k": {}}}}


def test_a_dry_run_of_an_apply_stores_nothing(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps", "a")
    answer = _apply(http, path, a_config_map(), query="&dryRun=All")
    assert (answer.status, http.get(path).status) == (201, 404)


def test_an_apply_with_a_resource_version_is_conditional(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps", "a")
    old = _apply(http, path, a_config_map()).body["metadata"]["resourceVersion"]
    http.patch(path, {"data": {"x": "y"}})
    answer = _apply(http, path, orjson.loads(orjson.dumps(a_config_map(resourceVersion=old))))
    assert (answer.status, answer.body["reason"]) == (409, "Conflict")


@pytest.mark.parametrize(
    ("meta", "status"),
    [
        pytest.param({"resourceVersion": "5"}, 201, id="a version of what is not there does not matter"),
        pytest.param({"uid": "of-somebody-else"}, 409, id="an identity of what is not there does"),
        pytest.param({"name": "b"}, 400, id="another name than that of the path"),
        pytest.param({"managedFields": [{"manager": "x"}]}, 400, id="owners that the caller made up"),
    ],
)
def test_an_apply_of_what_is_not_there_is_checked(http: Api, namespace: str, meta: Json, status: int) -> None:
    answer = _apply(http, core(namespace, "configmaps", "a"), a_config_map(**meta))
    assert answer.status == status, answer.body


def test_an_apply_reports_its_kind(http: Api, namespace: str) -> None:
    answer = _apply(http, core(namespace, "configmaps", "a"), {"metadata": {"name": "a"}, "data": {}})
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert "invalid object type" in answer.body["message"]


def test_the_status_of_what_is_not_there_cannot_be_applied(http: Api, namespace: str) -> None:
    answer = _apply(http, apps(namespace, "d") + "/status", {**a_deployment(), "status": {"replicas": 1}})
    assert answer.status == 404


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        pytest.param({"bogus": 1}, ".spec.bogus: field not declared in schema", id="unknown field"),
        pytest.param({"paused": "x"}, ".spec.paused: expected boolean, got &{x}", id="boolean"),
        pytest.param({"replicas": "x"}, ".spec.replicas: expected numeric (int or float), got string", id="number"),
        pytest.param([], ".spec: expected map, got &{[]}", id="map"),
        pytest.param(
            {"template": {"spec": {"containers": [{"name": "x"}, {"name": "x"}]}}},
            '.spec.template.spec.containers: duplicate entries for key [name="x"]', id="twice in a list",
        ),
        pytest.param(
            {"template": {"spec": {"containers": ["x"]}}},
            ".spec.template.spec.containers: element 0: associative list with keys may not have non-map elements",
            id="no map in a list",
        ),
    ],
)  # fmt: skip
def test_an_apply_has_known_fields_of_their_types(http: Api, namespace: str, spec: Json, sentence: str) -> None:
    assert _misapplied(http, namespace, spec).startswith(sentence)


def test_an_apply_names_all_its_wrong_fields_in_any_order(http: Api, namespace: str) -> None:
    head, *reported = _misapplied(http, namespace, {"paused": 1, "replicas": []}).splitlines()
    assert (head, len(reported)) == ("errors:", 2)
    assert "  .spec.paused: expected boolean, got &{1}" in reported


def _misapplied(http: Api, namespace: str, spec: Json) -> str:
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}
    answer = _apply(http, apps(namespace, "d"), body)
    assert answer.status == 500
    head = "failed to create typed patch object (/d; apps/v1, Kind=Deployment): "
    assert answer.body["message"].startswith(head)
    return str(answer.body["message"]).removeprefix(head)


def test_an_apply_of_a_finalizer_twice_is_refused(http: Api, namespace: str) -> None:
    body = a_config_map(finalizers=["example.com/f", "example.com/f"])
    answer = _apply(http, core(namespace, "configmaps", "a"), body)
    assert answer.status == 500
    assert '.metadata.finalizers: duplicate entries for key [="example.com/f"]' in answer.body["message"]


def test_an_apply_reports_the_name(http: Api, namespace: str) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}
    assert _apply(http, core(namespace, "configmaps", "a"), body).status == 400


def test_owners_are_recorded_from_the_first_apply_on(http: Api, namespace: str) -> None:
    path = core(namespace, "serviceaccounts")
    http.post(path, {"metadata": {"name": "a"}})
    changed = http.patch(f"{path}/a", {"automountServiceAccountToken": False}).body
    assert "managedFields" not in changed["metadata"]
    body = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a", "labels": {"x": "y"}}}
    assert _owned(_apply(http, f"{path}/a", body).body) == {
        ("before-first-apply", "Update"): {"f:automountServiceAccountToken": {}},
        ("one", "Apply"): {"f:metadata": {"f:labels": {"f:x": {}}}},
    }


def test_an_empty_map_is_owned(http: Api, namespace: str) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {}}
    assert _owned(_apply(http, core(namespace, "configmaps", "a"), body).body) == {("one", "Apply"): {"f:data": {}}}


def test_who_applies_what_is_there_already_wrote_at_no_time(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps", "a")
    _apply(http, path, a_config_map())
    entries = _apply(http, path, a_config_map(), "two").body["metadata"]["managedFields"]
    assert {one["manager"]: "time" in one for one in entries} == {"one": True, "two": False}


def test_a_map_that_the_schema_does_not_know_is_owned_itself(http: Api, word: str, namespace: str) -> None:
    path = f"{define(http, a_definition(word))}/namespaces/{namespace}/widgets/w"
    applied = _apply(http, path, a_widget(word, free={"a": {"b": 1}})).body
    assert _owned(applied)["one", "Apply"]["f:spec"]["f:free"] == {"f:a": {".": {}, "f:b": {}}}


def test_the_creator_of_a_custom_object_owns_its_maps(http: Api, word: str, namespace: str) -> None:
    path = f"{define(http, a_definition(word))}/namespaces/{namespace}/widgets"
    made = http.post(f"{path}?fieldManager=one", a_widget(word, items=[{"name": "x"}])).body
    assert _owned(made)["one", "Update"]["f:spec"] == {
        ".": {}, "f:items": {".": {}, 'k:{"name":"x"}': {".": {}, "f:name": {}}}, "f:mode": {}, "f:size": {},
    }  # fmt: skip


def test_a_null_leaves_a_map_alone(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": None}
    answer = _apply(http, core(namespace, "configmaps", "a"), body)
    assert (answer.status, answer.body["data"]) == (200, {"k": "v"})


def test_a_null_takes_a_field_away(http: Api, namespace: str) -> None:
    path, body = core(namespace, "serviceaccounts", "a"), {"apiVersion": "v1", "kind": "ServiceAccount"}
    made = {**body, "metadata": {"name": "a"}, "imagePullSecrets": [{"name": "x"}]}
    http.post(core(namespace, "serviceaccounts"), made)
    none = {**body, "metadata": {"name": "a"}, "imagePullSecrets": None}
    assert _apply(http, path, none).status == 409
    assert "imagePullSecrets" not in _apply(http, path, none, query="&force=true").body


def test_an_applied_null_has_to_fit_the_schema(http: Api, word: str, namespace: str) -> None:
    path = f"{define(http, a_definition(word))}/namespaces/{namespace}/widgets"
    assert http.post(path, a_widget(word, "made", words=None)).status == 201
    answer = _apply(http, f"{path}/w", a_widget(word, words=None))
    assert answer.status == 422
    assert 'spec.words in body must be of type array: "null"' in answer.body["message"]
    assert _apply(http, f"{path}/w", a_widget(word, mode=None, maybe=None)).body["spec"]["mode"] == "fast"
