"""Deletion: finalizers, preconditions, owners, namespaces."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.api.objects import a_config_map, a_deployment, apps, core
from tests.conformance.http import Api
from tests.kit.waiting import wait_for

Json = Any


def _owner(manifest: Json, **more: Json) -> Json:
    meta = manifest["metadata"]
    kind = {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"]}
    return {**kind, "name": meta["name"], "uid": meta["uid"], **more}


def _is_gone(http: Api, path: str) -> bool:
    return http.get(path).status == 404


def _wait_for_the_collector(http: Api, namespace: str, plural: str) -> None:
    """Return when the collector has seen what was made so far, for it has collected what was made after that.

    The real one sets free, or waits for, only the dependents that it has seen.
    """
    owner = http.post(core(namespace, "configmaps"), a_config_map("later")).body
    http.post(core(namespace, plural), {"metadata": {"name": "later-too", "ownerReferences": [_owner(owner)]}})
    http.delete(core(namespace, "configmaps", "later"))
    wait_for(lambda: _is_gone(http, core(namespace, plural, "later-too")))


def test_a_deleted_object_is_gone(http: Api, namespace: str) -> None:
    made = http.post(core(namespace, "configmaps"), a_config_map()).body
    answer = http.delete(core(namespace, "configmaps", "a"))
    assert (answer.status, answer.body["status"]) == (200, "Success")
    assert answer.body["details"] == {"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]}
    assert _is_gone(http, core(namespace, "configmaps", "a"))


def test_a_second_delete_finds_nothing(http: Api, namespace: str) -> None:
    assert http.delete(core(namespace, "configmaps", "a")).status == 404


def test_a_finalizer_holds_an_object(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps", "a")
    http.post(core(namespace, "configmaps"), a_config_map(finalizers=["example.com/wait"]))
    http.delete(path)
    body = http.get(path).body
    assert body["metadata"]["deletionTimestamp"]
    assert body["metadata"]["deletionGracePeriodSeconds"] == 0
    http.patch(path, {"metadata": {"finalizers": None}})
    assert _is_gone(http, path)


def test_an_object_that_is_going_takes_no_new_finalizer(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps", "a")
    http.post(core(namespace, "configmaps"), a_config_map(finalizers=["example.com/wait"]))
    http.delete(path)
    answer = http.patch(path, {"metadata": {"finalizers": ["example.com/wait", "example.com/more"]}})
    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    assert "no new finalizers can be added if the object is being deleted" in answer.body["message"]


@pytest.mark.parametrize("name", ["uid", "resourceVersion"])
def test_a_precondition_that_fails_keeps_the_object(http: Api, namespace: str, name: str) -> None:
    path = core(namespace, "configmaps", "a")
    http.post(core(namespace, "configmaps"), a_config_map())
    answer = http.delete(path, {"preconditions": {name: "1"}})
    assert (answer.status, answer.body["reason"]) == (409, "Conflict")
    assert "in the precondition (1) does not match" in answer.body["message"]
    assert http.get(path).status == 200


def test_a_precondition_that_holds_deletes(http: Api, namespace: str) -> None:
    made = http.post(core(namespace, "configmaps"), a_config_map()).body["metadata"]
    conditions = {"uid": made["uid"], "resourceVersion": made["resourceVersion"]}
    assert http.delete(core(namespace, "configmaps", "a"), {"preconditions": conditions}).status == 200


def test_a_dry_run_deletes_nothing(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    assert http.delete(f"{core(namespace, 'configmaps', 'a')}?dryRun=All").status == 200
    assert http.get(core(namespace, "configmaps", "a")).status == 200


def test_a_collection_is_deleted_by_selector(http: Api, namespace: str) -> None:
    for name, labels in (("a", {"x": "y"}), ("b", {"x": "y"}), ("c", {})):
        http.post(core(namespace, "secrets"), {"metadata": {"name": name, "labels": labels}})
    assert http.delete(f"{core(namespace, 'secrets')}?labelSelector=x=y").status == 200
    assert [one["metadata"]["name"] for one in http.get(core(namespace, "secrets")).body["items"]] == ["c"]


def test_dependents_go_with_their_owner(http: Api, namespace: str) -> None:
    owner = http.post(core(namespace, "configmaps"), a_config_map()).body
    http.post(core(namespace, "secrets"), {"metadata": {"name": "b", "ownerReferences": [_owner(owner)]}})
    http.delete(core(namespace, "configmaps", "a"))
    wait_for(lambda: _is_gone(http, core(namespace, "secrets", "b")))


def test_a_dependent_stays_while_one_owner_is_left(http: Api, namespace: str) -> None:
    owners = [http.post(core(namespace, "configmaps"), a_config_map(name)).body for name in ("a", "b")]
    references = [_owner(owner) for owner in owners]
    http.post(core(namespace, "secrets"), {"metadata": {"name": "c", "ownerReferences": references}})
    http.delete(core(namespace, "configmaps", "a"))
    left = [references[1]]
    path = core(namespace, "secrets", "c")
    wait_for(lambda: http.get(path).body["metadata"]["ownerReferences"] == left)


def test_dependents_of_dependents_go_too(http: Api, namespace: str) -> None:
    first = http.post(core(namespace, "configmaps"), a_config_map()).body
    second = http.post(core(namespace, "configmaps"), a_config_map("b", ownerReferences=[_owner(first)])).body
    http.post(core(namespace, "configmaps"), a_config_map("c", ownerReferences=[_owner(second)]))
    http.delete(core(namespace, "configmaps", "a"))
    wait_for(lambda: _is_gone(http, core(namespace, "configmaps", "c")))


def test_an_object_whose_owner_never_was_is_deleted(http: Api, namespace: str) -> None:
    ghost = {"apiVersion": "v1", "kind": "ConfigMap", "name": "ghost", "uid": "00000000-0000-0000-0000-00000000000a"}
    http.post(core(namespace, "configmaps"), a_config_map(ownerReferences=[ghost]))
    wait_for(lambda: _is_gone(http, core(namespace, "configmaps", "a")))


def test_orphans_stay_without_owner(http: Api, namespace: str) -> None:
    owner = http.post(core(namespace, "configmaps"), a_config_map()).body
    http.post(core(namespace, "secrets"), {"metadata": {"name": "b", "ownerReferences": [_owner(owner)]}})
    _wait_for_the_collector(http, namespace, "secrets")
    http.delete(core(namespace, "configmaps", "a"), {"propagationPolicy": "Orphan"})
    wait_for(lambda: _is_gone(http, core(namespace, "configmaps", "a")))
    assert "ownerReferences" not in http.get(core(namespace, "secrets", "b")).body["metadata"]


def test_in_the_foreground_the_owner_goes_last(http: Api, namespace: str) -> None:
    owner = http.post(core(namespace, "configmaps"), a_config_map()).body
    reference = _owner(owner, blockOwnerDeletion=True)
    locked = {"name": "b", "ownerReferences": [reference], "finalizers": ["example.com/wait"]}
    http.post(core(namespace, "secrets"), {"metadata": locked})
    _wait_for_the_collector(http, namespace, "secrets")
    http.delete(core(namespace, "configmaps", "a"), {"propagationPolicy": "Foreground"})
    path = core(namespace, "secrets", "b")
    wait_for(lambda: "deletionTimestamp" in http.get(path).body["metadata"])
    assert http.get(core(namespace, "configmaps", "a")).body["metadata"]["finalizers"] == ["foregroundDeletion"]
    http.patch(path, {"metadata": {"finalizers": None}})
    wait_for(lambda: _is_gone(http, core(namespace, "configmaps", "a")))


def test_a_namespace_takes_everything_with_it(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    http.post(apps(namespace), a_deployment())
    answer = http.delete(f"/api/v1/namespaces/{namespace}")
    assert answer.body["status"]["phase"] == "Terminating"
    wait_for(lambda: _is_gone(http, f"/api/v1/namespaces/{namespace}"))
    assert _is_gone(http, apps(namespace, "d"))


def test_a_namespace_that_is_going_takes_nothing_new(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map(finalizers=["example.com/wait"]))
    http.delete(f"/api/v1/namespaces/{namespace}")
    answer = http.post(core(namespace, "secrets"), {"metadata": {"name": "late"}})
    assert (answer.status, answer.body["reason"]) == (403, "Forbidden")
    assert answer.body["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    http.patch(core(namespace, "configmaps", "a"), {"metadata": {"finalizers": None}})
    wait_for(lambda: _is_gone(http, f"/api/v1/namespaces/{namespace}"))


def test_the_query_may_report_how_to_delete(http: Api, namespace: str) -> None:
    owner = http.post(core(namespace, "configmaps"), a_config_map("owner")).body
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    http.post(core(namespace, "configmaps"), a_config_map("dependent", ownerReferences=[reference]))
    _wait_for_the_collector(http, namespace, "configmaps")
    http.delete(core(namespace, "configmaps", "owner") + "?propagationPolicy=Orphan")
    wait_for(lambda: http.get(core(namespace, "configmaps", "owner")).status == 404)
    assert "ownerReferences" not in http.get(core(namespace, "configmaps", "dependent")).body["metadata"]


def test_a_finalizer_holds_an_empty_namespace(http: Api, word: str) -> None:
    path = f"/api/v1/namespaces/{word}"
    http.post("/api/v1/namespaces", {"metadata": {"name": word, "finalizers": ["example.com/wait"]}})
    http.post(core(word, "configmaps"), a_config_map())
    assert http.delete(path).body["status"]["phase"] == "Terminating"
    wait_for(lambda: not http.get(path).body["spec"].get("finalizers"))
    assert _is_gone(http, core(word, "configmaps", "a"))
    http.patch(path, {"metadata": {"finalizers": None}})
    wait_for(lambda: _is_gone(http, path))


@pytest.mark.parametrize("name", ["/a", "?labelSelector=x"], ids=["one object", "a collection"])
def test_the_body_may_ask_for_a_dry_run(http: Api, namespace: str, name: str) -> None:
    path = core(namespace, "configmaps")
    http.post(path, a_config_map(labels={"x": "y"}))
    answer = http.delete(path + name, {"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]})
    assert answer.status == 200
    assert http.get(f"{path}/a").status == 200


def test_a_dry_run_is_answered_like_a_deletion(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps", "a")
    uid = http.post(core(namespace, "configmaps"), a_config_map()).body["metadata"]["uid"]
    answer = http.delete(f"{path}?dryRun=All").body
    assert (answer["kind"], answer["details"]) == ("Status", {"name": "a", "kind": "configmaps", "uid": uid})


@pytest.mark.parametrize(
    ("plural", "spec"), [("serviceaccounts", {}), ("services", {"spec": {"clusterIP": "None", "ports": [{"port": 1}]}})]
)
def test_some_kinds_are_the_answer_to_their_deletion(http: Api, namespace: str, plural: str, spec: Json) -> None:
    made = http.post(core(namespace, plural), {"metadata": {"name": "a"}, **spec}).body
    assert http.delete(core(namespace, plural, "a")).body["metadata"]["uid"] == made["metadata"]["uid"]


def test_one_deletion_has_one_policy(http: Api, namespace: str) -> None:
    options = {"propagationPolicy": "Foreground", "orphanDependents": True}
    answer = http.delete(core(namespace, "configmaps", "a"), options)
    assert answer.status == 422
    assert "orphanDependents and deletionPropagation cannot be both set" in answer.body["message"]


def test_options_in_the_body_win(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
    assert http.delete(core(namespace, "configmaps", "a") + "?propagationPolicy=Nonsense", options).status == 200


def test_an_empty_precondition_fails(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    assert http.delete(core(namespace, "configmaps", "a"), {"preconditions": {"resourceVersion": ""}}).status == 409


def test_in_the_foreground_a_dependent_stays_while_one_owner_is_left(http: Api, namespace: str) -> None:
    path = core(namespace, "configmaps")
    uids = {name: http.post(path, a_config_map(name)).body["metadata"]["uid"] for name in ("goes", "stays")}
    owners = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "blockOwnerDeletion": True}
        for name, uid in uids.items()
    ]
    http.post(path, a_config_map("dependent", ownerReferences=owners))
    http.delete(f"{path}/goes", {"propagationPolicy": "Foreground"})
    wait_for(lambda: http.get(f"{path}/goes").status == 404)
    left = http.get(f"{path}/dependent").body["metadata"]
    assert [owner["name"] for owner in left["ownerReferences"]] == ["stays"]
    assert "deletionTimestamp" not in left
