"""What is written for a version, limited to the rights of the ServiceAccount that its OperatorGroup names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from functions.cluster_service_version._outcome import outcome_of
from shared import kinds
from shared.api.views import Csv, Object, OperatorGroup
from shared.domain.csv import installation
from shared.domain.csv.phases import Status
from shared.domain.operator_groups.identity import Nobody
from shared.names import REQUIREMENT_CHANGED
from shared.ports import Attempt, Cluster
from shared.reading.identity import identity_in
from shared.step import Emit, Merge, Outcome, Record, Ref, SetStatus, Write, acting_as

_REFUSED = ("forbidden", "invalid")
_UNANSWERED = ("InstallReady", "unanswered")
"""The phase in which a webhook that does not answer is a failure: whatever works already goes on working."""
_UNRECOVERABLE = {kind.kind for kind in (kinds.DEPLOYMENT, kinds.API_SERVICE, *kinds.WEBHOOK_CONFIGURATIONS)}
"""Kinds of which a forbidden write waits for other rights (csv.md §4.3)."""


def limited(outcome: Outcome, csv: Csv, status: Status, cluster: Cluster) -> Outcome:
    """The outcome with the identity that writes other objects than the version; or that nobody may."""
    ref = Ref.of(csv)
    if all(_is_ours(one, ref) for one in outcome.writes):
        return outcome
    actor = identity_in(csv.namespace, cluster)
    if not isinstance(actor, Nobody):
        writes = (one for each in outcome.writes for one in _acting(actor.account, each, ref))
        return replace(outcome, writes=tuple(writes))
    if actor.is_account_missing:
        return outcome_of(csv, installation.refused(status, actor.message, is_forbidden=True))
    return Outcome(emits=(Emit(REQUIREMENT_CHANGED, ref),), summary=actor.message)


def refused(attempt: Attempt, csv: Csv, status: Status) -> Outcome | None:
    """The failure of a version for which the API server refused a write of another object; None without one.

    None also when another client has changed or deleted that object meanwhile: it is read again.
    """
    failure = attempt.failure
    if failure is None or failure.ref == Ref.of(csv):
        return None
    if failure.kind not in _REFUSED and (status.phase, failure.kind) != _UNANSWERED:
        return None
    is_forbidden = failure.kind == "forbidden" and failure.ref.kind in _UNRECOVERABLE
    return outcome_of(csv, installation.refused(status, failure.message, is_forbidden=is_forbidden))


def witnesses(namespace: str, cluster: Cluster) -> Iterator[Object]:
    """What may have given rights that were missing: roles, the account that installs, or the group that names it."""
    groups = OperatorGroup.each(cluster.list(kinds.OPERATOR_GROUP, namespace))
    yield from groups
    is_scoped = any(group.service_account for group in groups)
    for kind in (kinds.SERVICE_ACCOUNT, *(kinds.RBAC if is_scoped else (kinds.ROLE, kinds.ROLE_BINDING))):
        yield from Object.each(cluster.list(kind, namespace if kind.is_namespaced else ""))


def _acting(account: Ref | None, write: Write, ref: Ref) -> tuple[Write, ...]:
    return (write,) if _is_ours(write, ref) else acting_as(account, (write,))


def _is_ours(write: Write, ref: Ref) -> bool:
    """Whether it reports about the version, or marks it as a member of its group."""
    return isinstance(write, SetStatus | Record) or (isinstance(write, Merge) and write.ref == ref)
