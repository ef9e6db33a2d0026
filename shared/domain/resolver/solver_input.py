"""Turns Subscriptions, installed versions and candidates into variables and constraints (resolver.md §6, §7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from shared.domain.resolver.candidate_cache import CandidateCache
from shared.domain.resolver.candidates import AmbiguousInstallation, Candidates, candidates
from shared.domain.resolver.cel import InvalidRule
from shared.domain.resolver.channels import ChannelError
from shared.domain.resolver.constraints import (
    AtMostOne,
    Conflict,
    Constraint,
    Dependency,
    Id,
    Mandatory,
    Prohibited,
    Variable,
    of_subscription,
)
from shared.domain.resolver.limits import ignores_dependencies, limits
from shared.domain.resolver.model import Subscriber
from shared.domain.resolver.operators import Operator
from shared.domain.resolver.predicates import InvalidConstraint, Predicate, requirements
from shared.domain.resolver.reasons import Code, Reason


@dataclass(frozen=True, slots=True)
class SolverInput:
    """All variables, in canonical order, and the operators they stand for."""

    variables: tuple[Variable, ...]
    operators: Mapping[Id, Operator]
    replaced: Mapping[Id, str]
    """Candidate to the installed version that it would replace."""
    errors: tuple[Reason, ...] = ()
    """Errors that make OLM give up: in namespace mode nothing is solved then."""
    is_about_installed: bool = False
    """The errors are about installed versions: OLM reports these before errors of catalogs."""
    asked: tuple[Candidates, ...] = ()
    """What each Subscription may get."""
    requirements: Mapping[Operator, tuple[Predicate, ...]] = field(default_factory=dict)
    """What each operator requires that is installed, may be chosen or is needed; nothing where that is ignored."""
    ambiguity: Reason | None = None
    """Why nothing can be solved: a Subscription has several installed ClusterServiceVersions."""


@dataclass(slots=True)
class _Draft:
    """The input of the solver while it is being built."""

    cache: CandidateCache
    ids: dict[Operator, Id] = field(default_factory=dict)
    options: dict[tuple[Operator, ...], tuple[Id, ...]] = field(default_factory=dict)
    """Operators with the same requirement share one tuple of ids: with wide requirements this is half of the time."""
    expanded: set[tuple[Operator, ...]] = field(default_factory=set)
    """Of these tuples the needs of every operator are known."""
    requirements: dict[Operator, tuple[Predicate, ...]] = field(default_factory=dict)
    needs: dict[Operator, tuple[Dependency, ...]] = field(default_factory=dict)
    conflicts: dict[Operator, dict[Conflict, None]] = field(default_factory=dict)
    replaced: dict[Id, str] = field(default_factory=dict)
    errors: dict[Reason, None] = field(default_factory=dict)
    asked: list[Candidates] = field(default_factory=list)
    ignores_dependencies: frozenset[Operator] = frozenset()
    """Operators whose Subscription ignores their dependencies."""

    def id_of(self, one: Operator) -> Id:
        """The id of an operator. OLM's lacks the package, so only namespace mode confuses equal names (§13 B10)."""
        if one not in self.ids:
            self.ids[one] = Id(one.id) if self.cache.is_whole else Id(one.id, one.package)
        return self.ids[one]

    def expand(self, roots: Iterable[Operator]) -> None:
        """Add operators with their direct and transitive dependencies."""
        waiting = list(roots)
        while waiting:
            one = waiting.pop()
            if one in self.needs:
                continue
            self.needs[one] = ()
            self.requirements[one] = desired = () if one in self.ignores_dependencies else self._requirements(one)
            options = [(each, found) for each in desired if (found := self._options(each, one)) is not None]
            self.needs[one] = tuple(self._dependency(one, each, found) for each, found in options)
            waiting += [option for _, found in options if not self._is_expanded(found) for option in found]

    def _is_expanded(self, options: tuple[Operator, ...]) -> bool:
        if options not in self.expanded and self.needs.keys() >= {*options}:
            self.expanded.add(options)
        return options in self.expanded

    def _dependency(self, one: Operator, requirement: Predicate, found: tuple[Operator, ...]) -> Dependency:
        text = f"bundle {one.name} requires an operator {requirement.text}"
        code = Code.REQUIRES if found else Code.NO_PROVIDER
        return Dependency(self.id_of(one), self._ids(found), text, code, requirement)

    def _ids(self, found: tuple[Operator, ...]) -> tuple[Id, ...]:
        if found not in self.options:
            self.options[found] = tuple(dict.fromkeys(map(self.id_of, found)))
        return self.options[found]

    def _requirements(self, one: Operator) -> tuple[Predicate, ...]:
        try:
            return requirements(one.facts.properties)
        except InvalidConstraint as error:
            self._flawed(one, Reason(Code.PREVENTED, str(error)))
            return ()

    def _options(self, predicate: Predicate, one: Operator) -> tuple[Operator, ...] | None:
        """The operators that meet a requirement of the operator; None, and a flaw, when that cannot be decided."""
        try:
            return self.cache.preferred(predicate, one.catalog)
        except ChannelError as error:
            self._flawed(one, error.reason)
        except InvalidRule as error:
            self._flawed(one, Reason(Code.GAVE_UP, str(error)))
        return None

    def _flawed(self, one: Operator, why: Reason) -> None:
        self.errors[why] = None
        self.cache.flaws.setdefault(one, why.text)

    def subscribe(self, subscriber: Subscriber) -> None:
        """Add a Subscription with its candidates."""
        try:
            found = candidates(subscriber, self.cache)
        except ChannelError as error:
            self.errors[error.reason] = None
            return
        if not found.refusal:
            self.expand(found.operators)
        if found.current is not None:
            for one in found.operators:
                self.replaced[self.id_of(one)] = found.current.name
                conflict = Conflict(self.id_of(one), self.id_of(found.current))
                self.conflicts.setdefault(one, {})[conflict] = None
        self.asked.append(found)

    def variable(self, one: Operator) -> Variable:
        """The variable of an operator, its constraints in OLM's order."""
        subject = self.id_of(one)
        constraints: list[Constraint] = []
        if one.is_installed and not one.owner:
            text = f"clusterserviceversion {one.name} exists and is not referenced by a subscription"
            constraints.append(Mandatory(subject, text, Code.UNCLAIMED_CSV))
        if one.facts.is_deprecated:
            constraints.append(Prohibited(subject, f"bundle {one.id} is deprecated", Code.DEPRECATED))
        if not self.cache.is_whole and (flaw := self.cache.flaws.get(one)) is not None:
            constraints.append(Prohibited(subject, f"bundle {one.id} cannot be used: {flaw}", Code.FLAWED, flaw))
        return Variable(subject, (*constraints, *self.needs[one], *self.conflicts.get(one, ())))


