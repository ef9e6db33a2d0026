"""Watches the Secrets of serving certificates where the account may: the metadata of those labelled `olm.managed`.

Kubernetes knows no right to see metadata alone, so that a cluster must give this one apart (`k8s/README.md`); without
it the audit finds what was deleted or edited. The watch has no part in the health of the program.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from eventing.events.event import Event
from eventing.events.predicates import edited
from eventing.watch.demands import REFUSED_PAUSE_SECONDS, Means
from eventing.watch.kind_watch import KindWatch
from eventing.watch.known_objects import KnownObjects
from eventing.watch.older_lists import Judge
from eventing.watch.skips import Guarded
from eventing.watch.stream import Stream
from eventing.watch.translated import Translated
from eventing.watch.watch_health import WatchHealth
from shared import names
from shared.kinds import SECRET, Watch


def certificates(means: Means, deliver: Callable[[Sequence[Event]], Awaitable[None]]) -> KindWatch[Event]:
    """The watch, which is not running yet."""
    stream = Stream(means.session, means.connection, SECRET, Watch(is_ours_alone=True))
    known = KnownObjects(SECRET, means.connection.origin)
    return KindWatch(
        stream, Guarded(Translated(known, _harmed), SECRET, means.skips), deliver,
        health=WatchHealth(), seconds=means.seconds, outage=means.outage, longest=REFUSED_PAUSE_SECONDS,
        judge=Judge(known, stream.version_of, means.restored),
    )  # fmt: skip


def _harmed(found: Sequence[Event]) -> Sequence[Event]:
    """One that was just made needs no repair."""
    return tuple(replace(one, type=names.CERTIFICATE_CHANGED) for one in found if edited(one))
