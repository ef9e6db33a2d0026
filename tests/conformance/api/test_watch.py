"""Watches: what comes, in which order, from when on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tests.conformance.api.objects import a_config_map, core
from tests.conformance.http import Api


def _secret(name: str, **labels: str) -> Any:
    return {"metadata": {"name": name, "labels": labels}}


def _reported(events: Iterator[Any], count: int) -> list[tuple[str, str]]:
    return [(event["type"], event["object"]["metadata"]["name"]) for event in itertools.islice(events, count)]


def _version(http: Api, namespace: str) -> str:
    return str(http.get(core(namespace, "secrets")).body["metadata"]["resourceVersion"])


def test_a_watch_reports_what_happened_since_a_version(http: Api, namespace: str) -> None:
    path, since = core(namespace, "secrets"), _version(http, namespace)
    http.post(path, _secret("a"))
    http.patch(f"{path}/a", {"metadata": {"labels": {"x": "y"}}})
    http.delete(f"{path}/a")
    with http.watch(f"{path}?watch=1&resourceVersion={since}") as events:
        assert _reported(events, 3) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


def test_a_watch_reports_what_happens_while_it_is_open(http: Api, namespace: str) -> None:
    path = core(namespace, "secrets")
    with http.watch(f"{path}?watch=1&resourceVersion={_version(http, namespace)}") as events:
        http.post(path, _secret("a"))
        assert _reported(events, 1) == [("ADDED", "a")]
        http.post(path, _secret("b"))
        assert _reported(events, 1) == [("ADDED", "b")]


def test_a_watch_without_a_version_begins_with_what_is_there(http: Api, namespace: str) -> None:
    path = core(namespace, "secrets")
    http.post(path, _secret("a"))
    http.post(path, _secret("b"))
    with http.watch(f"{path}?watch=1") as events:
        assert _reported(events, 2) == [("ADDED", "a"), ("ADDED", "b")]


def test_a_deletion_carries_the_version_of_the_deletion(http: Api, namespace: str) -> None:
    path = core(namespace, "secrets")
    made = http.post(path, _secret("a")).body["metadata"]["resourceVersion"]
    http.delete(f"{path}/a")
    with http.watch(f"{path}?watch=1&resourceVersion={made}") as events:
        gone = next(events)
    assert gone["type"] == "DELETED"
    assert int(gone["object"]["metadata"]["resourceVersion"]) > int(made)


def test_an_object_that_leaves_the_selection_is_deleted_for_the_watcher(http: Api, namespace: str) -> None:
    path, since = core(namespace, "secrets"), _version(http, namespace)
    http.post(path, _secret("a"))
    for value in ("in", "in2", "out"):
        http.patch(f"{path}/a", {"metadata": {"labels": {"x": value}}})
    with http.watch(f"{path}?watch=1&resourceVersion={since}&labelSelector=x in (in,in2)") as events:
        assert _reported(events, 3) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


def test_a_watch_of_one_name_hears_of_no_other(http: Api, namespace: str) -> None:
    path, since = core(namespace, "secrets"), _version(http, namespace)
    for name in ("a", "b"):
        http.post(path, _secret(name))
    with http.watch(f"{path}?watch=1&resourceVersion={since}&fieldSelector=metadata.name=b") as events:
        assert _reported(events, 1) == [("ADDED", "b")]


def test_a_watch_of_all_namespaces_hears_of_each(http: Api, namespace: str) -> None:
    since = http.get("/api/v1/configmaps?limit=1").body["metadata"]["resourceVersion"]
    http.post(core(namespace, "configmaps"), a_config_map(namespace))
    with http.watch(f"/api/v1/configmaps?watch=1&resourceVersion={since}") as events:
        found = next(event for event in events if event["object"]["metadata"]["name"] == namespace)
    assert found["object"]["metadata"]["namespace"] == namespace


def test_a_watch_ends_after_its_time(http: Api, namespace: str) -> None:
    since = _version(http, namespace)
    with http.watch(f"{core(namespace, 'secrets')}?watch=1&resourceVersion={since}&timeoutSeconds=1") as events:
        assert list(events) == []


def test_initial_events_end_with_a_bookmark(http: Api, namespace: str) -> None:
    path = core(namespace, "secrets")
    http.post(path, _secret("a"))
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    with http.watch(f"{path}?{query}") as events:
        first, second = itertools.islice(events, 2)
    assert (first["type"], first["object"]["metadata"]["name"]) == ("ADDED", "a")
    assert second["type"] == "BOOKMARK"
    assert second["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert second["object"]["metadata"]["resourceVersion"].isdigit()


def test_events_have_the_version_of_their_object(http: Api, namespace: str) -> None:
    path, since = core(namespace, "secrets"), _version(http, namespace)
    made = [http.post(path, _secret(name)).body["metadata"]["resourceVersion"] for name in ("a", "b")]
    with http.watch(f"{path}?watch=1&resourceVersion={since}") as events:
        seen = [event["object"]["metadata"]["resourceVersion"] for event in itertools.islice(events, 2)]
    assert seen == made


def test_the_end_of_what_is_there_is_marked_for_who_takes_bookmarks(http: Api, namespace: str) -> None:
    path = core(namespace, "secrets")
    http.post(path, _secret("a"))
    with http.watch(f"{path}?watch=1&allowWatchBookmarks=true") as events:
        assert next(events)["type"] == "ADDED"
        mark = next(event for event in events if event["type"] == "BOOKMARK")
    assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert set(mark["object"]["metadata"]) == {"annotations", "resourceVersion"}
