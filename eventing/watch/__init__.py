"""Watches the Kubernetes API and makes each change an event.

One list+watch per kind of `routes.WATCHED`, over all namespaces. What decides is here, who does it is in the modules:
`hints` (what an event says of an object), `memory` (what was seen, and so what changed), `stream` (HTTP), `kind_watch`
(the life of one watch), `pulse` (who is alive), `program` (the process).

Decisions:
- Of kinds whose status no route asks about, only `metadata` is fetched (`PartialObjectMetadata`): a watcher of 5,000
  Roles and CRDs never sees a rule or a schema.
- An object's resourceVersion counts as delivered when the sink has returned. A sink that fails is asked again with the
  same events, for ever; meanwhile the watch reads no further.
- Bystanders. ServiceAccounts, Roles and their like that no ClusterServiceVersion owns may still be what one waits for,
  so their changes ring (the look-up `ring_dependents`); their mere existence when the watcher starts does not, because
  every ClusterServiceVersion rings itself then. A Deployment that nobody of ours owns is not ours to look at at all;
  one that just lost its owner labels rings its former owner.
"""

from __future__ import annotations

from eventing.watch.hints import hints
from eventing.watch.program import run

__all__ = ["hints", "run"]
