"""The store: revisions, history, feeds."""

from __future__ import annotations

from eventing.local.apiserver import store as module
from eventing.local.apiserver.store import Key, Store
from shared.api.manifest import Manifest

A: Key = ("/configmaps", "n", "a")


def _object(name: str = "a") -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def test_every_write_has_a_revision_of_its_own() -> None:
    store = Store()
    first, second = store.put(A, _object()), store.put(A, _object())
    gone = store.remove(A)
    assert (second.revision - first.revision, gone.revision - second.revision) == (1, 1)
    assert [one.manifest["metadata"]["resourceVersion"] for one in (first, second, gone)] == ["2", "3", "4"]


def test_a_feed_has_what_came_after_its_revision_in_order() -> None:
    store = Store()
    first = store.put(A, _object())
    store.put(("/secrets", "n", "x"), _object("x"))
    store.put(A, _object())
    feed = store.subscribe("/configmaps", first.revision)
    store.remove(A)
    assert [(change.type, change.now.revision) for change in feed.take()] == [("MODIFIED", 4), ("DELETED", 5)]
    assert feed.take() == []


def test_a_feed_that_was_closed_hears_nothing() -> None:
    store = Store()
    feed = store.subscribe("/configmaps", store.revision)
    store.unsubscribe(feed)
    store.put(A, _object())
    assert feed.take() == []


def test_a_reader_that_is_too_slow_gets_no_more_and_has_to_ask_again() -> None:
    store = Store()
    feed = store.subscribe("/configmaps", store.revision)
    for _ in range(module.HISTORY + 5):
        store.put(A, _object())
    assert feed.is_over
    assert feed.take() == []


def test_large_changes_do_not_pile_up_for_a_slow_reader() -> None:
    store = Store()
    feed = store.subscribe("/configmaps", store.revision)
    text = "x" * (module.PENDING_BYTES // 10)
    for _ in range(9):
        store.put(A, {**_object(), "data": {"k": text}})
    assert (feed.is_over, len(feed.take())) == (False, 9)
    for _ in range(11):
        store.put(A, {**_object(), "data": {"k": text}})
    assert (feed.is_over, feed.take()) == (True, [])


def test_the_history_reaches_back_only_so_far() -> None:
    store = Store()
    for _ in range(module.HISTORY + 5):
        store.put(A, _object())
    oldest = store.revision - module.HISTORY
    assert (store.reaches(oldest), store.reaches(oldest - 1)) == (True, False)
    assert len(store.subscribe("/configmaps", oldest).take()) == module.HISTORY


def test_a_stored_object_is_not_changed_by_changing_its_copy() -> None:
    store = Store()
    stored = store.put(A, _object())
    stored.copy()["metadata"]["name"] = "other"
    assert store.list("/configmaps")[0].manifest["metadata"]["name"] == "a"


def test_the_history_is_bounded_in_bytes() -> None:
    store = Store()
    for _ in range(20):
        store.put(A, {**_object(), "data": {"k": "x" * (module.HISTORY_BYTES // 10)}})
    assert not store.reaches(store.revision - 10)
    assert store.reaches(store.revision - 9)


def test_a_reader_that_does_not_read_is_disconnected() -> None:
    store = Store()
    feed = store.subscribe("/configmaps", store.revision)
    for _ in range(module.HISTORY + 1):
        store.put(A, _object())
    assert feed.is_over
