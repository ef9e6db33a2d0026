"""Turns constraints and refusals into facts: a stable code, and a sentence with names, catalog and channel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Final

from shared.domain.resolver.constraints import (
    AtMostOne,
    Conflict,
    Constraint,
    Dependency,
    Excluded,
    Id,
    Mandatory,
    Prohibited,
    of_subscription,
)
from shared.domain.resolver.explain.findings import Fact
from shared.domain.resolver.model import Inputs, Refusal, Subscriber
from shared.domain.resolver.operators import Operator
from shared.domain.resolver.reasons import Code
from shared.domain.resolver.request import ResolutionRequest

_SHOWN = 3
_SHARED: Final = {Code.ONE_PROVIDER: "provide", Code.ONE_PER_PACKAGE: "originate from package"}
"""What several operators do that only one of them can do in a namespace."""


@dataclass(frozen=True)
class Translator:
    """Translates the constraints of a namespace."""

    inputs: Inputs
    request: ResolutionRequest

    def facts(self, refusal: Refusal) -> tuple[Fact, ...]:
        """The facts of a refusal, in OLM's order; an error that prevented the search is a single fact."""
        if not refusal.facts:
            return (Fact(refusal.code, refusal.message, refusal.message),)
        ranks = ranks_in(refusal.facts)
        return tuple(
            Fact(
                one.code, one.text, self.sentence(one), ranks.get(one.subject, 0) if isinstance(one, Dependency) else 0
            )
            for one in refusal.facts
        )

    @property
    def operators(self) -> Mapping[Id, Operator]:
        """The operators that variables stand for."""
        return self.request.solver_input.operators

    @cached_property
    def subscribers(self) -> Mapping[Id, Subscriber]:
        """The Subscriptions that variables stand for."""
        return {of_subscription(one.name): one for one in self.inputs.subscribers}

    def sentence(self, one: Constraint) -> str:
        """A constraint as a sentence."""
        match one:
            case AtMostOne(subject, ids):
                return f"{self._named(ids)} {_SHARED[one.code]} {subject}, and a namespace can have one of them"
            case Conflict(subject, other):
                return f"{self._named([subject])} would replace {self._named([other])}: not both"
            case Dependency():
                return self._request_text(one)
            case Mandatory(subject):
                return self._desired(subject)
            case Excluded():
                return f"{one.text[0].upper()}{one.text[1:]}"
        return self._refused(one)

    def _request_text(self, one: Dependency) -> str:
        if one.requirement is None:
            return f"Subscription {self.subscribers[one.subject].name} can only get {self._named(one.options, 'or')}"
        needs = f"{self._named([one.subject])} needs {one.requirement.plain}"
        return f"{needs}: {self._named(one.options, 'or')}" if one.options else f"{needs}, which nothing here offers"

    def _desired(self, subject: Id) -> str:
        if (subscriber := self.subscribers.get(subject)) is not None:
            return f"Subscription {subscriber.name} wants {request_text(subscriber)}"
        return f"{self.operators[subject].name} is installed, and no Subscription claims it"

    def _refused(self, one: Prohibited) -> str:
        match one.code:
            case Code.DEPRECATED:
                return f"{self._named([one.subject])} is deprecated, so nobody gets it"
            case Code.FLAWED:
                return f"{self._named([one.subject])} cannot be used: {one.detail}"
            case Code.NAME_TAKEN:
                return one.text
        return f"{one.text}{self._instead(one.code, self.subscribers[one.subject])}"

    def _instead(self, code: Code, desired: Subscriber) -> str:
        """In brackets, what exists instead of the missing catalog, package, channel or version; may be empty.

        An installed version whose package went does not change.
        """
        package = self.inputs.package(desired.catalog, desired.package)
        if code is Code.CATALOG_EMPTY and (why := self.inputs.unseen.get(desired.catalog)):
            return f" (namespace {self.inputs.namespace} does not see catalog {desired.catalog}: {why})"
        if code is Code.CATALOG_EMPTY:
            full = [str(key) for key, one in sorted(self.inputs.readers.items()) if not one.is_empty()]
            near = get_close_matches(str(desired.catalog), full, n=1)
            return _there("visible catalogs with content", full) + (f"; did you mean {near[0]}?" if near else "")
        if package is None:
            return self._kept(desired) if code is Code.PACKAGE_MISSING else ""
        if code is Code.CHANNEL_MISSING:
            return _there("its channels", sorted(one.name for one in package.channels))
        mine = (one for one in package.channels if desired.follows(one.name))
        return _there("there", sorted({entry.name for one in mine for entry in one.entries}, reverse=True))

    def _kept(self, desired: Subscriber) -> str:
        if not any(one.name == desired.installed_csv for one in self.inputs.installed):
            return ""
        return f" (the catalog no longer offers it; {desired.installed_csv} keeps running, without updates)"

    def _named(self, ids: Sequence[Id], last: str = "and") -> str:
        shown = [self._one(one) for one in ids[:_SHOWN]]
        more = len(ids) - _SHOWN
        return f"{', '.join(shown)} {last} {more} more" if more > 0 else listed(shown, last)

    def _one(self, one: Id) -> str:
        found = self.operators[one]
        where = "installed" if found.is_installed else f"channel {found.channel} of catalog {found.catalog}"
        return f"{found.name} ({where})"


def ranks_in(facts: Iterable[Constraint]) -> dict[Id, int]:
    """The rank of each option in a dependency of the facts; the preferred one has rank 0."""
    return {option: rank for one in facts if isinstance(one, Dependency) for rank, option in enumerate(one.options)}


def request_text(one: Subscriber) -> str:
    """The spec of a Subscription, in words."""
    channel = f"channel {one.channel}" if one.channel else "any channel"
    start = f", starting at {one.starting_csv}" if one.starting_csv and not one.installed_csv else ""
    return f"package {one.package}, {channel}, from catalog {one.catalog}{start}"


def _there(what: str, names: Iterable[str]) -> str:
    found = list(names)
    shown = ", ".join(found[:_SHOWN]) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
    return f" ({what}: {shown or 'none'})"


def listed(words: Sequence[str], last: str = "and") -> str:
    """The words as an enumeration: `a, b and c`."""
    *first, final = words
    return f"{', '.join(first)} {last} {final}" if first else final
