"""Watches the Kubernetes API and makes each change an event.

One list+watch per kind of `routes.WATCHED`, over all namespaces. What decides is here, who does it is in the modules:
`hints` (what an event says of an object), `memory` (what was seen, and so what changed), `stream` (HTTP), `kind_watch`
(the life of one watch), `pulse` (who is alive), `census`, `measures` (what `/metrics` tells of objects, of runs),
`exposition` (its text), `program` (the process).

Decisions:
- Of kinds whose status no route asks about, only `metadata` is fetched (`PartialObjectMetadata`): a watcher of 5,000
  Roles and CRDs never sees a rule or a schema.
- An object's resourceVersion counts as delivered when the sink has returned. A sink that fails is asked again with the
  same events, for ever; meanwhile the watch reads no further.
- Bystanders. Of Jobs, Deployments, ServiceAccounts and rights only what is ours, or concerns one of ours, makes events:
  an object that carries `olm.managed`, or whose event rings a step. Rights that nobody owns may still be what a
  ClusterServiceVersion waits for, so their changes ring (the look-up `ring_dependents`); their mere existence when the
  watcher starts does not, because every ClusterServiceVersion rings itself then. An object that just lost its owner
  labels rings its former owner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eventing.events import Event
from eventing.routes import WATCHED
from eventing.watch.hints import hints
from shared.config import Settings
from shared.kinds import Kind

__all__ = ["hints", "run"]


def run(
    settings: Settings,
    sink: Callable[[Sequence[Event]], None],
    *,
    kinds: Sequence[Kind] = WATCHED,
    on_ready: Callable[[str, str], None] | None = None,
) -> None:
    """The watcher, until SIGTERM or SIGINT.

    Events are delivered when `sink` returns. `/livez`, `/readyz` and `/metrics` are on `settings.port`; `on_ready` gets
    the address and the URL of the probe once everything that exists was delivered.
    """
    from eventing.watch.program import work  # why: who only needs `hints` does not pay for aiohttp, 160 ms

    work(settings, sink, kinds=kinds, on_ready=on_ready)
