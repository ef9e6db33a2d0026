"""A worker that is killed, or a Redis that forgets, at any write of a roll-out, an upgrade or an uninstall."""

from __future__ import annotations

import os
from typing import Any

import pytest

from eventing.events.job import Job
from shared import names
from shared.kinds import CONFIG_MAP, WATCHED
from shared.step import Outcome
from tests.functions.cluster_extension.world import (
    EXTENSION,
    PLACE,
    World,
    a_bundle,
    a_config_map,
    an_extension,
)
from tests.functions.subscription.world import a_package

pytestmark = pytest.mark.unmeasured

SETTINGS, EXTRA = (CONFIG_MAP.ref(f"etcd-{name}", PLACE) for name in ("settings", "extra"))
KINDS = {(kind.api_version, kind.kind) for kind in WATCHED}
WRITES = 56
"""Of the whole story, where nobody is killed."""
EVERY = int(os.environ.get("KILL_EVERY", "17"))
"""1 kills at each of them, in three minutes."""


class Killed(BaseException):
    """The end of a process, which nothing catches."""


class Mortal(World):
    """A worker that is killed once at a write; the queue then gives back what it ran, or has forgotten everything."""

    def __init__(self, at: int, *, is_done: bool, is_flushed: bool) -> None:
        super().__init__()
        self.left, self.is_done, self.is_flushed, self.is_at_work = at, is_done, is_flushed, False
        self.request, self.api.request = self.api.request, self._request  # type: ignore[method-assign]  # whoever asks

    def _request(self, method: str, *words: Any, **named: Any) -> Any:
        if method == "GET" or not self.is_at_work:
            return self.request(method, *words, **named)
        self.left -= 1
        if self.left == 0 and not self.is_done:
            raise Killed
        answer = self.request(method, *words, **named)
        if self.left == 0:
            raise Killed
        return answer

    def run(self, job: Job) -> Outcome:
        self.is_at_work = True
        try:
            return super().run(job)
        except Killed:
            self.queue.add(job, "event")
            if self.is_flushed:
                self.forget()
            return Outcome()
        finally:
            self.is_at_work = False

    def forget(self) -> None:
        """Redis is empty; the watcher begins again, and tells of all there is."""
        self.jobs.clear()
        self.delayed.clear()
        for ref in [ref for ref in self.objects if (ref.api_version, ref.kind) in KINDS]:
            self.receive(names.ADDED, ref)

    def rest(self) -> None:
        """Work until nothing comes to it any more."""
        self.settle()
        for _ in range(4):
            self.runs()
            self.later(seconds=11)


def a_story(at: int = 0, *, is_done: bool = False, is_flushed: bool = False) -> Mortal:
    """An extension is installed, upgraded and deleted."""
    world = Mortal(at, is_done=is_done, is_flushed=is_flushed)
    for place in (PLACE, "olm"):
        world.objects.setdefault_namespace(place)
    world.bundles.images["registry/etcd:v1.0.0"] = a_bundle("etcd", "1.0.0", a_config_map(EXTRA.name, a="b"))
    world.bundles.images["registry/etcd:v1.1.0"] = a_bundle("etcd", "1.1.0")
    world.publish(a_package("etcd", "1.0.0", "1.1.0"))
    world.put(an_extension(version="1.0.0"))
    world.rest()
    assert world.conditions()["Progressing"] == ("True", "Succeeded", "Revision 1.0.0 has rolled out.")
    assert EXTRA in world.objects
    with world.edited(EXTENSION) as found:
        found["spec"]["source"]["catalog"]["version"] = "1.1.0"
        found["metadata"]["generation"] = 2
    world.rest()
    assert world.conditions()["Progressing"] == ("True", "Succeeded", "Revision 1.1.0 has rolled out.")
    assert world.conditions(world.revision(1))["Progressing"][1] == "Archived"
    assert world.objects[SETTINGS]["data"] == {"version": "1.1.0"}
    assert EXTRA not in world.objects
    assert world.status()["activeRevisions"] == [{"name": "etcd-2"}]
    world.api.delete(EXTENSION)
    world.rest()
    left = {ref for ref in world.objects if ref.kind not in ("ClusterCatalog", "Event", "ServiceAccount", "Namespace")}
    assert not left
    return world


def test_nobody_is_killed() -> None:
    assert -a_story().left == WRITES, "the kills are spread over the whole story"


@pytest.mark.parametrize("is_flushed", [False, True], ids=["given back", "forgotten"])
@pytest.mark.parametrize("at", range(1, WRITES, EVERY))
def test_a_story_ends_alike_wherever_it_is_interrupted(at: int, is_flushed: bool) -> None:
    world = a_story(at, is_done=at % 2 == 0, is_flushed=is_flushed)
    assert world.left < 0, "it was killed on its way"
