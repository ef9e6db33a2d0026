"""A capture replays the same with the same code, differs where a step decides otherwise, and needs no cluster."""

from __future__ import annotations

import io
import tarfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from eventing.diagnosis.replay import NotACapture, Report, open_capture, replay
from eventing.journal import JournalIndex
from eventing.journal.records import unpack_run
from eventing.runner import Runner
from eventing.workqueue import Claim
from shared import names
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest, resource_version_of
from shared.domain.catalog.model import Bundle, Channel, Entry, Package, Property
from shared.domain.image_source import ImageSource
from shared.errors import RetryLater, Terminal
from shared.kinds import CONFIG_MAP, SECRET, Ref
from shared.ports import Attempt, Catalogs, Clock, Cluster, Discovery, Policy, Pulled, Unavailable
from shared.step import NOTHING, Apply, Create, Emit, Outcome, SetStatus, Wait
from tests.eventing.effects.fake_api import FakeApi
from tests.kit.captures import captured
from tests.kit.cluster import FixedClock
from tests.kit.one_step import OneStep

ONE = CONFIG_MAP.ref("one", "olm")
SOURCE = ImageSource("registry/catalog:v1", "olm")
PACKAGE = Package(
    "etcd",
    "alpha",
    (Channel("alpha", (Entry("etcd.v1", skips=("etcd.v0",)),)),),
    {"etcd.v1": Bundle("etcd.v1", "1.0.0", "registry/etcd:v1", (Property("olm.package", {"packageName": "etcd"}),))},
)


class OneCatalog:
    """Catalogs of which one is there."""

    def pull(self, source: ImageSource) -> Pulled | Unavailable:
        if source == SOURCE:
            return Pulled("registry/catalog@sha256:1", 1)
        return Unavailable("NotFound", f"{source.image} is not there")

    def package(self, reference: str, name: str, source: ImageSource) -> Package | Unavailable | None:
        return PACKAGE if name == PACKAGE.name else None

    def packages(self, reference: str, source: ImageSource) -> tuple[str, ...] | Unavailable:
        return (PACKAGE.name,)


def ask_everything(
    ref: Ref, cluster: Cluster, clock: Clock, catalogs: Catalogs, discovery: Discovery, policy: Policy, attempt: Attempt
) -> Outcome:
    """Tells in a status what every port said, with its type."""
    output: list[Any] = [
        cluster.get(ref),
        cluster.get(CONFIG_MAP.ref("none", "olm")),
        cluster.list(CONFIG_MAP, "olm", labels={"a": "b"}),
        cluster.list(CONFIG_MAP),
        clock.now(),
        catalogs.pull(SOURCE),
        catalogs.pull(ImageSource("registry/none", "olm")),
        catalogs.package("reference", "etcd", SOURCE),
        catalogs.package("reference", "none", SOURCE),
        catalogs.packages("reference", SOURCE),
        discovery.version(),
        discovery.find("v1", "ConfigMap"),
        discovery.find("v1", "None"),
        policy,
        attempt,
    ]
    wait = Wait("nothing", clock.now(), clock.now() + timedelta(seconds=3))
    emit = Emit("io.olmf.resync.requested", ref)
    status = SetStatus(ref, {"said": repr(output)}, resource_version_of(output[0]))
    return Outcome((status,), (emit,), timedelta(minutes=1), "asked all", wait)


def apply_one(ref: Ref, cluster: Cluster) -> Outcome:
    return Outcome((Apply({**a_map("two"), "data": {"seen": str(cluster.get(ref) is not None)}}),), summary="seen")


def apply_other(ref: Ref, cluster: Cluster) -> Outcome:
    return Outcome(
        (Apply({**a_map("two"), "data": {"seen": "differently"}}),), summary=str(cluster.get(ref) and "seen")
    )