def build_constraints(cache: CandidateCache, subscribers: Iterable[Subscriber]) -> SolverInput:
    """The variables and constraints of a namespace."""
    try:
        return _built(cache, sorted(subscribers, key=lambda one: one.name))
    except AmbiguousInstallation as error:
        return SolverInput((), {}, {}, ambiguity=Reason(Code.PREVENTED, str(error)))


def _built(cache: CandidateCache, ordered: Sequence[Subscriber]) -> SolverInput:
    """The variables and constraints of Subscriptions, which are sorted by name. AmbiguousInstallation."""
    draft = _Draft(cache, ignores_dependencies=frozenset(ignores_dependencies(ordered, cache)))
    draft.expand(cache.installed)
    if cache.is_whole and draft.errors:
        return SolverInput((), {}, {}, tuple(draft.errors), is_about_installed=True)
    for subscriber in ordered:
        draft.subscribe(subscriber)
    operators = dict(sorted({draft.id_of(one): one for one in draft.needs}.items(), key=itemgetter(0)))
    bundles = [draft.variable(one) for one in operators.values()]
    free = sorted((one for one in bundles if one.is_anchor), key=lambda one: operators[one.id].name)
    others = [one for one in bundles if not one.is_anchor]
    forbidden = limits(draft.asked, draft.needs, cache, draft.id_of)
    subscriptions = [_subscription(found, draft, forbidden.get(found.subscriber.name, ())) for found in draft.asked]
    variables = (*subscriptions, *free, *others, *_invariants(operators, cache))
    return SolverInput(
        variables, operators, draft.replaced, tuple(draft.errors), asked=tuple(draft.asked),
        requirements=draft.requirements,
    )  # fmt: skip


