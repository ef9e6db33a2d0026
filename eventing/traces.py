"""W3C trace context, as CloudEvents carry it (`traceparent`): which story an event or a run belongs to.

A story begins with an event from outside: with the context that its sender gave, or one made of its id, which is the
same for a re-delivery. Each run that it rings is a span of it, and so is each event that such a run emits or writes.
"""

from __future__ import annotations

import hashlib
import re

_FORM = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


def begun_by(event_id: str) -> str:
    """The context of an event whose sender gave none."""
    digest = hashlib.blake2b(event_id.encode(), digest_size=24).hexdigest()
    return f"00-{digest[:32]}-{digest[32:]}-01"


def continued(traceparent: str, run_id: str) -> str:
    """The context of a run within a story; one of its own where the story has no valid one."""
    if not _FORM.fullmatch(traceparent):
        return begun_by(run_id)
    version, trace, _, flags = traceparent.split("-")
    return f"{version}-{trace}-{hashlib.blake2b(run_id.encode(), digest_size=8).hexdigest()}-{flags}"
