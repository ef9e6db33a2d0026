"""Turns constraints and refusals into facts: a stable code, and a sentence with names, catalog and channel."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from shared import names
from shared.domain.resolver.constraints import AtMostOne, Conflict, Constraint, Dependency, Excluded, Id, Mandatory
from shared.domain.resolver.explain.findings import Fact
from shared.domain.resolver.model import Inputs, Refusal, Subscriber
from shared.domain.resolver.operators import Operator
from shared.domain.resolver.problem import Problem
from shared.domain.semver import version_or_none

SUBSCRIPTION: Final = "subscription:"
_SHOWN = 3
_NOTHING_LEFT: Final = (
    ("no operators found from catalog", "CatalogEmpty"),
    ("no operators found in package", "PackageMissing"),
    ("no operators found in channel", "ChannelMissing"),
    ("no operators found with name", "VersionMissing"),
)
_PREVENTED: Final = (
    ("expected 1 OperatorGroup", "OperatorGroups"),
    ("error using catalogsource", "CatalogUnreadable"),
    ("a unique replacement chain", "ChannelForked"),
    ("no channel heads", "ChannelWithoutHead"),
    ("a cycle exists", "ChannelCycle"),
    ("expected exactly one operator", "AmbiguousName"),
    ("error determining origin", "ChannelName"),
    ("gave up", "GaveUp"),
    ("annotation ", "AnnotationInvalid"),
)
_ASKED: Final = {
    names.VERSION: "VersionNotAccepted",
    names.HOLD: "Held",
    names.HOLD_INSTALLED: "Held",
    names.DEPENDENCIES: "DependenciesRequired",
}
"""Annotation to the code of the fact that it causes."""
_API = re.compile(r"providing an API with group: ([^,]*), version: ([^,]*), kind: (\S+)")
_PACKAGE = re.compile(r"with package: (\S+) and with version in range: (.+)")


@dataclass(frozen=True)
class Reader:
    """Translates the constraints of one problem."""

    inputs: Inputs
    problem: Problem | None
    """None when the inputs are ambiguous, so that there is no problem to solve."""

    def facts(self, refusal: Refusal) -> tuple[Fact, ...]:
        """The facts of a refusal, in OLM's order; an error that prevented the search is a single fact."""
        if not refusal.facts:
            return (Fact(_code(refusal.message, _PREVENTED, "Prevented"), refusal.message, refusal.message),)
        ranks = ranks_in(self.constraints(refusal))
        return tuple(self._fact(text, ranks) for text in refusal.facts)

    def constraints(self, refusal: Refusal) -> tuple[Constraint, ...]:
        """The constraints that the facts of a refusal were made of."""
        return tuple(self._by_text[text] for text in refusal.facts if text in self._by_text)

    def operator(self, one: Id) -> Operator | None:
        """The operator of a variable; None for another kind of variable."""
        return self._operators.get(one)

    def subscriber(self, one: Id) -> Subscriber | None:
        """The Subscription of a variable; None for another kind of variable."""
        return self._subscribers.get(one.text.removeprefix(SUBSCRIPTION)) if one.text.startswith(SUBSCRIPTION) else None

    @cached_property
    def _subscribers(self) -> dict[str, Subscriber]:
        return {one.name: one for one in self.inputs.subscribers}

    @cached_property
    def _operators(self) -> Mapping[Id, Operator]:
        return self.problem.operators if self.problem else {}

    @cached_property
    def _by_text(self) -> dict[str, Constraint]:
        variables = self.problem.variables if self.problem else ()
        return {one.text: one for variable in variables for one in variable.constraints}

    def _fact(self, text: str, ranks: Mapping[Id, int]) -> Fact:
        found = self._by_text.get(text)
        if found is None:
            return Fact("NameTaken", text, text)  # by a copied CSV, which is not part of the problem
        code, sentence = self._told(found)
        return Fact(code, text, sentence, ranks.get(found.subject, 0) if isinstance(found, Dependency) else 0)

    def _told(self, one: Constraint) -> tuple[str, str]:
        match one:
            case AtMostOne(_, ids, text):
                code = "OnePerPackage" if " originate from package " in text else "OneProvider"
                what = text[len(listed(list(map(str, ids)))) :].strip()
                return code, f"{self._named(ids)} {what}, and a namespace can have one of them"
            case Conflict(subject, other):
                return "Replaces", f"{self._named([subject])} would replace {self._named([other])}: not both"
            case Dependency():
                return self._wish(one)
            case Mandatory(subject, _):
                return self._wanted(subject)
            case Excluded(_, _, text, annotation):
                return _ASKED[annotation], f"S{text.removeprefix('s')}"
        return self._refused(one.subject, one.text)

    def _wish(self, one: Dependency) -> tuple[str, str]:
        if (subscriber := self.subscriber(one.subject)) is not None:
            return "Candidates", f"Subscription {subscriber.name} can only get {self._named(one.options, 'or')}"
        needed = plain(one.text.partition(" requires an operator ")[2])
        if not one.options:
            return "NoProvider", f"{self._named([one.subject])} needs {needed}, which nothing here offers"
        return "Requires", f"{self._named([one.subject])} needs {needed}: {self._named(one.options, 'or')}"

    def _wanted(self, subject: Id) -> tuple[str, str]:
        subscriber, operator = self.subscriber(subject), self.operator(subject)
        if subscriber is not None:
            return "SubscriptionExists", f"Subscription {subscriber.name} wants {wish_of(subscriber)}"
        name = operator.name if operator else str(subject)
        return "UnclaimedCSV", f"{name} is installed, and no Subscription claims it"

    def _refused(self, subject: Id, text: str) -> tuple[str, str]:
        subscriber = self.subscriber(subject)
        if subscriber is not None:
            code = _code(text, _NOTHING_LEFT, "Refused")
            return code, f"{text}{self._instead(code, subscriber)}"
        named = self._named([subject])
        if text.endswith(" is deprecated"):
            return "Deprecated", f"{named} is deprecated, so nobody gets it"
        return "Flawed", f"{named}{text.partition(str(subject))[2]}"

    def _instead(self, code: str, wanted: Subscriber) -> str:
        """In brackets, what exists instead of the missing catalog, package, channel or version; may be empty."""
        shelf = self.inputs.shelves.get(wanted.catalog)
        package = shelf.package(wanted.package) if shelf else None
        if code == "CatalogEmpty" and (why := self.inputs.unseen.get(wanted.catalog)):
            return f" (namespace {self.inputs.namespace} does not see catalog {wanted.catalog}: {why})"
        if code == "CatalogEmpty":
            full = (str(key) for key, one in sorted(self.inputs.shelves.items()) if any(one.names()))
            return _there("visible catalogs with content", full)
        if package is None:
            return ""
        if code == "ChannelMissing":
            return _there("its channels", sorted(one.name for one in package.channels))
        mine = (one for one in package.channels if wanted.channel in ("", one.name))
        return _there("there", sorted({entry.name for one in mine for entry in one.entries}, reverse=True))

    def _named(self, ids: Sequence[Id], last: str = "and") -> str:
        shown = [self._one(one) for one in ids[:_SHOWN]]
        more = len(ids) - _SHOWN
        return f"{', '.join(shown)} {last} {more} more" if more > 0 else listed(shown, last)

    def _one(self, one: Id) -> str:
        found = self._operators[one]
        where = "installed" if found.is_installed else f"channel {found.channel} of catalog {found.catalog}"
        return f"{found.name} ({where})"


