"""A catalog that takes long to pull says so on its CatalogSource, calmly, and no longer when it is here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
import structlog
from redis.exceptions import ConnectionError as RedisConnectionError

from eventing.journal.records import unpack_run
from eventing.runner import Runner
from eventing.runner.progress import LongRuns, Reporting
from eventing.workqueue import Claim
from eventing.workqueue.run_result import RunResult
from shared import names
from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.pulling import Puller
from shared.adapters.content.store import Store
from shared.adapters.oci.transport import Transport
from shared.adapters.progress import advanced
from shared.api.manifest import Manifest
from shared.domain.bundle.annotations import CONFIGS
from shared.domain.progress import Progress
from shared.kinds import CATALOG_SOURCE
from shared.ports import Catalogs, Cluster, Runs
from tests.adapters.content.test_catalogs import a_package
from tests.eventing.effects.fake_api import FakeApi
from tests.kit.cluster import FixedClock
from tests.kit.image_registry import ScriptedRegistry, a_file, a_layer, scripted_registry

REF = CATALOG_SOURCE.ref("local", "olm")
CLAIM = Claim("catalog_source/snapshot_catalog", REF, "catalog_source", "long", 7)


@pytest.fixture
def registry() -> Iterator[ScriptedRegistry]:
    with scripted_registry() as scripted:
        layers = [a_layer(a_file(f"configs/{name}.json", a_package(name))) for name in ("cup", "tea")]
        scripted.put("cat", "1", layers, {CONFIGS: "/configs"})
        yield scripted


def a_source(image: str) -> Manifest:
    return {
        "apiVersion": CATALOG_SOURCE.api_version,
        "kind": CATALOG_SOURCE.kind,
        "metadata": {"name": "local", "namespace": "olm"},
        "spec": {"sourceType": "grpc", "image": image},
        "status": {"connectionState": {"lastObservedState": "CONNECTING", "lastConnect": "2026-01-01T00:00:00Z"}},
    }


class Rig:
    """A long run on a cluster, as a worker runs it."""

    def __init__(self, image: str, folder: Path, *, seconds_per_look: float) -> None:
        self.api, self.journal, self.statuses = FakeApi(), list[bytes](), list[Manifest]()
        self.api.create(a_source(image))
        clock: Callable[[], float] = count(0, seconds_per_look).__next__
        self.runs = LongRuns(600, self.journal.append, clock)
        puller = Puller(lambda *_: None, Transport(attempts=1))
        ports: dict[type, Any] = {
            Cluster: self.api, Catalogs: ImageCatalogs(Store(folder), puller), Runs: self.runs
        }  # fmt: skip
        self.runner = Runner(ports, self.api, FixedClock())

    def run(self, claim: Claim = CLAIM) -> RunResult:
        return self.runs.run(claim, lambda one: self.runner.run(one, lambda *_: True))

    @property
    def status(self) -> Manifest:
        found = self.api.get(REF)
        assert found
        return found["status"]  # type: ignore[no-any-return]  # why: a manifest


def test_a_pull_that_takes_long_reports_how_far_it_is_and_then_that_it_is_here(
    registry: ScriptedRegistry, tmp_path: Path
) -> None:
    rig = Rig(f"{registry.address}/cat:1", tmp_path, seconds_per_look=1)
    result = rig.run()

    output = [unpack_run(record).run for record in rig.journal]
    assert {run.step for run in output} == {"catalog_source/report_progress"}
    assert all(not run.failure for run in output)
    summaries = [run.decisions[-1].summary for run in output]
    assert "pulling" in summaries[0]
    assert "of 2 layers" in summaries[0]
    assert rig.status["connectionState"]["lastObservedState"] == "READY"
    assert [one["type"] for one in rig.status["conditions"]] == [names.RESOLVED_CONTENT], "it pulls no longer"
    assert (result.failure, len(result.own_events)) == ("", len(output) + 1), "its own events wake nobody"
    assert len(unpack_run(result.record).run.decisions) == 1, "it is not decided twice"


def test_a_pull_that_fails_no_longer_reports_that_it_goes_on(registry: ScriptedRegistry, tmp_path: Path) -> None:
    registry.put("cat", "1", [b"no archive" * 1000], {CONFIGS: "/configs"})
    rig = Rig(f"{registry.address}/cat:1", tmp_path, seconds_per_look=2)
    rig.run()

    assert rig.journal
    assert rig.status["connectionState"]["lastObservedState"] == "TRANSIENT_FAILURE"
    assert "conditions" not in rig.status


def test_a_quick_pull_reports_nothing(registry: ScriptedRegistry, tmp_path: Path) -> None:
    rig = Rig(f"{registry.address}/cat:1", tmp_path, seconds_per_look=0)
    result = rig.run()

    assert (rig.journal, len(result.own_events)) == ([], 1)


def test_a_run_of_another_lane_reports_nothing(registry: ScriptedRegistry, tmp_path: Path) -> None:
    rig = Rig(f"{registry.address}/cat:1", tmp_path, seconds_per_look=100)
    rig.run(Claim(CLAIM.step, REF, CLAIM.group, "direct", 7))

    assert rig.journal == []


def test_how_far_it_is_is_known_only_during_the_run() -> None:
    runs = LongRuns(600, lambda _: None, lambda: 0.0)
    seen: list[Progress | None] = []

    def run(claim: Claim) -> RunResult:
        advanced("downloading", 5)
        seen.extend((runs.present, runs.progress(claim.ref), runs.progress(CATALOG_SOURCE.ref("another", "olm"))))
        return RunResult("run", b"{}")

    runs.run(CLAIM, run)
    assert seen == [Progress(1, 0, 600, "pulling"), Progress(1, 0, 600, "pulling"), None]
    assert runs.present is None


def test_a_report_that_fails_ends_no_run() -> None:
    runs = LongRuns(600, lambda _: None, count(0, 10).__next__)

    def run(claim: Claim) -> RunResult:
        if claim.step != CLAIM.step:
            raise RedisConnectionError("away")
        advanced("downloading", 5)
        return RunResult("run", b"{}")

    with structlog.testing.capture_logs() as logs:
        assert runs.run(CLAIM, run) == RunResult("run", b"{}")
    assert [entry["event"] for entry in logs] == ["progress_not_reported"]


def test_the_longer_it_takes_the_more_seldom_it_reports_it() -> None:
    now, output = 0.0, list[float]()
    reporting = Reporting(1, 600, lambda: output.append(now), lambda: now)
    for second in range(601):
        now = float(second)
        reporting.advance("downloading", 1, "")

    assert output[:5] == [3, 8, 13, 20, 30]
    assert len(output) <= 16
    assert max(later - earlier for earlier, later in pairwise(output)) == 60
