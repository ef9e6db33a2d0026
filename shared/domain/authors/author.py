"""The authors of the Subscriptions for which a plan was made; whose word counts, and for which plan."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from shared import names
from shared.api.views import InstallPlan, OperatorGroup, Subscription

_AUTHOR: Final = (names.AUTHOR, names.AUTHOR_GROUPS)
_OFF: Final = ("", "false")


@dataclass(frozen=True, slots=True, order=True)
class Author:
    """A user with groups, as whoever checks accesses knows them."""

    user: str
    groups: tuple[str, ...] = ()


def is_bound(groups: Iterable[OperatorGroup]) -> bool:
    """Whether a group of a namespace limits plans to what the authors of their Subscriptions may."""
    return any((group.annotation(names.AUTHOR_BOUND) or "") not in _OFF for group in groups)


def is_recorded(plan: InstallPlan) -> bool:
    """Whether the plan was made in such a namespace."""
    return names.PLANNED_FOR in plan.annotations


def author_of(subscription: Subscription) -> Author | None:
    """Who says that he wrote it; None when nobody does."""
    user = subscription.annotation(names.AUTHOR) or ""
    listed = (subscription.annotation(names.AUTHOR_GROUPS) or "").split("\n")
    return Author(user, tuple(sorted(filter(None, listed)))) if user else None


def planned_for(subscriptions: Iterable[Subscription]) -> str:
    """What a plan is told of the Subscriptions that it is made for, and of their authors."""
    records = [_record(one) for one in subscriptions]
    return json.dumps(sorted(records, key=lambda one: str(one["name"])), sort_keys=True, separators=(",", ":"))


def _record(subscription: Subscription) -> dict[str, Any]:  # why: any JSON value
    author = author_of(subscription) or Author("")
    ours = {
        key: value
        for key, value in subscription.annotations.items()
        if key.startswith(names.PREFIX) and key not in _AUTHOR
    }
    return {
        "name": subscription.name, "uid": subscription.uid, "generation": subscription.generation,
        "annotations": ours, "user": author.user, "groups": list(author.groups),
    }  # fmt: skip


def authors_of(plan: InstallPlan, subscriptions: Sequence[Subscription], since: datetime) -> tuple[Author, ...] | str:
    """Who binds a plan, each once, or why nobody may carry it out; what the plan says was digested with it.

    An author who came after the plan takes the Subscription as it was then.
    """
    if not is_recorded(plan):
        return f"InstallPlan {plan.name} was made before {names.AUTHOR_BOUND} was set: {_delete(plan)}"
    there = {one.name: one for one in subscriptions}
    found: set[Author] = set()
    for recorded in json.loads(plan.annotations[names.PLANNED_FOR]):
        subscription = there.get(recorded["name"])
        if subscription is None or not _is_same(recorded, _record(subscription)):
            return (
                f"Subscription {recorded['name']} is not what InstallPlan {plan.name} was made for, its author "
                f"included: {_delete(plan)}"
            )
        author = author_of(subscription)
        if author is None:
            return f"Subscription {subscription.name} names no author: {_how(subscription)}"
        if subscription.created is None or subscription.created < since:
            return (
                f"Subscription {subscription.name} was created before the policy about authors was in force for a "
                "minute, so its author may be anybody's word: delete it, and create it again with its author"
            )
        found.add(author)
    return tuple(sorted(found)) or f"InstallPlan {plan.name} was made for no Subscription: {_delete(plan)}"


def _is_same(recorded: Mapping[str, Any], present: Mapping[str, Any]) -> bool:
    named = ("user", "groups")
    if not recorded["user"]:
        recorded = {**recorded, **{key: present[key] for key in named}}
    return dict(recorded) == dict(present)


def _delete(plan: InstallPlan) -> str:
    return f"kubectl delete installplan {plan.name} -n {plan.namespace}, and another one is made"


def _how(subscription: Subscription) -> str:
    who = "$(kubectl auth whoami -o jsonpath='{.status.userInfo.username}')"
    place = f"{subscription.name} -n {subscription.namespace}"
    command = f'kubectl annotate subscriptions.operators.coreos.com {place} {names.AUTHOR}="{who}"'
    return f"whoever answers for it runs {command}"