def ask_more(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    cluster.list(SECRET)
    return apply_one(ref, cluster)


def ask_for_clock(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    clock.now()
    return apply_one(ref, cluster)


def ask_by_name(ref: Ref, cluster: Cluster) -> Outcome:
    return apply_one(ref, SimpleNamespace(get=lambda asked: cluster.get(ref=asked)))


def list_plainly(ref: Ref, cluster: Cluster) -> Outcome:
    return Outcome(summary=str(len(cluster.list(CONFIG_MAP))))


def list_in_full(ref: Ref, cluster: Cluster) -> Outcome:
    return Outcome(summary=str(len(cluster.list(kind=CONFIG_MAP, namespace="", labels=None))))


def copy_secret(ref: Ref, cluster: Cluster) -> Outcome:
    found = cluster.get(ref) or {}
    copied = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "copy", "namespace": "olm"}}
    return Outcome((Create({**copied, "data": found.get("data")}),))


def raise_retry(ref: Ref, clock: Clock) -> Outcome:
    raise RetryLater("not yet", timedelta(seconds=9), wait=Wait("it", clock.now()))


def raise_terminal(ref: Ref) -> Outcome:
    raise Terminal("InvalidRange", "'>=x' is no range")


def raise_bug(ref: Ref, cluster: Cluster) -> Outcome:
    cluster.get(ref)
    raise KeyError("one")


def a_map(name: str = "one", **labels: str) -> Manifest:
    meta = {"name": name, "namespace": "olm", "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"text": "x" * 500}}


def a_claim(step: str = "demo/step", ref: Ref = ONE) -> Claim:
    return Claim(step, ref, "demo", "direct", 1)


def record(
    call: Any, api: FakeApi, index: JournalIndex, *, step: str = "demo/step", ref: Ref = ONE, runs: int = 1
) -> None:
    ports: dict[type, object] = {
        Cluster: api,
        Discovery: api,
        Catalogs: OneCatalog(),
        Policy: Policy(global_namespace="other"),
    }
    runner = Runner(ports, api, FixedClock(), steps=OneStep(call))
    for _ in range(runs):
        index.add(unpack_run(runner.run(a_claim(step, ref), lambda *_: True).record))


def replay_with(call: Any, index: JournalIndex, path: Path, **arguments: Any) -> Report:
    captured(index, path)
    return replay(path, steps=OneStep(call), **arguments)


def results(report: Report) -> list[str]:
    return [each.result for each in report.replayed]


def test_every_port_answers_as_it_did_and_with_the_same_types(tmp_path: Path) -> None:
    index = JournalIndex()
    record(ask_everything, FakeApi([a_map(), a_map("two", a="b")]), index)
    report = replay_with(ask_everything, index, tmp_path / "incident.tar")
    assert [each.detail for each in report.replayed] == [""]
    assert report.exit_code == 0


@pytest.mark.parametrize("step", [raise_retry, raise_terminal, raise_bug])
def test_errors_are_outcomes_too(step: Any, tmp_path: Path) -> None:
    index = JournalIndex()
    record(step, FakeApi([a_map()]), index)
    assert replay_with(step, index, tmp_path / "incident.tar").exit_code == 0
    assert replay_with(lambda_step, index, tmp_path / "incident.tar").exit_code == 1


def retry_without_time(ref: Ref, clock: Clock) -> Outcome:
    clock.now()
    raise RetryLater("not yet", timedelta(seconds=9), wait=Wait("it"))


def test_since_when_something_is_waited_for_is_not_compared(tmp_path: Path) -> None:
    """Earlier builds stated the time of the run."""
    index = JournalIndex()
    record(raise_retry, FakeApi([a_map()]), index)
    assert replay_with(retry_without_time, index, tmp_path / "incident.tar").exit_code == 0
    index = JournalIndex()
    record(retry_without_time, FakeApi([a_map()]), index)
    assert replay_with(raise_retry, index, tmp_path / "later.tar").exit_code == 0


def emit_formerly(ref: Ref) -> Outcome:
    return Outcome(emits=(Emit("io.olmf.dependent.rang", ref),))


def emit_now(ref: Ref) -> Outcome:
    return Outcome(emits=(Emit(names.DEPENDENT_CHANGED, ref),))


def test_an_event_by_its_former_type_is_the_same_decision(tmp_path: Path) -> None:
    index = JournalIndex()
    record(emit_formerly, FakeApi(), index)
    assert results(replay_with(emit_now, index, tmp_path / "incident.tar")) == ["same"]


def lambda_step(ref: Ref) -> Outcome:
    return NOTHING


def test_a_port_that_failed_fails_again(tmp_path: Path) -> None:
    index, api = JournalIndex(), FakeApi([a_map()])
    api.refuse("get", "one", ApiError(503, "ServiceUnavailable", "starting"))
    record(apply_one, api, index)
    assert replay_with(apply_one, index, tmp_path / "incident.tar").exit_code == 0


@pytest.mark.parametrize(
    ("today", "word"),
    [
        pytest.param(apply_other, "differently", id="another write"),
        pytest.param(ask_more, "was not asked", id="a question that was not asked"),
        pytest.param(ask_for_clock, "Clock.now", id="a port that was not asked"),
        pytest.param(lambda_step, '-  "summary": "seen"', id="another summary"),
    ],
)
def test_a_step_that_decides_otherwise_differs(today: Any, word: str, tmp_path: Path) -> None:
    index = JournalIndex()
    record(apply_one, FakeApi([a_map()]), index)
    report = replay_with(today, index, tmp_path / "incident.tar")
    assert report.exit_code == 1
    assert word in report.replayed[0].detail


def test_the_same_call_may_be_written_otherwise(tmp_path: Path) -> None:
    index = JournalIndex()
    record(apply_one, FakeApi([a_map()]), index)
    assert replay_with(ask_by_name, index, tmp_path / "incident.tar").exit_code == 0


def test_a_default_need_not_be_written(tmp_path: Path) -> None:
    for then, today in ((list_plainly, list_in_full), (list_in_full, list_plainly)):
        index = JournalIndex()
        record(then, FakeApi([a_map()]), index)
        assert replay_with(today, index, tmp_path / "incident.tar").exit_code == 0


def test_a_step_that_copies_a_secret_replays_without_it(tmp_path: Path) -> None:
    index, ref = JournalIndex(), SECRET.ref("token", "olm")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "token", "namespace": "olm"}}
    record(copy_secret, FakeApi([{**secret, "data": {"password": "aHVudGVyMg=="}}]), index, ref=ref)
    path = tmp_path / "incident.tar"
    assert replay_with(copy_secret, index, path).exit_code == 0
    assert b"aHVudGVyMg" not in path.read_bytes()


