"""The watches of kinds that nobody but a ClusterObjectSet needs, on the sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from eventing.events.event import Event
from eventing.routes import jobs_for
from eventing.watch import demands
from eventing.watch.demands import Demands, Means
from eventing.watch.older_lists import Restored
from eventing.watch.program import Watcher
from shared import names
from shared.adapters.kube import Connection, KubeClient, connect
from shared.api.crds import definitions
from shared.api.manifest import Manifest, uid_of
from shared.kinds import CLUSTER_OBJECT_SET, CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, SECRET, Ref
from tests.functions.cluster_object_set.test_revisions import a_set, held
from tests.functions.subscription.world import a_crd
from tests.kit.sandbox import running_sandbox
from tests.kit.waiting import PATIENCE_SECONDS

REVISION = CLUSTER_OBJECT_SET.ref("set-1")
NOTE = SECRET.ref("note", "default")
GAUGE = Ref("example.com/v1", "Etcds", "gauge", "default")


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_sandbox(tmp_path_factory.mktemp("sandbox")) as path:
        client = KubeClient.from_kubeconfig(str(path))
        for definition in definitions():
            client.create(definition)
        yield str(path)


@pytest.fixture
def cluster(kubeconfig: str) -> Iterator[KubeClient]:
    client = KubeClient.from_kubeconfig(kubeconfig)
    yield client
    for ref in (REVISION, NOTE, GAUGE, CUSTOM_RESOURCE_DEFINITION.ref("etcds.example.com")):
        if client.get(ref):
            client.delete(ref)


@asynccontextmanager
async def watching(kubeconfig: str) -> AsyncIterator[tuple[Watcher, list[Event]]]:
    heard: list[Event] = []

    def sink(events: Sequence[Event]) -> None:
        heard.extend(events)

    watcher = Watcher(connect(kubeconfig), sink, kinds=(CLUSTER_OBJECT_SET, CUSTOM_RESOURCE_DEFINITION), seconds=60)
    task = asyncio.create_task(watcher.run())
    try:
        yield watcher, heard
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():
            await asyncio.sleep(0.01)


def about(heard: list[Event], ref: Ref) -> list[str]:
    """The verbs of the events about an object."""
    return [one.id.rpartition(".")[2] for one in heard if one.ref == ref]


def an_object(ref: Ref, owner: Manifest | None) -> Manifest:
    meta: Manifest = {"name": ref.name, "namespace": ref.namespace}
    if owner:
        meta["labels"] = {names.V1_MANAGED_BY: names.V1_MANAGER}
        meta["ownerReferences"] = [
            {"apiVersion": REVISION.api_version, "kind": REVISION.kind, "name": REVISION.name, "uid": uid_of(owner)}
        ]
    return {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": meta}


def a_revision(cluster: KubeClient, *objects: Ref) -> Manifest:
    return cluster.create(a_set(held(*(an_object(ref, None) for ref in objects))))


def test_a_kind_is_watched_as_long_as_a_revision_has_objects_of_it(kubeconfig: str, cluster: KubeClient) -> None:
    async def story() -> None:
        revision = a_revision(cluster, NOTE, CONFIG_MAP.ref("watched-anyway", "default"))
        async with watching(kubeconfig) as (watcher, heard):
            await until(lambda: watcher.demanded == {("v1", "Secret")})
            cluster.create(an_object(SECRET.ref("of-somebody", "default"), None))
            cluster.create(an_object(NOTE, revision))
            await until(lambda: about(heard, NOTE) == ["add"])
            cluster.delete(NOTE)
            await until(lambda: about(heard, NOTE) == ["add", "delete"])
            assert not about(heard, SECRET.ref("of-somebody", "default"))
            woken = {(job.step, job.ref) for one in heard if one.ref == NOTE for job in jobs_for(one)}
            assert woken == {(f"cluster_object_set/{step}", REVISION) for step in ("roll_out", "tear_down")}
            cluster.delete(REVISION)
            await until(lambda: not watcher.demanded)

    asyncio.run(story())


def test_a_kind_that_is_not_served_yet_is_watched_once_it_is(kubeconfig: str, cluster: KubeClient) -> None:
    async def story() -> None:
        async with watching(kubeconfig) as (watcher, heard):
            revision = a_revision(cluster, GAUGE)
            await until(lambda: watcher.demanded == {("example.com/v1", "Etcds")})
            cluster.create(a_crd("etcds.example.com"))
            await until(lambda: cluster.find(GAUGE.api_version, GAUGE.kind))
            cluster.create(an_object(GAUGE, revision))
            await until(lambda: about(heard, GAUGE))
            assert watcher.health.stale() == {}
            assert all("etcds" not in name for name in watcher.health.ages()), "it has no part in the health"

    asyncio.run(story())


def test_more_kinds_than_may_be_watched_are_left_to_the_audit(kubeconfig: str, cluster: KubeClient) -> None:
    async def story() -> None:
        many = [Ref("example.org/v1", f"Kind{number}", "x", "default") for number in range(50)]
        cluster.create(a_set(held(*(an_object(one, None) for one in many))))
        others = [Ref("example.net/v1", f"Kind{number}", "x", "default") for number in range(50)]
        second = a_set(held(*(an_object(one, None) for one in others)), name="set-2")
        cluster.create(second)
        async with watching(kubeconfig) as (watcher, _):
            await until(lambda: len(watcher.demanded) == 64)
        cluster.delete(Ref.of(second))

    asyncio.run(story())


def test_a_revision_that_was_recorded_is_read_by_its_annotation(kubeconfig: str, cluster: KubeClient) -> None:
    async def story() -> None:
        noted = a_set()
        noted["metadata"]["annotations"][names.KINDS_OF_OBJECTS] = "policy/v1/PodDisruptionBudget,/,no kind,v1/Secret"
        cluster.create(noted)
        async with watching(kubeconfig) as (watcher, _):
            await until(lambda: watcher.demanded == {("policy/v1", "PodDisruptionBudget"), ("v1", "Secret")})

    asyncio.run(story())


class Answering:
    """A session in which discovery answers with these in order, the last one again and again."""

    def __init__(self, *answers: bytes | Exception) -> None:
        self.answers, self.asked, self.status = list(answers), 0, 200

    @asynccontextmanager
    async def get(self, url: str, **_: Any) -> AsyncIterator[Answering]:
        self.asked += 1
        yield self

    async def read(self) -> bytes:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(b"null", id="null"),
        pytest.param(b'{"resources": [{"kind": "Etcds", "name": "etcds"}]}', id="an entry that lacks something"),
        pytest.param(RuntimeError("unforeseen"), id="what nobody foresaw"),
    ],
)
def test_a_broken_discovery_is_asked_again(broken: bytes | Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demands, "REFUSED_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(demands, "CRD_SETTLE_PAUSES_SECONDS", ())

    async def story() -> None:
        session = Answering(broken, b"{}")
        means = Means(
            cast("Any", session), Connection("http://x"), cast("Any", None), cast("Any", None), 60, Restored()
        )
        found = Demands(means, cast("Any", None))
        found.put(a_set(held(an_object(GAUGE, None))))
        await until(lambda: session.asked > 1)
        await until(lambda: found.watched == {("example.com/v1", "Etcds")})
        found.drop(("", REVISION.name))
        assert not found.watched

    asyncio.run(story())
