"""Reads who binds a plan by what he may do, and asks what that is (`functions/install_plan/README.md`, Authors)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial

from shared import kinds
from shared.api.manifest import ReadOnly
from shared.api.views import InstallPlan, OperatorGroup, Role, Subscription
from shared.domain.authors import policy
from shared.domain.authors.author import Author, authors_of, is_bound
from shared.domain.authors.needs import Access, Need, RulesOf, Writing, of_step
from shared.domain.objects.plan_record import is_intact
from shared.domain.operator_groups.identity import Identity, Nobody, managing
from shared.kinds import Kind
from shared.ports import Accounts, Cluster
from shared.reading.admission import in_force
from shared.reading.identity import identity_of

_MOST_NAMED = 5
"""Missing accesses of one step that are named; the others are counted."""


class Bound:
    """The authors who bind a plan: nothing is done that one of them may not."""

    def __init__(self, authors: Sequence[Author], group: OperatorGroup, cluster: Cluster, accounts: Accounts) -> None:
        self._authors, self._group, self._cluster, self._accounts = authors, group, cluster, accounts
        self._may = cache(self._ask)

    def refusal(self, writing: Writing, planned: Mapping[tuple[str, str], Sequence[ReadOnly]]) -> str:
        """Why a step may not be carried out; empty when it may. `planned`: the rules of the plan's roles."""
        needs = list(of_step(writing, self._group, self._rules(planned)))
        found = list(dict.fromkeys(text for author in self._authors for text in self._missing(author, needs)))
        more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        return f"{'; '.join(found[:_MOST_NAMED])}{more}"

    def _missing(self, author: Author, needs: Iterable[Need]) -> Iterator[str]:
        for need in needs:
            if self._may(author, need.access):
                continue
            lacking = [one for one in need.instead if not self._may(author, one)]
            if lacking or not need.instead:
                yield from (one.missing(author.user) for one in lacking or (need.access,))

    def _ask(self, author: Author, access: Access) -> bool:
        spec = {"user": author.user, "groups": list(author.groups), **access.attributes()}
        return self._accounts.allows(spec)

    def _rules(self, planned: Mapping[tuple[str, str], Sequence[ReadOnly]]) -> RulesOf:
        return cache(partial(self._rules_of, planned))

    def _rules_of(
        self, planned: Mapping[tuple[str, str], Sequence[ReadOnly]], kind: Kind, name: str, namespace: str
    ) -> Sequence[ReadOnly] | None:
        """What a role gives now, and what it will give when the plan has written it."""
        stored = Role.of(kind.look_up(self._cluster.get, name, namespace))
        if stored is None:
            return planned.get((kind.kind, name))
        return (*stored.rules, *planned.get((kind.kind, name), ()))


def actor_of(
    plan: InstallPlan, groups: Sequence[OperatorGroup], cluster: Cluster, accounts: Accounts
) -> tuple[Identity | Nobody, Bound | None]:
    """Who carries out a plan, or why nobody may, and who binds it."""
    bound = _bound_of(plan, groups, cluster, accounts)
    if isinstance(bound, Nobody):
        return bound, None
    return identity_of(groups, plan.namespace, cluster), bound


def _bound_of(
    plan: InstallPlan, groups: Sequence[OperatorGroup], cluster: Cluster, accounts: Accounts
) -> Bound | Nobody | None:
    """Who binds a plan; why nobody may carry it out; or None where its namespace asks for no authors."""
    if plan.is_empty or not is_bound(groups) or len(managing(groups)) != 1:
        return None
    if not is_intact(plan):  # why: what is not ours is not read
        return Nobody(f"InstallPlan {plan.name} is not what was written")
    since = in_force(policy.AUTHORS, policy.probe(plan.namespace), accounts)
    if isinstance(since, str):
        return Nobody(since)
    subscriptions = Subscription.each(cluster.list(kinds.SUBSCRIPTION, plan.namespace))
    authors = authors_of(plan, subscriptions, since)
    return Nobody(authors) if isinstance(authors, str) else Bound(authors, managing(groups)[0], cluster, accounts)
