"""Merge patches of one object at the same time: one request, in no other order than one after the other would allow."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from shared.adapters.kube import ApiError
from shared.adapters.kube.joint import JointPatches
from shared.api.manifest import Manifest
from shared.domain.merge_patch import merged
from shared.kinds import CONFIG_MAP, Ref
from tests.kit.waiting import wait_for

REF, OTHER = CONFIG_MAP.ref("a", "ns"), CONFIG_MAP.ref("b", "ns")


class Server:
    """Holds its answer to the first patch back, and refuses what names `bad`."""

    def __init__(self) -> None:
        self.asked: list[Manifest] = []
        self.present: Manifest = {}
        self.has_first, self.may_go = threading.Event(), threading.Event()

    def send(self, ref: Ref, content: Manifest) -> Manifest:
        self.asked.append(content)
        if len(self.asked) == 1:
            self.has_first.set()
            assert self.may_go.wait(10)
        if "bad" in content:
            raise ApiError(422, "Invalid", "bad")
        self.present = merged(self.present, content)
        return self.present


def all_of(patches: JointPatches, server: Server, *contents: Manifest) -> list[Future[Manifest]]:
    """The ends of the patches, of which all but the first were sent while that one was on its way."""
    with ThreadPoolExecutor(len(contents)) as pool:
        ends = [pool.submit(patches.merge, REF, contents[0], server.send)]
        assert server.has_first.wait(10)
        for number, content in enumerate(contents[1:], start=1):
            ends.append(pool.submit(patches.merge, REF, content, server.send))
            wait_for(is_waiting(patches, number))
        server.may_go.set()
    return ends


def is_waiting(patches: JointPatches, number: int) -> Callable[[], bool]:
    return lambda: len(patches._waiting[REF]) == number  # why: nothing else shows it from outside


def test_what_comes_while_one_is_on_its_way_goes_together() -> None:
    patches, server = JointPatches(), Server()
    ends = all_of(patches, server, {"a": 1}, {"b": 2}, {"c": None}, {"d": 4})
    assert server.asked == [{"a": 1}, {"b": 2, "c": None, "d": 4}]
    assert [end.result() for end in ends] == [{"a": 1}, *[{"a": 1, "b": 2, "d": 4}] * 3]
    assert patches.merge(REF, {"e": 5}, server.send) == {"a": 1, "b": 2, "d": 4, "e": 5}


def test_patches_that_contradict_each_other_go_one_after_the_other() -> None:
    server = Server()
    ends = all_of(JointPatches(), server, {"a": 1}, {"b": 2}, {"b": 3}, {"c": 4})
    assert server.asked == [{"a": 1}, {"b": 2, "c": 4}, {"b": 3}]
    assert [end.result()["b"] for end in ends[1:]] == [2, 3, 2]


def test_one_that_is_refused_stops_itself_alone() -> None:
    server = Server()
    good, first, bad, last = all_of(JointPatches(), server, {"a": 1}, {"b": 2}, {"bad": 3}, {"c": 4})
    assert (good.result(), server.present) == ({"a": 1}, {"a": 1, "b": 2, "c": 4})
    assert [first.exception(), last.exception()] == [None, None]
    with pytest.raises(ApiError, match="bad"):
        bad.result()


def test_a_failure_of_one_thread_leaves_nobody_waiting() -> None:
    def fail(ref: Ref, content: Manifest) -> Manifest:
        raise OSError(f"{ref} {content}")

    patches, server = JointPatches(), Server()
    server.may_go.set()
    with pytest.raises(OSError, match="ConfigMap"):
        patches.merge(REF, {"a": 1}, fail)
    assert patches.merge(REF, {"a": 1}, server.send) == {"a": 1}


def test_a_patch_that_cannot_be_read_through_leaves_nobody_waiting() -> None:
    deep: Manifest = {}
    for _ in range(10_000):
        deep = {"a": deep}
    patches, server = JointPatches(), Server()
    ends = all_of(patches, server, {"b": 1}, deep, deep)
    assert isinstance(ends[1].exception(), RecursionError)
    assert patches.merge(OTHER, {"c": 1}, server.send) == server.present
    assert REF not in patches._waiting


def test_another_object_waits_for_nothing() -> None:
    patches, server = JointPatches(), Server()
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(patches.merge, REF, {"a": 1}, server.send)
        assert server.has_first.wait(10)
        assert patches.merge(OTHER, {"b": 2}, server.send) == {"b": 2}
        server.may_go.set()
        assert slow.result() == {"b": 2, "a": 1}
