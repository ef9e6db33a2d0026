"""`olmf run watch`: the watcher, until it is ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from eventing.events.event import Event
from shared.config import Settings
from shared.kinds import WATCHED, Kind

if TYPE_CHECKING:
    from eventing.watch.connections import Dial
    from shared.adapters.kube.answers import Changes


def run(
    settings: Settings,
    sink: Callable[[Sequence[Event]], None],
    *,
    kinds: Sequence[Kind] = WATCHED,
    dial: Dial | None = None,
    changes: Changes | None = None,
    on_ready: Callable[[str, str], None] | None = None,
) -> None:
    """The watcher, until SIGTERM or SIGINT.

    Events are delivered when `sink` returns. `dial` leads to servers of catalogs with an address, `changes` is what
    events told before. `/livez`, `/readyz` and `/metrics` are on `settings.port`; `on_ready` gets the address and the
    URL of the probe once everything that exists was delivered.
    """
    from eventing.watch.program import work  # why: importing aiohttp takes 160 ms, which users of `hints` do not need

    work(settings, sink, kinds=kinds, dial=dial, changes=changes, on_ready=on_ready)
