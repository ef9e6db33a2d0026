"""One event as the routes see it: type, identity, and optional hints; never a body."""

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
    """What a CloudEvent says that routing may use (DESIGN §4)."""

    id: str
    type: str
    """`dev.knative.apiserver.resource.add|update|delete`, or one of ours."""
    source: str
    ref: Ref
    hints: Mapping[str, str] = field(default_factory=dict)
    """What the sender could see in the object. A hint narrows, its absence widens: `phase` (`status.phase`), `owners`
    (comma-joined owner references and owner labels: `Kind/name` in the same namespace, else `Kind/namespace/name`),
    `copied` (`true|false`: a copied CSV), `unpack` (`true|false`: an unpack Job)."""
    traceparent: str = ""