def test_decisions_after_a_conflict_are_replayed_each(tmp_path: Path) -> None:
    index, api = JournalIndex(), FakeApi([a_map()])
    api.refuse("apply", "two", ApiError(409, "Conflict", "changed"))
    record(apply_one, api, index)
    assert results(replay_with(apply_one, index, tmp_path / "incident.tar")) == ["same", "same"]


def test_objects_are_captured_without_secret_data(tmp_path: Path) -> None:
    path = tmp_path / "incident.tar.gz"
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"}, "data": {"password": "aHVudGVyMg=="}}
    captured(JournalIndex(), path, [secret, a_map()])
    locked = open_capture(path).objects
    assert [manifest["kind"] for manifest in locked] == ["Secret", "ConfigMap"]
    assert "aHVudGVyMg" not in repr(locked)
    captured(JournalIndex(), path, [secret, a_map()])
    assert open_capture(path).objects[0] != locked[0], "whoever knows the key can try passwords"


def test_a_run_whose_body_was_trimmed_is_skipped(tmp_path: Path) -> None:
    index = JournalIndex()
    record(apply_one, FakeApi([a_map()]), index)
    index.bodies.clear()
    report = replay_with(apply_one, index, tmp_path / "incident.tar")
    assert results(report) == ["skipped"]
    assert report.exit_code == 3