def ranks_in(facts: Iterable[Constraint]) -> dict[Id, int]:
    """The rank of each option in a dependency of the facts; the preferred one has rank 0."""
    return {option: rank for one in facts if isinstance(one, Dependency) for rank, option in enumerate(one.options)}


def wish_of(one: Subscriber) -> str:
    """The spec of a Subscription, in words."""
    channel = f"channel {one.channel}" if one.channel else "any channel"
    start = f", starting at {one.starting_csv}" if one.starting_csv and not one.installed_csv else ""
    return f"package {one.package}, {channel}, from catalog {one.catalog}{start}"


def plain(requirement: str) -> str:
    """OLM's text of a requirement in plain words."""
    if found := _API.fullmatch(requirement):
        return f"kind {found[3]} of {found[1]}/{found[2]}"
    if found := _PACKAGE.fullmatch(requirement):
        noun = "versions" if version_or_none(found[2]) is None else "version"
        return f"package {found[1]} in {noun} {found[2]}"
    return f"an operator {requirement}"


def _code(text: str, table: Iterable[tuple[str, str]], otherwise: str) -> str:
    return next((code for begin, code in table if begin in text), otherwise)


def _there(what: str, names: Iterable[str]) -> str:
    found = list(names)
    shown = ", ".join(found[:_SHOWN]) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
    return f" ({what}: {shown or 'none'})"


def listed(words: Sequence[str], last: str = "and") -> str:
    """The words as an enumeration: `a, b and c`."""
    *first, final = words
    return f"{', '.join(first)} {last} {final}" if first else final
