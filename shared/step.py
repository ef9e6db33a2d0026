"""What a step is given and what it returns: `Ref` in, `Outcome` out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from shared.api.manifest import Manifest
from shared.kinds import Kind, Ref

__all__ = [
    "NOTHING", "Apply", "Create", "Delete", "Emit", "Kind", "Merge", "Outcome", "Record", "Ref", "Replace",
    "SetStatus", "Wait", "Write",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Create:
    """POST; an object of that name already there counts as done (names are derived from content)."""

    manifest: Manifest
    on_warning: Record | None = None
    """For when the server warns about the write: its message is completed to `<count> <message>: <warnings>`."""
    must_be_new: bool = False
    """An object of that name that came meanwhile is a conflict: it may be another's, and the step looks again."""


@dataclass(frozen=True, slots=True)
class Apply:
    """Server-side apply of a whole object of ours, forced, field manager `olmf`."""

    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Replace:
    """PUT; the manifest carries the resourceVersion that was read (absent: replace whatever is there)."""

    manifest: Manifest
    on_warning: Record | None = None
    """As of `Create`."""


@dataclass(frozen=True, slots=True)
class Merge:
    """JSON merge patch of only our keys of an object shared with others."""

    ref: Ref
    patch: Manifest
    resource_version: str = ""
    """Optimistic lock; empty means unconditional."""


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Replace the whole status of an object (status subresource).

    `resource_version` is what the step read: a conflict runs the step again. Empty only directly after the `Create`
    of the same object in the same Outcome.
    """

    ref: Ref
    status: Manifest
    resource_version: str = ""


@dataclass(frozen=True, slots=True)
class Delete:
    """DELETE; absent counts as done."""

    ref: Ref
    uid: str = ""
    """Precondition; a different uid means the object is another one, and nothing is deleted."""
    propagation: Literal["Background", "Foreground", "Orphan"] = "Background"


@dataclass(frozen=True, slots=True)
class Record:
    """A Kubernetes Event about `ref`; equal ones within an hour are counted, not repeated."""

    ref: Ref
    type: Literal["Normal", "Warning"]
    reason: str
    message: str
    field_path: str = ""
    """The part of the object that it is about."""


Write: TypeAlias = Create | Apply | Replace | Merge | SetStatus | Delete | Record


@dataclass(frozen=True, slots=True)
class Emit:
    """A CloudEvent of ours about `ref`: `io.olmf.<thing>.<past participle>`. Losing it costs only time."""

    type: str
    ref: Ref


@dataclass(frozen=True, slots=True)
class Wait:
    """What a stuck thing waits for, since when, and when it is tried next (None: at the next event)."""

    what: str
    since: datetime
    next_try: datetime | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step decided: writes in order (the first failure stops them), events, and a delay.

    A later write may assume that the earlier ones succeeded; every prefix is safe to repeat.
    """

    writes: tuple[Write, ...] = ()
    emits: tuple[Emit, ...] = ()
    again_in: timedelta | None = None
    verdict: str = ""
    """One sentence for people: what was decided and why."""
    wait: Wait | None = None


NOTHING = Outcome()
"""Nothing to do."""
