"""Repeats in another world the recorded changes of other clients: people, controllers, and programs in pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

import msgspec

from eventing.diagnosis.replay.comparison import plan_names
from eventing.diagnosis.replay.recording import Change, Recording
from eventing.diagnosis.replay.world_ports import World
from eventing.events.event import Event
from shared.adapters.kube import ApiError
from shared.adapters.kube.client import Propagation
from shared.api.manifest import Manifest, is_deleted, metadata, uid_of
from shared.api.views import Object
from shared.domain.merge_patch import patch_between
from shared.kinds import INSTALL_PLAN, NAMESPACE, Ref
from shared.names import (
    CSV_CLEANUP,
    FIELD_MANAGER,
    V1_CATALOG_FINALIZER,
    V1_EXTENSION_FINALIZERS,
    V1_TEARDOWN,
)  # fmt: skip

_OWN = (
    "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "deletionTimestamp",
    "deletionGracePeriodSeconds",
)  # fmt: skip
"""Metadata fields that the API server fills in."""
_PROPAGATIONS: Final[Mapping[str, Propagation]] = {"foregroundDeletion": "Foreground", "orphan": "Orphan"}
"""By the finalizer with which an API server notes it."""
_OURS = frozenset((CSV_CLEANUP, V1_CATALOG_FINALIZER, V1_TEARDOWN, *V1_EXTENSION_FINALIZERS))
"""The finalizers that our steps take off."""
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


@dataclass
class ExternalChanges:
    """The other clients of a world.

    Some of their changes answer objects that our steps made (a Deployment becomes available, a Job ends). Such a change
    waits until the object exists, but never writes a field that our steps decide: that would hide a different decision.
    """

    recording: Recording
    world: World
    unrepeatable: list[str] = field(default_factory=list)
    """The changes that the API server refused."""
    _answers: dict[Ref, list[Change]] = field(default_factory=dict)
    """The changes so far to each object that we made, by its recorded ref."""
    _answered: dict[Ref, tuple[str, int]] = field(default_factory=dict)
    """Uid and generation of the object to which the changes were applied last."""
    _plans: dict[str, str] = field(init=False)
    """InstallPlans of then by name, each with a name that means the same here."""
    _plans_here: dict[str, Manifest] = field(default_factory=dict)
    """InstallPlans of this world by uid, with those that are gone: they count, as then."""

    def __post_init__(self) -> None:
        self._plans = self.recording.plan_names()

    def prepare(self) -> None:
        """Create the namespaces."""
        for name in self.recording.namespaces():
            if self.world.get(NAMESPACE.ref(name)) is None:
                self.world.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def act(self, change: Change) -> None:
        """Repeat a change; an answer waits until its object exists."""
        ref = self.ref_here(change.event.ref)
        present = self.world.get(ref)
        if change.is_answer and change.after:
            self._note(change)
            if present is None:
                return
            self._answered[change.event.ref] = _generation(present)
        self._try(change, present)

    def answer(self, *, again: bool = False) -> Iterator[Event]:
        """Repeat the waiting answers; with `again` also those to objects that changed since. Yields the events."""
        for ref, changes in list(self._answers.items()):
            answered = self._answered.get(ref)
            present = None if answered and not again else self.world.get(self.ref_here(ref))
            if present is None or answered == _generation(present):
                continue
            is_known = answered and answered[0] == uid_of(present)
            for change in (replace(changes[-1], before=changes[-1].after),) if is_known else changes:
                self._try(change, self.world.get(here := self.ref_here(ref)))
                yield replace(change.event, ref=here)
            self._answered[ref] = _generation(self.world.get(self.ref_here(ref)) or present)

    def _note(self, change: Change) -> None:
        """Store a change of an object, and drop the changes of an earlier object of that name."""
        ref = change.event.ref
        known = self._answers.setdefault(ref, [])
        if known and uid_of(known[0].after or {}) != uid_of(change.after or {}):
            known.clear()
            self._answered.pop(ref, None)
        known.append(change)

    def ref_here(self, ref: Ref) -> Ref:
        """The ref of the same object in this world: the name of an InstallPlan hashes uids."""
        meant = self._plans.get(ref.name) if ref.kind == INSTALL_PLAN.kind else None
        if not meant:
            return ref
        self._plans_here |= {uid_of(plan): plan for plan in self.world.list(INSTALL_PLAN, ref.namespace)}
        names = plan_names(self._plans_here.values())
        return replace(ref, name=next((name for name, means in names.items() if means == meant), ref.name))

    def _here(self, manifest: Manifest) -> Manifest:
        """The object as a client would post it here, with the uids of this world."""
        text = msgspec.json.encode(manifest).decode()
        for uid, ref in self.recording.uids.items():
            if uid in text and (present := self.world.get(self.ref_here(ref))):
                text = text.replace(uid, uid_of(present))
        here: Manifest = msgspec.json.decode(text)
        name = self.ref_here(Ref.of(here)).name
        return {**here, "metadata": {**here["metadata"], "name": name}}

    def _try(self, change: Change, present: Manifest | None) -> None:
        try:
            self._do(change, present)
        except ApiError as error:
            self.unrepeatable.append(f"{change.event.type} of {change.event.ref} could not be repeated: {error}")

    def _do(self, change: Change, present: Manifest | None) -> None:
        ref = self.ref_here(change.event.ref)
        if change.event.type.endswith(".delete"):
            self._answers.pop(change.event.ref, None)
            if present is not None:
                self._end(ref)
        elif change.after is not None:
            if present is not None or not is_deleted(change.after) or change.event.type.endswith(".add"):
                self._write(change, ref, change.after, present)
            if change.is_deletion and self.world.get(ref):
                self.world.delete(ref, propagation=_propagation(change.after))

    def _write(self, change: Change, ref: Ref, recorded: Manifest, present: Manifest | None) -> None:
        """Create the object, or change what was changed."""
        after = self._here(recorded)
        if present is None:
            present = self.world.create(stripped(after), field_manager=_writer(change))
        else:
            before = self._here(change.before) if change.before else None
            if patch := _patch(present, before, after, is_answer=change.is_answer):
                self.world.merge(ref, patch, field_manager=_writer(change))
            if ref.api_version.startswith(INSTALL_PLAN.group):
                return  # why: our steps write its status
        if status := patch_between(present.get("status") or {}, _status(after, present)):
            self.world.merge(ref, {"status": status}, subresource="status")

    def _end(self, ref: Ref) -> None:
        """Delete an object; the finalizers of others are gone, as they were then, and ours are left to our steps."""
        self.world.delete(ref)
        left = Object(self.world.get(ref) or {}).finalizers
        ours = [one for one in left if one in _OURS]
        if len(ours) < len(left):
            self.world.merge(ref, {"metadata": {"finalizers": ours}})


def stripped(manifest: Manifest) -> Manifest:
    """The object as a client would post it, without the fields of the server."""
    meta = {key: value for key, value in metadata(manifest).items() if key not in _OWN}
    return {**{key: value for key, value in manifest.items() if key != "status"}, "metadata": meta}


def _propagation(manifest: Manifest) -> Propagation:
    """What becomes of the dependents of an object that is being deleted."""
    found = (_PROPAGATIONS[one] for one in Object(manifest).finalizers if one in _PROPAGATIONS)
    return next(found, "Background")


def _writer(change: Change) -> str:
    """The field manager of the change, which a decision may name; empty when it is not known.

    It wrote last; of one second, another than ours did.
    """
    entries = [one for one in Object(change.after or {}).managed if not one.subresource]
    last = max(entries, key=lambda one: (one.since or _NEVER, one.manager != FIELD_MANAGER), default=None)
    return last.manager if last else ""


def _generation(manifest: Manifest) -> tuple[str, int]:
    return uid_of(manifest), int(metadata(manifest).get("generation") or 0)


def _patch(present: Manifest, before: Manifest | None, after: Manifest, *, is_answer: bool) -> Manifest:
    """The merge patch of a change, without the status."""
    if before is None and is_answer and "status" in after:
        return {}  # why: a difference from the present object may be our own change
    patch: Manifest = patch_between(stripped(before or present), stripped(after))
    if "aggregationRule" in after:
        patch.pop("rules", None)  # why: the API server of this world aggregates them from the roles of this world
    return patch


def _status(after: Manifest, present: Manifest) -> Manifest:
    """The recorded status, with the generation of the present object."""
    status: Manifest = after.get("status") or {}
    if "observedGeneration" not in status:
        return status
    behind = int(metadata(after).get("generation") or 0) - int(status["observedGeneration"])
    return {**status, "observedGeneration": _generation(present)[1] - behind}
