"""One event as the routes see it: a type, the identity of an object, and optional hints; no body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shared.kinds import Ref

PHASE = "phase"
OWNERS = "owners"
COPIED = "copied"
UNPACK = "unpack"


@dataclass(frozen=True, slots=True)
class Event:
    """The attributes of a CloudEvent that routing may use (DESIGN §4)."""

    id: str
    type: str
    """`dev.knative.apiserver.resource.add|update|delete`, or a type of this project (`io.olmf.…`)."""
    source: str
    ref: Ref
    hints: Mapping[str, str] = field(default_factory=dict)
    """What the sender saw in the object. A hint narrows the routes, a missing one does not: `phase` (`status.phase`),
    `owners` (comma-joined owner references and owner labels: `Kind/name` in the same namespace, else
    `Kind/namespace/name`), `copied` (`true|false`: a copied CSV), `unpack` (`true|false`: an unpack Job)."""
    traceparent: str = ""


def change_id(uid: str, resource_version: str, verb: str) -> str:
    """The id of a watch event: the same on re-delivery, and known in advance to the run that makes the write.

    `verb` is `add`, `update` or `delete`.
    """
    return f"{uid}.{resource_version}.{verb}"


def change_of(event_id: str) -> tuple[str, str] | None:
    """Uid and resourceVersion in the id of a watch event; None for other events."""
    uid, _, rest = event_id.partition(".")
    version, _, verb = rest.partition(".")
    return (uid, version) if uid and version and verb in ("add", "update", "delete") else None
