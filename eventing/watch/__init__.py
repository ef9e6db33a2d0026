"""Watches the Kubernetes API and turns each change into an event.

There is one list+watch per kind of `kinds.WATCHED`, over all namespaces. The decisions are here; the modules are:
`hints` (the hints of an event), `known_objects` (the objects seen so far, and so what changed), `stream` (its
requests), `kind_watch` (the life of one watch), `history` and `older_lists` (what a list is compared with), `outage`
(when the API server answers again), `skips` (what could not be handled), `following` (what lives with objects), `kept`
(the watch of a server that keeps what it has seen), `connections` (to the servers of catalogs with an address),
`keyed_tasks` (a task for each object, with limits), `demands` (kinds that only ClusterObjectSets need), `certificates`
(Secrets, where that is allowed), `translated` (events that become others), `watch_health` (liveness), `object_metrics`
(metrics of objects), `program` (the process, with its probes and `/metrics`).

Decisions:
- For kinds whose status no route uses, only `metadata` is fetched (`PartialObjectMetadata`): a watcher of 5,000
  Roles and CRDs never reads a rule or a schema.
- An object's resourceVersion counts as delivered when the sink has returned. While the sink is away (Redis refuses, or
  does not answer) it is called again with the same events, for ever; meanwhile the watch reads no further. That is for
  what passes by itself; any other error of Redis (of a script, of a command) is a fault of the event, which is skipped.
- One object, line or event that cannot be handled is skipped alone, logged (at most one line a second of each kind) and
  counted (`olmf_skipped_events_total`): whoever may write one object must not stop a watch. An object becomes
  known only after its events were made, so a skipped one is tried again with its next change and in every list.
  What lives with objects (metrics, connections, other watches) hears of them after that: what it cannot handle it does
  not follow, which is logged and counted likewise, and their events are made nevertheless.
- A watch whose events nobody takes is not healthy, though the API server answers. `/readyz` fails after 10 seconds.
  `/livez` fails after 3 minutes while Redis answers but refuses (a restart may help: other settings, a new connection),
  and after 15 minutes while Redis is away: a restart does not bring it back, and costs a list of everything when it
  comes, so there are at most four an hour. Turned down: never to fail while Redis is away (a wrong address would stay
  green for ever), and one bound for both.
- After an outage of the API server the watches go on within 3 seconds: one probe (`/readyz`, each second) asks for all,
  so that twenty watches need not ask often to be back soon. A watch that fails while the server is well has its own
  back-off, up to 10 seconds.
- When more than 20 events in a row were skipped because the sink could not handle them, it is not they that are at
  fault: that counts as a refusal of Redis, until one is taken.
- The position of a watch is passed on as it came; versions are compared only to see which of two of a kind is newer.
- A list that is older than what was seen before is asked for again, and believed only when the API server certainly
  has an older state (`older_lists`): a proxy that answers for a while with old, empty lists would delete everything.
  Likewise a kind that is not found takes the objects that were seen along only if discovery does not name it either.
- Of each object of a watched kind, ours or not, the watcher keeps key, uid, version and shared hints: 19 MB for
  50,000 objects that are not ours (measured), so 400 bytes each, and up to 300 more where names are as long as may be.
- Of Jobs, ConfigMaps, Services and NetworkPolicies only those with the label `olm.managed` are watched, by a selector:
  the others, which are most objects of a large cluster, cost nothing. The other kinds of high cardinality may concern
  us without the label.
- Kinds that only some clusters serve (`is_optional`) are asked for once, and then when their CustomResourceDefinition
  changes: such a watch rests, and has no age that could make it stale. Other kinds that are not served are asked for
  every 30 seconds, because an installation without them is not complete.
- A watcher that starts makes an event of each object that there is: of what was deleted while none ran nothing else
  tells, and a new release looks at everything. Namespaces and copied CSVs, of which a large cluster has most, enqueue
  nothing when an event was about that version before (`predicates.needs_no_repetition`): a copy that is lacking is
  found by the steps of its original, whose event comes again, and one whose original is gone by the next audit.
- Unrelated objects. Jobs, Deployments, ServiceAccounts and RBAC objects make events only when they are ours or affect
  one of our objects: when they have the label `olm.managed`, or when their event enqueues a step. A CSV
  may wait for RBAC objects without an owner, so their changes make events (handled by `notify_dependents`); their
  existence when the watcher starts does not, because every ClusterServiceVersion makes an event then. An object that
  just lost its owner labels makes an event for its former owner.
"""
