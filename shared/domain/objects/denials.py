"""Reads what an API server says when a ServiceAccount may not do something: the same sentence from every release."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_USER: Final = r'[Uu]ser "system:serviceaccount:(?P<namespace>[^:"]+):(?P<account>[^"]+)"'
_REFUSED: Final = re.compile(
    _USER + r' cannot (?P<verb>\S+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<place>[^"]+)")?'
)
_GIVING_AWAY: Final = re.compile(
    _USER + r'(?:(?![Uu]ser ").){0,200}? is attempting to grant RBAC permissions not currently held', re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Denial:
    """One thing that a ServiceAccount may not do."""

    namespace: str
    """That of the account."""
    account: str
    verb: str
    """Empty: it gives away rights that it has not."""
    resource: str = ""
    """With its API group, `deployments.apps`."""
    place: str = ""
    """The namespace where it may not; empty: in the cluster."""


def denials(message: str) -> Iterator[Denial]:
    """What a message says that a ServiceAccount may not do, each once."""
    found: dict[Denial, None] = {}
    for one in _REFUSED.finditer(message):
        resource = f"{one['resource']}.{one['group']}".rstrip(".")
        found[Denial(one["namespace"], one["account"], one["verb"], resource, one["place"] or "")] = None
    for one in _GIVING_AWAY.finditer(message):
        found[Denial(one["namespace"], one["account"], "")] = None
    yield from found


def plain(message: str) -> str:
    """The same, but all that it says that one ServiceAccount may not do in a short sentence; of several: as it is."""
    found = tuple(denials(message))
    if len(_by_account(found)) != 1:
        return message
    parts = (summary(found) if any(denials(part)) else part for part in message.split("; "))
    return "; ".join(dict.fromkeys(parts))


def other_parts(message: str) -> tuple[str, ...]:
    """What else a message says."""
    return tuple(part for part in message.split("; ") if not any(denials(part)))


def until_granted(found: tuple[Denial, ...]) -> str:
    """What ends the wait of whoever was denied this."""
    accounts = [f"ServiceAccount {account} is given what it lacks" for account in _by_account(found)]
    return f"when {' and '.join(accounts)}"


def summary(found: tuple[Denial, ...]) -> str:
    """All of them in a short sentence for each account: which verbs, of which resources, where."""
    return "; ".join(_lacking(account, denied) for account, denied in _by_account(found).items())


def _by_account(found: Iterable[Denial]) -> dict[str, list[Denial]]:
    accounts: dict[str, list[Denial]] = {}
    for one in found:
        accounts.setdefault(f"{one.namespace}/{one.account}", []).append(one)
    return accounts


def _lacking(account: str, denied: Sequence[Denial]) -> str:
    by_place: dict[tuple[str, str], list[str]] = {}
    for one in denied:
        if one.verb:
            by_place.setdefault((one.verb, one.place), []).append(one.resource)
    lacks = [
        f"{verb} {', '.join(resources)} {f'in namespace {place}' if place else 'in the cluster'}"
        for (verb, place), resources in by_place.items()
    ]
    gives = ["give away rights that it has not itself"] if any(not one.verb for one in denied) else []
    return f"ServiceAccount {account} may not {', nor '.join((*lacks, *gives))}"
