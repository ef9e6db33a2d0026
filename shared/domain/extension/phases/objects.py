"""One object of a phase: what is to be done with it, and how it stands (v1.md §21.6, §21.7)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, cast

from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, name_of, namespace_of
from shared.api.views import ClusterObjectSet, Object
from shared.domain.extension.phases.actions import (
    Action,
    Protection,
    Revision,
    controller_of,
    object_action,
    protection_of,
)
from shared.domain.extension.phases.probes import Result, UnknownProbe, probe
from shared.domain.extension.phases.rollout import ObjectResult
from shared.domain.extension.phases.stamp import drift, last_applied, stamped

WRITTEN: Final = (Action.CREATE, Action.UPDATE, Action.RECOVER, Action.ADOPT)
"""What takes a write."""
TRUCE: Final = timedelta(seconds=10)
"""How often at most a field is put back that another controller sets."""
_NAMED: Final = 5
_ITS_CONTENT: Final = (Action.CREATE, Action.ADOPT)
"""What gives an object the content of the revision; the others find it there."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done with one object."""

    result: ObjectResult
    desired: Manifest
    actual: ReadOnly | None
    phase: int = 0
    """The number of its phase."""
    rest: timedelta = timedelta()
    """How long it is left as it is: somebody takes back what we put back."""

    @property
    def action(self) -> Action:
        """What is done, or was found."""
        return self.result.action


@dataclass(frozen=True, slots=True)
class Claim:
    """A revision that wants objects, and who else of its extension may have them."""

    revision: ClusterObjectSet
    now: datetime
    siblings: Collection[str] = ()
    """The uids of the other active revisions."""

    def task(self, manifest: ReadOnly, actual: ReadOnly | None, place: tuple[int, int], *, is_namespaced: bool) -> Task:
        """What to do with the object at a place (phase, index)."""
        desired = stamped(manifest, self.revision, actual, is_namespaced=is_namespaced)
        action = self._action(desired, actual, place)
        observed = desired if actual is None else actual
        found = ObjectResult(observed, action, self._probe(action, desired, observed), _report(action, observed))
        return Task(found, desired, actual, place[0], self._rest(action, observed))

    def _rest(self, action: Action, actual: ReadOnly) -> timedelta:
        last = last_applied(actual) if action is Action.RECOVER else None
        if last is None or last > self.now:  # whoever may write the object may write any time there
            return timedelta()
        return max(last + TRUCE - self.now, timedelta())

    def _action(self, desired: ReadOnly, actual: ReadOnly | None, place: tuple[int, int]) -> Action:
        own = Revision(self.revision.uid, self.revision.number, self.siblings)
        changed = None if actual is None else drift(desired, actual)
        try:
            return object_action(actual, own, self._protection(place), *(() if changed is None else (changed,)))
        except ValueError:  # somebody wrote another text where the number of a revision belongs
            return Action.COLLISION

    def _protection(self, place: tuple[int, int]) -> Protection:
        phase = self.revision.phases[place[0]]
        one = fields.parts(phase, "objects")[place[1]]
        levels = (fields.text(each, "collisionProtection") for each in (one, phase))
        return cast("Protection", protection_of(*levels, self.revision.protection))

    def _probe(self, action: Action, desired: ReadOnly, observed: ReadOnly) -> Result:
        try:
            before = probe(desired, self.revision.probes)
            if action is Action.ADOPT and before.status != "True":
                return Result("Unknown", (".status outdated",))
            return before if action in _ITS_CONTENT else probe(observed, self.revision.probes)
        except UnknownProbe as error:
            return Result("Unknown", (str(error),))


def described(manifest: ReadOnly) -> str:
    """An object as reports name it."""
    kind = f"{manifest.get('kind')}.{manifest.get('apiVersion')}"
    return f"Object {kind} {namespace_of(manifest)}/{name_of(manifest)}"


def terminating(objects: Iterable[ReadOnly]) -> str:
    """The objects that are being deleted and wait for finalizers, with these; empty when there is none."""
    deleted = (one for one in map(Object, objects) if one.is_deleted and one.finalizers)
    return ", ".join(
        f"{described(one.raw)} (finalizers: {', '.join(one.finalizers)})" for one in islice(deleted, _NAMED)
    )


def _report(action: Action, actual: ReadOnly) -> str:
    if action is not Action.COLLISION:
        return ""
    owners = (one for one in Object(actual).owners if one.uid == controller_of(actual))
    owner = next((f"{one.kind} {one.name}" for one in owners), "none")
    return f'{described(actual)}\nAction: "{action}"\nConflicting Owner: {owner}'
