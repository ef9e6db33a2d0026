"""One event as the routes see it: a type, the identity of an object, and optional hints; no body."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from shared.refs import InvalidName, Ref, decoded, encoded

PHASE = "phase"
OWNERS = "owners"
COPIED = "copied"
UNPACK = "unpack"
COMPONENTS = "components"
LIMITED = "limited"
AUTOMATIC = "automatic"
OVER = "Over"
"""The phase of a Job that has completed or failed."""
MOST_OWNERS = 64
"""Maximum number of owners that a hint names: each may wake several steps."""
_ANY_VERSION = "any/v1"
"""Hints leave out the versions of owners; here stands a group whose names have the widest rules."""


@dataclass(frozen=True, slots=True)
class Event:
    """The attributes of a CloudEvent that routing may use (DESIGN §4)."""

    id: str
    type: str
    """`dev.knative.apiserver.resource.add|update|delete`, or a type of this project (`io.olmf.…`)."""
    source: str
    ref: Ref
    hints: Mapping[str, str] = field(default_factory=dict)
    """What the sender saw in the object. A hint narrows the routes, a missing one does not: `phase` (`status.phase`; of
    a Job `Over` or nothing), `owners` (of owner references and owner labels, as `Owner.joined` writes them), `copied`
    (`true|false`: a copied CSV), `unpack` (`true|false`: an unpack Job, or a ConfigMap with an unpacked bundle),
    `components` (names of the Operators that the object belongs to, between commas), `limited` (`true|false`: of a CSV,
    whether it names the last OpenShift that it is for, or did), `automatic` (`true|false`: of an APIService, whether
    the API server made it for what it serves itself)."""
    traceparent: str = ""


@dataclass(frozen=True, slots=True)
class Owner:
    """An owner of an object, as a hint names it. InvalidName when no object can be called so."""

    kind: str
    name: str
    namespace: str = ""
    """Empty: that of the object."""

    def __post_init__(self) -> None:
        Ref(_ANY_VERSION, self.kind, self.name, self.namespace)

    @classmethod
    def or_none(cls, kind: object, name: object, namespace: object = "") -> Owner | None:
        """The owner that a text of somebody else names; None when no object can be called so."""
        if not (isinstance(kind, str) and isinstance(name, str) and isinstance(namespace, str)):
            return None
        try:
            return cls(kind, name, namespace)
        except InvalidName:
            return None

    @staticmethod
    def joined(owners: Iterable[Owner]) -> str:
        """The hint: `Kind/name`, or `Kind/namespace/name` of another namespace, percent-encoded, between commas."""
        return ",".join(map(str, islice(dict.fromkeys(owners), MOST_OWNERS)))

    @classmethod
    def split(cls, hint: str) -> tuple[Owner, ...]:
        """The inverse of `joined`; what is no owner is left out."""
        return tuple(filter(None, map(cls._parsed, hint.split(",", MOST_OWNERS)[:MOST_OWNERS])))

    def __str__(self) -> str:
        return "/".join(filter(None, (self.kind, self.namespace, encoded(self.name))))

    @classmethod
    def _parsed(cls, text: str) -> Owner | None:
        kind, *place, name = text.split("/") if "/" in text else ("", "")
        if len(place) > 1 or "" in place:
            return None
        try:
            return cls(kind, decoded(name), *place)
        except InvalidName:
            return None


def change_id(uid: str, resource_version: str, verb: str) -> str:
    """The id of a watch event: the same on re-delivery, and known in advance to the run that makes the write.

    `verb` is `add`, `update` or `delete`.
    """
    return f"{uid}.{resource_version}.{verb}"


def change_of(event_id: str) -> tuple[str, str] | None:
    """Uid and resourceVersion in the id of a watch event; None for other events."""
    change, _, verb = event_id.rpartition(".")
    uid, _, version = change.partition(".")
    return (uid, version) if uid and version and verb in ("add", "update", "delete") else None