def _subscription(found: Candidates, draft: _Draft, forbidden: Sequence[Constraint]) -> Variable:
    name = found.subscriber.name
    subject, exists = of_subscription(name), existence(name)
    if (refusal := found.refusal) is not None:
        return Variable(subject, (exists, Prohibited(subject, refusal.text, refusal.code), *forbidden))
    if found.current is None and found.subscriber.policy.hold:
        return Variable(subject, (exists, *forbidden))
    kept = () if found.current is None else (found.current,)
    options = tuple(dict.fromkeys(draft.id_of(one) for one in (*found.operators, *kept)))
    dependency = Dependency(subject, options, _request_text(name, options), Code.CANDIDATES)
    return Variable(subject, (exists, dependency, *forbidden))


def existence(name: str) -> Mandatory:
    """That there is a Subscription of that name."""
    return Mandatory(of_subscription(name), f"subscription {name} exists", Code.SUBSCRIPTION_EXISTS)


def _request_text(name: str, options: Sequence[Id]) -> str:
    if len(options) == 1:
        return f"subscription {name} requires {options[0]}"
    return f"subscription {name} requires at least one of {_listed(options, 'or')}"


def _listed(ids: Sequence[Id], last: str) -> str:
    *first, final = map(str, ids)
    return f"{', '.join(first)} {last} {final}"


def _invariants(operators: Mapping[Id, Operator], cache: CandidateCache) -> Iterator[Variable]:
    """The constraints: one provider for each API, and one operator of each package."""
    known = {subject: one for subject, one in operators.items() if not cache.is_whole or _is_found_again(one, cache)}
    apis = [(subject, one.facts.apis) for subject, one in known.items()]
    packages = [(subject, tuple([package.name for package in one.facts.packages])) for subject, one in known.items()]
    for api, ids in _by_statement(apis, cache):
        only = Mandatory(Id(api, "invariant"), f"there can be only one provider of {api}", Code.ONE_PROVIDER)
        yield from _at_most_one(only, ids, f"provide {api}")
    for package, ids in _by_statement(packages, cache):
        text = f"there can be only one operator from package {package}"
        only = Mandatory(Id(package, "invariant"), text, Code.ONE_PER_PACKAGE)
        yield from _at_most_one(only, ids, f"originate from package {package}")


def _by_statement(
    declared: Iterable[tuple[Id, tuple[object, ...]]], cache: CandidateCache
) -> Iterator[tuple[str, Sequence[Id]]]:
    """Who states each API or package. Most versions of a package state the same, so they are grouped first."""
    alike: dict[tuple[object, ...], list[Id]] = {}
    for subject, things in declared:
        alike.setdefault(things, []).append(subject)
    found: dict[str, list[Id]] = {}
    for things, ids in alike.items():
        words = map(str, things)
        for word in words if cache.is_whole else dict.fromkeys(words):  # twice is still one provider (§13 B9)
            found.setdefault(word, []).extend(ids)
    return ((word, sorted(found[word])) for word in sorted(found))


def _at_most_one(only: Mandatory, ids: Sequence[Id], verb: str) -> Iterator[Variable]:
    if len(ids) > 1:
        text = f"{_listed(ids, 'and')} {verb}"
        yield Variable(only.subject, (only, AtMostOne(only.subject, tuple(ids), text, only.code)))


def _is_found_again(one: Operator, cache: CandidateCache) -> bool:
    """Whether OLM finds the operator by its id: one that is not found, or found twice, escapes the invariants."""
    return "/" not in one.channel and len(namesakes(one, cache)) == 1


def namesakes(one: Operator, cache: CandidateCache) -> tuple[Operator, ...]:
    """Every operator of its catalog that has its name and channel."""
    if one.is_installed:
        return tuple(other for other in cache.installed if other.name == one.name)
    return tuple(other for other in cache.operators_named(one.catalog, one.name) if other.channel == one.channel)
