"""Makes the record of a run from its recorded calls, its decisions and what became of their writes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any

import msgspec

from eventing.effects.written import Performed, Written, target
from eventing.journal.bodies import Bodies, encode
from eventing.journal.call_recorder import CallRecorder
from eventing.journal.outcomes import Decided, wait_json, write_json
from eventing.journal.records import Decision, Run, StatementRecord, Write, deflated
from eventing.journal.redact import Redactor
from shared import step
from shared.kinds import SECRET

MAX_RECORD = 8 * 1024 * 1024
"""A longer record keeps what was decided and loses its bodies."""
WITHHELD = "(withheld: the object is a Secret)"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Recorder:
    """Records runs; `key` makes the stand-ins of Secret values. One recorder serves one thread."""

    def __init__(
        self,
        key: bytes,
        now_ms: Callable[[], int] = _now_ms,
        *,
        also: Callable[[bytes], None] = lambda _: None,
        bodies: Bodies | None = None,
    ) -> None:
        """`also` gets each record, e.g. `JournalFiles.append`; `bodies` are those of the other threads' recorders."""
        self._bodies = bodies or Bodies(Redactor(key), now_ms)
        self._also = also

    def also_to(self, also: Callable[[bytes], None]) -> Recorder:
        """A recorder for another thread, which knows what this one knows."""
        return Recorder(b"", also=also, bodies=self._bodies)

    def forget(self) -> None:
        """Records that were made may not be stored any more: the next ones carry all that they name."""
        self._bodies.forget()

    def calls(self, fresh: dict[str, msgspec.Raw]) -> CallRecorder:
        """The recorder of the calls of one decision; `fresh` gathers the bodies of the run's record."""
        return CallRecorder(self._bodies, fresh)

    def decision(self, calls: CallRecorder, decided: Decided, performed: Performed) -> Decision:
        """What one call of the step was told, what it decided, and what became of it."""
        pairs = zip_longest(decided.writes, performed.written)
        return Decision(
            answers=calls.answers,
            end=decided.end,
            writes=[self._write(calls, write, written) for write, written in pairs],
            rest=decided.rest() or None,
            summary=decided.summary,
            wait=wait_json(decided.wait),
            failure=performed.failure.kind if performed.failure else "",
            statements=[StatementRecord.of(one) for one in decided.statements],
        )

    def record(self, run: Run, fresh: dict[str, msgspec.Raw]) -> bytes:
        """The bytes of the journal entry."""
        if run.failure == "lost" or sum(len(bytes(body)) for body in fresh.values()) > MAX_RECORD:
            fresh = {}
        encoded = self._bodies.raw(run)
        record = deflated(b"".join((b'{"run":', encoded, b',"bodies":', encode(fresh), b"}")))
        self._bodies.note_stored(fresh)
        self._also(record)
        return record

    def _write(self, calls: CallRecorder, write: step.Write, written: Written | None) -> Write:
        ref = target(write)
        secret = ref.kind == SECRET.kind
        body = self._bodies.keep(write_json(write), calls.fresh, is_secret=secret)
        entry: dict[str, Any] = {"op": type(write).__name__, "ref": str(ref), "body": body}
        if written is None:
            return Write(**entry)
        message = WITHHELD if secret and written.message else written.message
        return Write(
            **entry, did=written.did, uid=written.uid, version=written.resource_version, status=written.status,
            message=message,
        )  # fmt: skip


def digests_of(run: Run) -> Iterator[str]:
    """The bodies that a run names."""
    for decision in run.decisions:
        for answer in decision.answers:
            yield from answer.bodies or ()
            if answer.body:
                yield answer.body
        for write in decision.writes:
            if write.body:
                yield write.body
