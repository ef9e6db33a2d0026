"""How one ClusterServiceVersion makes room for the next (csv.md §4.5-1, §4.6-1, §4.7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from shared.api.manifest import Manifest, ReadOnly, metadata, name_of, namespace_of
from shared.domain.lifecycle import chain
from shared.domain.lifecycle.phases import Status, phase_of
from shared.domain.lifecycle.verdict import Verdict
from shared.kinds import Ref

_LOST = "marked as replacement, but no replacement CSV found in cluster"
_REPLACED = "has been replaced by a newer ClusterServiceVersion that has successfully installed."


def fails_forward(namespace: str, groups: Iterable[ReadOnly]) -> bool:
    """Whether the group of the namespace lets a failed version be replaced."""
    return any(
        namespace_of(group) == namespace
        and (group.get("spec") or {}).get("upgradeStrategy") == "TechPreviewUnsafeFailForward"
        for group in groups
    )


def begin(csv: ReadOnly, neighbours: Sequence[Manifest], groups: Iterable[ReadOnly], status: Status) -> Verdict | None:
    """Replacing, when a successor is there and this one has succeeded (or failed, and the group fails forward)."""
    following = chain.successor(csv, neighbours)
    if following is None or status.phase not in ("Succeeded", "Failed"):
        return None
    message = f"being replaced by csv: {name_of(following)}"
    if status.phase == "Failed":
        if not fails_forward(namespace_of(csv), groups):
            return None
        message = f"Fail Forward is enabled, allowing Failed csv to be replaced by csv: {name_of(following)}"
    return Verdict(status.to("Replacing", "BeingReplaced", message), message, rings=(Ref.of(following),))


def finish(csv: Manifest, neighbours: tuple[Manifest, ...], status: Status) -> Verdict:
    """Deleting, once nothing older is left and what replaces it has succeeded.

    Looking at the end of the chain as well keeps two versions in a row that both are being replaced from waiting for
    each other.
    """
    if status.phase == "Deleting":
        return Verdict(status, _REPLACED)
    older = chain.predecessor(csv, neighbours)
    following = chain.successor(csv, neighbours)
    if older is not None:
        return _waits(status, f"{name_of(older)} to be deleted first")
    if following is None:
        return Verdict(status, _LOST, waits_for=_LOST)
    last = chain.final(csv, neighbours)
    if "Succeeded" in (phase_of(following), phase_of(last)):
        return Verdict(status.to("Deleting", "Replaced", _REPLACED), _REPLACED)
    # One that is not installed yet may be waiting for what this one's OperatorCondition says.
    rings = (Ref.of(following),) if phase_of(following) == "Pending" else ()
    return replace(_waits(status, f"{name_of(last)} to succeed"), rings=rings)


def _waits(status: Status, what: str) -> Verdict:
    return Verdict(status, f"waits for {what}", waits_for=what)


def left_behind(ref: Ref, neighbours: Iterable[Manifest]) -> tuple[Ref, ...]:
    """Who waited for a version that is gone: what replaces it."""
    gone: Manifest = {"metadata": {"name": ref.name, "namespace": ref.namespace}}
    return tuple(map(Ref.of, chain.successors(gone, neighbours)))


def related(csv: ReadOnly, neighbours: Sequence[Manifest]) -> tuple[Ref, ...]:
    """What it replaces and what replaces it: they wait for its phase."""
    older = chain.predecessor(csv, neighbours)
    return tuple(map(Ref.of, (*((older,) if older else ()), *chain.successors(csv, neighbours))))


def is_deleted(csv: ReadOnly) -> bool:
    """Whether its deletion was asked for."""
    return bool(metadata(csv).get("deletionTimestamp"))