def test_a_capture_takes_a_span_of_time_and_the_bodies_it_needs(tmp_path: Path) -> None:
    index, api = JournalIndex(), FakeApi([a_map()])
    record(apply_one, api, index, runs=3)
    _, second, third = index.runs.values()
    path = tmp_path / "incident.tar"
    assert captured(index, path, since_ms=second.at, until_ms=second.at) >= 1
    assert second.id in open_capture(path).index.runs
    assert replay(path, steps=OneStep(apply_one)).exit_code == 0
    assert captured(index, path, since_ms=third.at + 1_000) == 0


def test_one_step_may_be_replayed_only(tmp_path: Path) -> None:
    index, api = JournalIndex(), FakeApi([a_map()])
    record(apply_one, api, index, step="demo/one")
    record(apply_one, api, index, step="demo/two")
    for only in ("two", "demo/two"):
        report = replay_with(apply_other, index, tmp_path / "incident.tar", only=only)
        assert [each.run.step for each in report.replayed] == ["demo/two"]


def test_a_replay_may_end_early(tmp_path: Path) -> None:
    index, api = JournalIndex(), FakeApi([a_map()])
    record(apply_one, api, index, runs=3)
    last = list(index.runs)[1]
    path = tmp_path / "incident.tar"
    assert len(replay_with(apply_one, index, path, until=last).replayed) == 2
    assert len(replay_with(apply_one, index, path, on_each=lambda each: False).replayed) == 1


def a_tar(path: Path, name: str, content: bytes) -> Path:
    return a_capture(path, {name: content})


def a_capture(path: Path, members: dict[str, bytes], mode: Literal["w", "w:gz"] = "w") -> Path:
    with tarfile.open(path, mode) as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def test_what_is_no_capture_is_reported(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no tar")
    for path in (
        text,
        a_tar(tmp_path / "other.tar", "other", b"x"),
        a_tar(tmp_path / "version.tar", "capture.json", b'{"version":99}\n'),
        a_tar(tmp_path / "json.tar", "capture.json", b"{\n"),
    ):
        with pytest.raises(NotACapture, match=path.name) as error:
            open_capture(path)
        assert "\n" not in str(error.value)


EMPTY = {"capture.json": b'{"version":1}\n', **dict.fromkeys(("events.jsonl", "runs.jsonl", "bodies.jsonl"), b"")}


@pytest.mark.parametrize(
    ("members", "want"),
    [
        pytest.param(
            {"events.jsonl": b'{"id":"1","type":"t","ref":"odd","at":1}\n'}, "'odd' is not a ref", id="an event"
        ),
        pytest.param({"objects.jsonl": b'{"kind":1}\n'}, "its kind is not text: 1", id="an object"),
    ],
)
def test_a_capture_reports_objects_only(tmp_path: Path, members: dict[str, bytes], want: str) -> None:
    path = a_capture(tmp_path / "odd.tar", EMPTY | {"objects.jsonl": b""} | members)
    with pytest.raises(NotACapture, match=want):
        open_capture(path)


def test_a_capture_that_a_disk_damaged_is_none(tmp_path: Path) -> None:
    lines = b"".join(b'{"id":"%d","type":"t","ref":"v1/ConfigMap/a/%d","at":1}\n' % (at, at**5) for at in range(3000))
    path = a_capture(tmp_path / "good.tar.gz", EMPTY | {"events.jsonl": lines, "objects.jsonl": b""}, "w:gz")
    assert len(open_capture(path).index.events) == 3000
    content = path.read_bytes()
    for place in range(200, len(content), 500):
        path.write_bytes(content[:place] + bytes(20) + content[place + 20 :])
        with pytest.raises(NotACapture, match=path.name):
            open_capture(path)


def test_the_clock_of_the_recording_is_the_clock(tmp_path: Path) -> None:
    index, api = JournalIndex(), FakeApi([a_map()])
    early = datetime(2020, 1, 1, tzinfo=UTC)
    runner = Runner({Cluster: api}, api, FixedClock(early), steps=OneStep(return_time))
    index.add(unpack_run(runner.run(a_claim(), lambda *_: True).record))
    assert replay_with(return_time, index, tmp_path / "incident.tar").exit_code == 0


def return_time(ref: Ref, clock: Clock) -> Outcome:
    return Outcome(summary=str(clock.now()))
