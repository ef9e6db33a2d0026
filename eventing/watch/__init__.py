"""Watches the Kubernetes API and turns each change into an event.

There is one list+watch per kind of `routes.WATCHED`, over all namespaces. The decisions are here; the modules are:
`hints` (the hints of an event), `memory` (the objects seen so far, and so what changed), `stream` (its requests),
`kind_watch` (the life of one watch), `pulse` (liveness), `census` (metrics of objects), `health` (probes and
`/metrics`), `program` (the process).

Decisions:
- For kinds whose status no route uses, only `metadata` is fetched (`PartialObjectMetadata`): a watcher of 5,000
  Roles and CRDs never reads a rule or a schema.
- An object's resourceVersion counts as delivered when the sink has returned. When the sink fails it is called again
  with the same events, for ever; meanwhile the watch reads no further.
- Unrelated objects. Jobs, Deployments, ServiceAccounts and RBAC objects make events only when they are ours or affect
  one of our objects: when they have the label `olm.managed`, or when their event rings a step. A ClusterServiceVersion
  may wait for RBAC objects without an owner, so their changes make events (handled by `ring_dependents`); their
  existence when the watcher starts does not, because every ClusterServiceVersion makes an event then. An object that
  just lost its owner labels makes an event for its former owner.
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
    from eventing.watch.program import work  # why: importing aiohttp takes 160 ms, which users of `hints` do not need

    work(settings, sink, kinds=kinds, on_ready=on_ready)
