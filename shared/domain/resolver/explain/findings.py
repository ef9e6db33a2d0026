"""The parts of an explanation: facts that contradict each other, and fixes that were tried."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from shared.domain.command import Command
from shared.domain.resolver.model import Refusal, Resolution
from shared.domain.resolver.reasons import Code

Show: TypeAlias = Callable[[Command | str], str]
"""How a command becomes text: as it is in what is stored, with the options of a cluster on a terminal."""
_LONGEST_LINE = 240
_FACTS_FIRST = 3
"""The facts in a summary: with a heading and a fix they make five lines."""
_FACT, _FIX = "- ", "fix: "
"""How the lines of facts and fixes begin."""
_COMMAND = re.compile(rf"{_FIX}.*: (kubectl|olmf|echo) ")
_NO_FIX = "no fix was found"
_TOO_PLAIN = (Code.SUBSCRIPTION_EXISTS, Code.CANDIDATES)
"""Facts that the reader knows anyway: shown last."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement of a minimal contradiction."""

    code: Code
    text: str
    """OLM's text."""
    sentence: str
    """The same in plain words, with names, versions, catalog and channel."""
    rank: int = 0
    """How many versions are preferred to the one it is about."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A change after which there is an answer: resolving was tried with it."""

    code: str
    what: str
    do: Command | str
    """The command; else the edit in words."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Why some Subscriptions get nothing, and what can be done about it, cheapest first."""

    subscribers: tuple[str, ...]
    reason: str
    facts: tuple[Fact, ...]
    fixes: tuple[Fix, ...] = ()
    default_fix: str = ""
    """What the refusal itself says to do."""
    needed: Fix | None = None
    """What has to be done before anything else can help; alone it may help nobody, so it is not stored."""
    is_open: bool = False
    """A decision may be had later, as things are."""

    @property
    def advised(self) -> tuple[Fix, ...]:
        """The fixes; without any what is needed first."""
        return self.fixes or ((self.needed,) if self.needed else ())

    def summary(self, shown: Show = str) -> tuple[str, ...]:
        """At most five lines."""
        more = len(self.facts) - _FACTS_FIRST
        heading, *facts = self._facts()
        first = facts[:_FACTS_FIRST]
        first[-1] += f" (and {more} more)" if more > 0 else ""
        return tuple(_shortened(line) for line in (heading, *first, *self._fixes(shown)[:1]))

    def details(self, shown: Show = str) -> tuple[str, ...]:
        """Every fact and every fix, a line each."""
        return (*self._facts(), *self._fixes(shown))

    def _facts(self) -> Iterator[str]:
        noun = "Subscription" if len(self.subscribers) == 1 else "Subscriptions"
        yield f"{noun} {', '.join(self.subscribers)} cannot be satisfied, because all of this is so:"
        for fact in sorted(self.facts, key=lambda one: (one.code in _TOO_PLAIN, one.rank)):
            yield f"{_FACT}{fact.sentence}"

    def _fixes(self, shown: Show) -> tuple[str, ...]:
        """The fixes; without any what the refusal advises, and an error told in words says itself what to do."""
        if self.advised:
            return tuple(f"{_FIX}{one.what}: {shown(one.do)}" for one in self.advised)
        if self.default_fix:
            return (f"{_FIX}{self.default_fix}",)
        has_own_words = any(one.code is Code.PREVENTED for one in self.facts)
        return () if has_own_words else (_NO_FIX,)


def explained(refusal: Refusal, finding: Finding | None) -> str:
    """OLM's message, and below it the summary: at most five lines, which depend on the inputs alone."""
    is_complete = not refusal.facts or any(one.code is Code.NAME_TAKEN for one in refusal.facts)
    lines = finding.summary() if finding else ()
    if is_complete:
        lines = lines[-1:] if refusal.code is Code.OPERATOR_GROUPS and finding and finding.fixes else ()
    return "\n".join((refusal.message, *lines))


def sentences(resolution: Resolution, findings: Iterable[Finding]) -> Mapping[str, str]:
    """What is told to each refused Subscription, as `explained` says it."""
    found = {name: one for one in findings for name in one.subscribers}
    messages: dict[str, str] = {}
    for one in resolution.components:
        if one.refusal is not None and one.subscribers:
            messages.update(dict.fromkeys(one.subscribers, explained(one.refusal, found.get(one.subscribers[0]))))
    return messages


def without_command(message: str) -> str:
    """What `explained` wrote, without a fix in its last line that is a command: stored, it names no cluster."""
    text, _, last = message.rpartition("\n")
    return text if _COMMAND.match(last) else message


def as_json(findings: Iterable[Finding], shown: Show = str) -> list[dict[str, object]]:
    """Findings as JSON; `shown` is the text of a command."""
    return [
        {
            "subscriptions": list(one.subscribers),
            "reason": one.reason,
            "summary": list(one.summary(shown)),
            "conflict": conflict_of(one),
            "fixes": fixes_of(one, shown),
        }
        for one in findings
    ]


def conflict_of(finding: Finding) -> list[dict[str, str]]:
    """The facts of a finding as JSON."""
    return [{"fact": one.text, "code": one.code, "message": one.sentence} for one in finding.facts]


def fixes_of(finding: Finding, shown: Show = str) -> list[dict[str, str]]:
    """The fixes of a finding as JSON."""
    return [{"code": one.code, "what": one.what, "do": shown(one.do)} for one in finding.advised]


def _shortened(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…"
