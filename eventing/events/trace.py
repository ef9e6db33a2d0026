"""W3C trace context, as CloudEvents carry it (`traceparent`): the trace to which an event or a run belongs.

A trace begins with an event from outside: with the context that its sender gave, or one derived from the id of the
event, which is the same on re-delivery. Each run that it causes is a span of the trace, and so is each event of such a
run.
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
    """The context of a run within a trace; a new context when `traceparent` is not valid."""
    if not _FORM.fullmatch(traceparent):
        return begun_by(run_id)
    version, trace, _, flags = traceparent.split("-")
    return f"{version}-{trace}-{hashlib.blake2b(run_id.encode(), digest_size=8).hexdigest()}-{flags}"
