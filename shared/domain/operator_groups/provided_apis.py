"""Decides which group provides an API when groups share namespaces (csv.md §9).

`intersection` decides for one ClusterServiceVersion: continue (`Agreed`), fail (`Refused`), or wait until
`operator_group/update_provided_apis` has written the annotation (`Announce`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from shared.api.views import Csv
from shared.domain.operator_groups.group import Api, Group, parse_apis, render_apis

STATIC_REASON = "CannotModifyStaticOperatorGroupProvidedAPIs"
STATIC_MESSAGE = "static provided api operatorgroup cannot be modified by these apis"
CONFLICT_REASON = "InterOperatorGroupOwnerConflict"
CONFLICT_MESSAGE = "intersecting operatorgroups provide the same apis"


@dataclass(frozen=True, slots=True)
class Agreed:
    """The group already announces every API, and no other group provides one of them: continue."""


@dataclass(frozen=True, slots=True)
class Announce:
    """The group's annotation gets this text first: with the APIs, or without those that a group with precedence has."""

    provided: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The version must fail with this reason and message, and its Deployments are deleted."""

    reason: str
    message: str


Intersection: TypeAlias = Agreed | Announce | Refused

_STATIC = Refused(STATIC_REASON, STATIC_MESSAGE)
_CONFLICT = Refused(CONFLICT_REASON, CONFLICT_MESSAGE)


def apis_of(csv: Csv) -> frozenset[Api]:
    """The APIs that a version provides: owned CustomResourceDefinitions and aggregated APIs.

    One that no annotation can name, as with a version `v1/v2`, counts for nobody; its requirement says what is wrong.
    """
    services = {entry.service: entry for entry in csv.owned_services}
    apis = (Api(one.group, one.version, one.kind) for one in (*csv.owned_definitions, *services.values()))
    return frozenset(api for api in apis if Api.parse(str(api)) == api)


def intersection(provided: frozenset[Api], own: Group, others: Iterable[Group]) -> Intersection:
    """The verdict on the provided APIs of one version, for its group and for the version.

    When two groups both announce an API already, the static group keeps it, else the older one, in any order of calls.
    """
    groups = [other for other in others if own.meets(other) and provided & other.apis]
    if not provided <= own.apis:
        if groups:
            return _CONFLICT
        return _STATIC if own.is_static else Announce(render_apis(own.apis | provided))
    if any(competing.outranks(own) for competing in groups):
        return _STATIC if own.is_static else Announce(render_apis(own.apis - provided))
    return Agreed()


def updated(own: Group, others: Sequence[Group], members: Iterable[frozenset[Api]], *, kept: frozenset[Api]) -> str:
    """The annotation with the APIs of all members, without the APIs that no version owns any more.

    `members` are the APIs of the versions that may announce, by creation; `kept` are all APIs that some version of the
    namespace owns.
    """
    if own.is_static:
        return own.provided
    for provided in members:
        result = intersection(provided, own, others)
        if isinstance(result, Announce):
            own = replace(own, provided=result.provided)
    return render_apis(own.apis & kept) if own.apis - kept else own.provided


def concerned(own: Group, provided: str, groups: Iterable[Group]) -> tuple[Group, ...]:
    """The groups to run again when `own` announces `provided`: it gave up an API, or they have to."""
    kept = parse_apis(provided)
    has_shrunk = bool(own.apis - kept)
    return tuple(
        competing
        for competing in groups
        if own.meets(competing) and (has_shrunk or (own.outranks(competing) and bool(kept & competing.apis)))
    )
