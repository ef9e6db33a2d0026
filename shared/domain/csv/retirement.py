"""The replacement and deletion of a ClusterServiceVersion by its successor (csv.md §4.5-1, §4.6-1, §4.7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from shared.api.views import Csv, OperatorGroup
from shared.domain.csv import chain
from shared.domain.csv.phases import Status
from shared.domain.csv.transition import Transition
from shared.domain.objects.csv import NO_RETRY, UNFIT
from shared.kinds import Ref

_LOST = "marked as replacement, but no replacement CSV found in cluster"
_REPLACED = "has been replaced by a newer ClusterServiceVersion that has successfully installed."


def may_fail_forward(csv: Csv) -> bool:
    """Whether a successor may replace the version in a group that fails forward: it failed in its own phases (§3.2)."""
    return csv.phase == "Failed" and csv.reason not in {*UNFIT, NO_RETRY}


def released(group: OperatorGroup, csvs: Sequence[Csv]) -> tuple[Csv, ...]:
    """The failed versions of its namespace that a group lets their successors replace; usually none are left."""
    if not group.fails_forward:
        return ()
    return tuple(csv for csv in csvs if may_fail_forward(csv) and chain.successor(csv, csvs))


def begin(
    csv: Csv, namespace_csvs: Sequence[Csv], groups: Iterable[OperatorGroup], status: Status
) -> Transition | None:
    """Replacing, when a successor exists and this version has succeeded (or failed, and the group fails forward)."""
    following = chain.successor(csv, namespace_csvs)
    if following is None or status.phase not in ("Succeeded", "Failed"):
        return None
    message = f"being replaced by csv: {following.name}"
    if status.phase == "Failed":
        if not any(group.fails_forward for group in groups if group.namespace == csv.namespace):
            return None
        message = f"Fail Forward is enabled, allowing Failed csv to be replaced by csv: {following.name}"
    return Transition(status.to("Replacing", "BeingReplaced", message), message, enqueues=(Ref.of(following),))


def finish(csv: Csv, namespace_csvs: tuple[Csv, ...], status: Status) -> Transition:
    """Deleting, once no older version is left and its successor has succeeded.

    The end of the chain is checked, too, so that two successive versions that are both being replaced do not wait for
    each other.
    """
    if status.phase == "Deleting":
        return Transition(status, _REPLACED)
    older = chain.predecessor(csv, namespace_csvs)
    following = chain.successor(csv, namespace_csvs)
    last = chain.final(csv, namespace_csvs)
    if older is not None:
        # The older one may wait for the last, whose success reaches only this one.
        is_due = (older.phase, last.phase) == ("Replacing", "Succeeded")
        waiting = _waits(status, f"{older.name} to be deleted first")
        return replace(waiting, enqueues=(Ref.of(older),) if is_due else ())
    if following is None:
        return Transition(status, _LOST, waits_for=_LOST)
    if "Succeeded" in (following.phase, last.phase):
        return Transition(status.to("Deleting", "Replaced", _REPLACED), _REPLACED)
    # A successor that is not installed yet may wait for the OperatorCondition of this version.
    enqueues = (Ref.of(following),) if following.phase == "Pending" else ()
    return replace(_waits(status, f"{last.name} to succeed"), enqueues=enqueues)


def _waits(status: Status, what: str) -> Transition:
    return Transition(status, f"waits for {what}", waits_for=what)


def left_behind(ref: Ref, namespace_csvs: Sequence[Csv]) -> tuple[Ref, ...]:
    """The refs of the versions that waited for a deleted one: its successors, and those whose CRDs it owned."""
    gone = Csv({"metadata": {"name": ref.name, "namespace": ref.namespace}})
    successors = (csv for csv in namespace_csvs if csv.reason == "OwnerConflict")
    return tuple(dict.fromkeys(Ref.of(one) for one in (*chain.successors(gone, namespace_csvs), *successors)))


def related(csv: Csv, namespace_csvs: Sequence[Csv]) -> tuple[Ref, ...]:
    """The refs of its predecessor and successors, which wait for its phase."""
    older = chain.predecessor(csv, namespace_csvs)
    return tuple(Ref.of(one) for one in (*((older,) if older else ()), *chain.successors(csv, namespace_csvs)))
