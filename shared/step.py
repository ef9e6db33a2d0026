"""The input and the result of a step: it receives a `Ref` and returns an `Outcome`.

A write or event about an object with an invalid name cannot be made (`shared.refs.InvalidName`): a step decides before
what becomes of foreign text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from shared.api.manifest import Manifest
from shared.domain.statement import Code, Statement, sentence
from shared.kinds import Kind, Ref
from shared.names import FIELD_MANAGER

__all__ = [
    "NOTHING", "Apply", "Code", "Create", "Delete", "Emit", "Kind", "Merge", "Outcome", "Record", "Ref", "Replace",
    "SetStatus", "Statement", "StoreKeys", "Try", "Wait", "Write", "acting_as",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Create:
    """POST; when an object of that name already exists, this counts as done (names are derived from content)."""

    manifest: Manifest
    on_warning: Record | None = None
    """Event to write when the API server answers with warnings; its message becomes `<count> <message>: <warnings>`."""
    must_be_new: bool = False
    """Whether an existing object of that name is a conflict: it may belong to another owner, so the step runs again."""
    identity: Ref | None = None
    """The ServiceAccount with whose rights the API server is asked; None: with ours."""
    field_manager: str = ""
    """Who owns the fields; empty: the program that sends it."""
    batch: int = 0
    """The batch that it is part of: each write of a batch is tried though others of it are refused. 0: of none."""

    def __post_init__(self) -> None:
        Ref.of(self.manifest)


@dataclass(frozen=True, slots=True)
class Apply:
    """Forced server-side apply of a whole object that this project owns.

    A manifest with a resourceVersion is applied to that version alone.
    """

    manifest: Manifest
    identity: Ref | None = None
    """As in `Create`."""
    field_manager: str = FIELD_MANAGER
    """Who owns the fields."""
    batch: int = 0
    """As in `Create`."""

    def __post_init__(self) -> None:
        Ref.of(self.manifest)


@dataclass(frozen=True, slots=True)
class Try:
    """Dry run of a `Create`, or of an `Apply` where the manifest has a resourceVersion: refused like it, if at all."""

    manifest: Manifest
    field_manager: str = FIELD_MANAGER
    """Who would own the fields."""
    batch: int = 0
    """As in `Create`."""

    def __post_init__(self) -> None:
        Ref.of(self.manifest)


@dataclass(frozen=True, slots=True)
class Replace:
    """PUT; the manifest carries the resourceVersion that was read (without one: replace unconditionally)."""

    manifest: Manifest
    on_warning: Record | None = None
    """As in `Create`."""
    identity: Ref | None = None
    """As in `Create`."""

    def __post_init__(self) -> None:
        Ref.of(self.manifest)


@dataclass(frozen=True, slots=True)
class Merge:
    """JSON merge patch with only our keys of an object that others write, too."""

    ref: Ref
    patch: Manifest
    resource_version: str = ""
    """Optimistic lock; empty means unconditional."""
    identity: Ref | None = None
    """As in `Create`."""
    batch: int = 0
    """As in `Create`."""


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Replace the whole status of an object (status subresource).

    `resource_version` is the version that the step read; on a conflict the step runs again. It is empty only directly
    after the `Create` of the same object in the same Outcome; that the object exists already is a conflict, too.
    """

    ref: Ref
    status: Manifest
    resource_version: str = ""


@dataclass(frozen=True, slots=True)
class Delete:
    """DELETE; an object that does not exist counts as deleted."""

    ref: Ref
    uid: str = ""
    """Precondition: when the object has a different uid it is a new object, and is not deleted."""
    propagation: Literal["Background", "Foreground", "Orphan"] = "Background"
    identity: Ref | None = None
    """As in `Create`."""
    batch: int = 0
    """As in `Create`."""
    resource_version: str = ""
    """Precondition: an object that has changed since then is a conflict, so the step runs again."""


@dataclass(frozen=True, slots=True)
class Record:
    """A Kubernetes Event about `ref`; an equal Event within an hour increases the count instead.

    It is written after all other writes, if those before it in the Outcome were done; refused, it stops nothing.
    """

    ref: Ref
    type: Literal["Normal", "Warning"]
    reason: str
    message: str
    field_path: str = ""
    """The part of the object (`fieldPath`) that the Event is about."""


@dataclass(frozen=True, slots=True)
class StoreKeys:
    """POST or PUT of a Secret with private keys, which no step knows: effects put them in the place of their handles.

    With a resourceVersion the Secret is replaced, and keys that it holds may stay in it; without one it must be new.
    """

    manifest: Manifest
    """The Secret without what it holds."""
    texts: Mapping[str, str]
    """What everybody may read, by key."""
    keys: Mapping[str, str]
    """The handle of a private key, by key (`shared.ports.Keys`)."""
    identity: Ref | None = None
    """As in `Create`."""

    def __post_init__(self) -> None:
        Ref.of(self.manifest)


Write: TypeAlias = Create | Apply | Try | Replace | Merge | SetStatus | Delete | StoreKeys | Record


def acting_as(identity: Ref | None, writes: Iterable[Write]) -> tuple[Write, ...]:
    """The writes, made with the rights of a ServiceAccount (None: with ours); what we report is always ours."""
    if identity is None:
        return tuple(writes)
    return tuple(
        one if isinstance(one, SetStatus | Try | Record) else replace(one, identity=identity) for one in writes
    )


@dataclass(frozen=True, slots=True)
class Emit:
    """A CloudEvent of this project about `ref`: `io.olmf.<thing>.<past participle>`. A lost one only causes a delay."""

    type: str
    ref: Ref


@dataclass(frozen=True, slots=True)
class Wait:
    """What an object waits for, and when the step tries again (None: at the next event)."""

    what: str
    since: datetime | None = None
    """Since when, where the object says so; None: since the first of the runs in a row that waited for it."""
    next_try: datetime | None = None
    about: tuple[Ref, ...] = ()
    """The objects that wait; empty: that of the run, and everything in it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The decision of a step: writes in order (the first failure stops them, once its batch is tried), events, a delay.

    A later write may assume that the earlier ones, but those of its own batch, succeeded. Any prefix of the writes is
    safe to repeat.
    """

    writes: tuple[Write, ...] = ()
    emits: tuple[Emit, ...] = ()
    again_in: timedelta | None = None
    summary: str = ""
    """One sentence for the reader of the journal: what was decided and why. Empty: its statements say it."""
    wait: Wait | None = None
    statements: tuple[Statement, ...] = ()
    """What was decided about each package, by a step that decides for many."""
    read_set: Manifest | None = None
    """What it read of catalogs (`ReadSet.as_json`): while they answer the same, it would be the same. None: unknown."""

    @property
    def message(self) -> str:
        """What it says in one sentence."""
        return self.summary or sentence(self.statements)


NOTHING = Outcome()
"""Nothing to do."""
