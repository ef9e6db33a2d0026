"""The causes of a write: the run that made it, what caused that run, back to what came from outside."""

from __future__ import annotations

from collections.abc import Sequence

from eventing.diagnosis.why.correlation import Correlation
from eventing.diagnosis.why.facts import Node, instant
from eventing.journal.journal_index import JournalIndex
from eventing.journal.records import ReceivedEvent, Run, Write
from shared import names
from shared.kinds import NAMESPACE, WATCHED

_MAX_CAUSES = 5
_MAX_DEPTH = 40
_LONGEST_MESSAGE = 200
_NAMESPACES = f"{NAMESPACE.api_version}/{NAMESPACE.kind}//"
_OURS_ALONE = tuple(f"{one.api_version}/{one.kind}/" for one in WATCHED if one.watch and one.watch.is_ours_alone)
"""How the refs begin of what is watched by its label: to a watcher, what loses it is gone."""


class Tree:
    """Walks from writes back to their causes; a run that stands above already is only named.

    With `correlation`, what woke a run on a whole namespace because of other packages is folded.
    """

    def __init__(self, index: JournalIndex, correlation: Correlation | None = None) -> None:
        self._index = index
        self._correlation = correlation
        self._named: set[str] = set()

    def write(self, run: Run, write: Write, depth: int = 0) -> Node:
        """A write, with the run that made it."""
        text = f"{write.op} {short(write.ref)}"
        return Node(
            "write", f"{write.uid}.{write.version}", text, instant(run.at + run.took_ms), (self._run([run], depth),)
        )

    def _run(self, runs: Sequence[Run], depth: int) -> Node:
        """Runs of one step on one object that caused the same, as one: the newest, with the causes of all."""
        newest = max(runs, key=lambda run: run.at)
        text = f"{newest.step} on {short(newest.ref)}"
        if newest.id in self._named or depth > _MAX_DEPTH:
            return Node("run", newest.id, f"{text} (see above)", instant(newest.at))
        repeats = [run for run in self._with_repeats(runs) if run.id not in self._named]
        self._named.update(run.id for run in repeats)
        text += f": {message}" if (message := self._message(newest)) else ""
        text += f" (the last of {len(repeats)} runs)" if len(repeats) > 1 else ""
        return Node("run", newest.id, text, instant(newest.at), self._causes(newest.ref, repeats, depth + 1))

    def _with_repeats(self, runs: Sequence[Run]) -> list[Run]:
        """The runs, and those of the same step on the same object that led to them."""
        found = {run.id: run for run in runs}
        waiting = list(runs)
        while waiting:
            run = waiting.pop()
            earlier = [each for cause in run.causes if (each := self._index.run(cause)) and each.id not in found]
            waiting += [each for each in earlier if (each.step, each.ref) == (run.step, run.ref)]
            found |= {each.id: each for each in waiting}
        return list(found.values())

    def _causes(self, ref: str, runs: Sequence[Run], depth: int) -> tuple[Node, ...]:
        own = {run.id for run in runs}
        causes = dict.fromkeys(cause for run in runs for cause in run.causes if cause not in own)
        mine = [cause for cause in causes if not self._is_foreign(cause, ref)]
        groups = self._grouped(mine)
        nodes = [self._cause(group, own, depth) for group in groups[:_MAX_CAUSES]]
        if more := len(groups) - len(nodes):
            nodes.append(Node("folded", "", f"{more} more"))
        if foreign := len(causes) - len(mine):
            nodes.append(Node("folded", "", f"{foreign} that concern others"))
        return tuple(nodes)

    def _grouped(self, causes: Sequence[str]) -> list[list[str]]:
        """The causes, with the runs of one step on one object together, and the changes that one run made."""
        groups: dict[object, list[str]] = {}
        for cause in causes:
            run, writer = self._index.run(cause), self._index.writer_of(cause)
            key = (run.step, run.ref) if run else writer[0].id if writer else cause
            groups.setdefault(key, []).append(cause)
        return list(groups.values())

    def _is_foreign(self, cause: str, ref: str) -> bool:
        """It caused a run on a whole namespace, and belongs to other packages."""
        if self._correlation is None or not ref.startswith(_NAMESPACES):
            return False
        source = self._index.run(cause) or self._index.event(cause)
        return source is not None and self._correlation.is_foreign(source.ref)

    def _cause(self, group: list[str], own: set[str], depth: int) -> Node:
        if runs := [run for each in group if (run := self._index.run(each))]:
            return self._run(runs, depth)
        cause = group[0]
        event, writer = self._index.event(cause), self._index.writer_of(cause)
        if event is None and writer is None:
            return Node("unknown", cause, f"{cause} (no longer in the journal)")
        # why: a step may have caused itself by its own write; then its causes stand above already
        causes = (self.write(*writer, depth),) if writer and writer[0].id not in own else ()
        text = _event_text(event, writer) + (f", and {len(group) - 1} more" if len(group) > 1 else "")
        return Node("event", cause, text, instant(event.at) if event else None, causes)

    def _message(self, run: Run) -> str:
        if self._correlation is None:
            return run.summary
        text = self._correlation.message(run)
        return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}…"


def _event_text(event: ReceivedEvent | None, writer: tuple[Run, Write] | None) -> str:
    if event is None:
        return f"change of {short(writer[1].ref)}" if writer else "unknown"
    ours = "" if writer or event.type.startswith("io.olmf.") else " (from outside)"
    is_either = ours and event.type == names.DELETED and event.ref.startswith(_OURS_ALONE)
    label = f", or of its label {names.MANAGED}" if is_either else ""
    return f"{event.type.rpartition('.')[2]} of {short(event.ref)}{label}{ours}"


def short(ref: str) -> str:
    """A ref for people: kind, namespace and name."""
    *_, kind, namespace, name = ref.split("/")
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"
