"""Decision replay: runs today's steps with the recorded answers, and compares their Outcomes with the recorded ones."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from eventing.diagnosis.replay.archive import NotInCapture, open_capture
from eventing.diagnosis.replay.ports import Answers
from eventing.effects.written import target
from eventing.events.former import type_now
from eventing.journal.bodies import encode
from eventing.journal.journal_index import JournalIndex, Unrecorded
from eventing.journal.outcomes import Decided, write_json
from eventing.journal.records import Decision, Run, StatementRecord
from eventing.journal.redact import Redactor
from eventing.journal.redacted import holds_stand_in
from eventing.runner.steps import Steps, UnknownStep, arguments
from shared.domain.command import olmf
from shared.kinds import SECRET, Ref

WITHHELD = "it decides by a digest of what holds secret values, which were not recorded"
_REDACTOR = Redactor(b"replay")
_DIGEST = re.compile(rb"sha256:[0-9a-f]{64}|redacted:[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of replaying one recorded decision."""

    run: Run
    decision: Decision
    result: Literal["same", "different", "skipped"]
    detail: str = ""
    """The diff between the recorded Outcome and today's, or why the decision was skipped."""


@dataclass(frozen=True, slots=True)
class Report:
    """The results of all replayed decisions."""

    replayed: tuple[Replayed, ...]

    @property
    def exit_code(self) -> int:
        """0 when every Outcome is the same, 1 when one differs, 3 when none could be compared."""
        results = {each.result for each in self.replayed}
        return 1 if "different" in results else 0 if "same" in results else 3

    def count(self, result: str) -> int:
        """The number of decisions with that result."""
        return sum(each.result == result for each in self.replayed)


def replay(
    path: Path,
    *,
    only: str = "",
    until: str = "",
    steps: Steps | None = None,
    on_each: Callable[[Replayed], bool] = lambda _: True,
) -> Report:
    """Replay a capture against the steps of today.

    `only` names a step (`<group>/<step>` or `<step>`); `until` is the id of the last run; `on_each` is called with each
    result and returns False to stop (to step through, or to stop at the first difference).
    """
    done = []
    for each in replay_index(open_capture(path).index, only=only, until=until, steps=steps or Steps()):
        done.append(each)
        if not on_each(each):
            break
    return Report(tuple(done))


def replay_index(index: JournalIndex, *, only: str = "", until: str = "", steps: Steps) -> Iterator[Replayed]:
    """The result of each recorded decision, in the order of the runs. NotInCapture when no run has the id `until`."""
    if until and until not in index.runs:
        raise NotInCapture(
            f"no run {until} in this capture; `{olmf('events', 'list', '--from', 'CAPTURE')}` lists the ids"
        )
    for run in _chosen(index.runs.values(), only, until):
        for decision in run.decisions:
            yield _replay(index, run, decision, steps)


def _chosen(runs: Iterable[Run], only: str, until: str) -> Iterator[Run]:
    for run in runs:
        if only in ("", run.step, run.step.partition("/")[2]):
            yield run
        if run.id == until:
            return


def _replay(index: JournalIndex, run: Run, decision: Decision, steps: Steps) -> Replayed:
    try:
        recorded = _recorded(index, decision)
        today = _as_far_as_recorded(_today(index, run, decision, steps), decision)
    except Unrecorded as error:
        return Replayed(run, decision, "skipped", str(error))
    except UnknownStep as error:
        return Replayed(run, decision, "different", str(error))
    if recorded == today:
        return Replayed(run, decision, "same")
    if _is_withheld(index, decision):
        if _undigested(recorded) == _undigested(today):
            return Replayed(run, decision, "same")
        return Replayed(run, decision, "skipped", WITHHELD)
    return Replayed(run, decision, "different", _diff(recorded, today))


def _as_far_as_recorded(today: Any, decision: Decision) -> Any:
    """Without what builds did not record that knew neither statements nor whom a wait is about.

    Nor is compared since when something is waited for: builds stated the time of the run itself.
    """
    known = {key: value for key, value in today.items() if key != "statements" or decision.statements}
    wait = (decision.rest or {}).get("wait") or {}
    if known.get("wait"):
        since = {"since": wait["since"]} if "since" in wait else {}
        left = {"since"} if "about" in wait else {"since", "about"}
        known["wait"] = {key: value for key, value in known["wait"].items() if key not in left} | since
    return known


def _is_withheld(index: JournalIndex, decision: Decision) -> bool:
    """Whether something that the step read was replaced by stand-ins, so that digests of it are others today."""
    digests = (digest for answer in decision.answers for digest in (*(answer.bodies or ()), answer.body) if digest)
    return any(holds_stand_in(msgspec.json.decode(index.body(digest))) for digest in digests)


def _undigested(decided: Any) -> Any:
    """Without the digests in it, and what stands in for secret values."""
    return msgspec.json.decode(_DIGEST.sub(b"<digest>", msgspec.json.encode(decided)))


def _today(index: JournalIndex, run: Run, decision: Decision, steps: Steps) -> Any:
    step = steps[run.step]
    answers = Answers(index, ((run.at, answer) for answer in decision.answers))
    try:
        answer: object = step.call(Ref.parse(run.ref), **arguments(step, answers.port))
    except Unrecorded:
        raise
    except Exception as error:  # noqa: BLE001  # why: an exception of a step is its answer, and is compared as such
        answer = error
    decided = Decided.of(answer)
    writes = [
        _REDACTOR.clean(_plain(write_json(write)), is_secret=target(write).kind == SECRET.kind)
        for write in decided.writes
    ]
    statements = [msgspec.to_builtins(StatementRecord.of(one)) for one in decided.statements]
    return {
        "end": decided.end,
        "summary": decided.message,
        **_plain(decided.rest()),
        "statements": statements,
        "writes": writes,
    }


def _recorded(index: JournalIndex, decision: Decision) -> Any:
    writes = [msgspec.json.decode(index.body(write.body)) for write in decision.writes]
    statements = {"statements": msgspec.to_builtins(decision.statements)} if decision.statements else {}
    rest = _with_present_types(decision.rest or {})
    return {"end": decision.end, "summary": decision.message, **rest, **statements, "writes": writes}


def _with_present_types(rest: dict[str, Any]) -> dict[str, Any]:
    """What an earlier build decided, with the present types of the events that it emitted."""
    match rest.get("emits"):
        case [*emits]:
            return {**rest, "emits": [{**emit, "type": type_now(emit["type"])} for emit in emits]}
    return rest


def _plain(value: Any) -> Any:
    return msgspec.json.decode(encode(value))


def _diff(recorded: Any, today: Any) -> str:
    return "\n".join(difflib.unified_diff(_lines(recorded), _lines(today), "recorded", "today", lineterm=""))


def _lines(value: Any) -> list[str]:
    return msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=2).decode().splitlines()
