"""What is written for a version, limited to the rights of the ServiceAccount that its OperatorGroup names."""

from __future__ import annotations

from dataclasses import replace

from functions.cluster_service_version._outcome import outcome_of
from shared.api.views import Csv
from shared.domain.csv import installation
from shared.domain.csv.phases import Status
from shared.domain.operator_groups.identity import Nobody
from shared.names import REQUIREMENT_CHANGED
from shared.ports import Cluster
from shared.reading.identity import identity_in
from shared.step import Emit, Merge, Outcome, Record, Ref, SetStatus, Write, acting_as


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


def _acting(account: Ref | None, write: Write, ref: Ref) -> tuple[Write, ...]:
    return (write,) if _is_ours(write, ref) else acting_as(account, (write,))


def _is_ours(write: Write, ref: Ref) -> bool:
    """Whether it reports about the version, or marks it as a member of its group."""
    return isinstance(write, SetStatus | Record) or (isinstance(write, Merge) and write.ref == ref)
