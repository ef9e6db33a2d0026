"""What a run read is kept with the code that read it, and only of a run that is complete."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

import shared
from eventing.events.job import RESOLVE, TRACK, Job
from eventing.runner import kept_reads
from eventing.runner.kept_reads import LARGEST, KeptReads, decoded, encoded
from eventing.runner.steps import Steps
from eventing.workqueue.run_result import RunResult
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest
from shared.kinds import NAMESPACE, SUBSCRIPTION
from tests.eventing.effects.fake_api import FakeApi
from tests.eventing.runner.test_run import ONE, a_claim, a_map, run

READ: Manifest = {"catalogs": {}}


@pytest.mark.parametrize(
    ("kept", "want"),
    [
        pytest.param(encoded("1.0+ab", READ), READ, id="the same code"),
        pytest.param(encoded("0.9+ab", READ), {}, id="other code may read something else"),
        pytest.param(encoded("1.0+ab", None), {}, id="the run knew nothing"),
        pytest.param(b"", {}, id="nothing is kept"),
        pytest.param(encoded("1.0+ab", {"catalogs": "x" * LARGEST}), {}, id="more than anybody may have kept"),
    ],
)
def test_only_the_same_code_knows_what_was_read(kept: bytes, want: object) -> None:
    assert decoded("1.0+ab", kept) == want


def test_other_rules_know_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept = encoded("1.0+ab", READ)
    (tmp_path / "resolver.py").write_text("asks for something else")
    monkeypatch.setattr(shared, "__path__", [str(tmp_path)])
    kept_reads._rules.cache_clear()
    assert decoded("1.0+ab", kept) == {}
    monkeypatch.undo()
    kept_reads._rules.cache_clear()
    assert decoded("1.0+ab", kept) == READ


def test_each_kind_has_the_step_that_reads_catalogs_for_it() -> None:
    steps, asked = Steps(), list[Job]()

    def kept(jobs: Sequence[Job]) -> Iterable[bytes]:
        asked.extend(jobs)
        return [encoded(steps[job.step].code, {"of": job.step}) for job in jobs]

    refs = [NAMESPACE.ref("ns"), SUBSCRIPTION.ref("a", "ns")]
    jobs = [Job(RESOLVE, refs[0]), Job(TRACK, refs[1])]
    read_sets = KeptReads(kept, lambda others: 7 if others == jobs else 0, steps)
    assert (read_sets.of(refs), asked) == (({"of": RESOLVE}, {"of": TRACK}), jobs)
    assert read_sets.keep_only(refs) == 7


def ran(api: FakeApi) -> RunResult:
    return run(api, a_claim("read_catalogs"))


def test_a_complete_run_says_what_it_read() -> None:
    assert ran(FakeApi([a_map()])).read_set.partition(b"\n")[2] == b'{"catalogs":{}}'


def test_a_run_whose_write_was_refused_does_not() -> None:
    api = FakeApi([a_map()])
    api.refuse("merge", ONE.name, ApiError(403, "Forbidden", "no"))
    result = ran(api)
    assert (result.failure, result.read_set) == ("retry", b"")
