"""The work queue: which (step, ref) runs when, and who holds it. Client-go's workqueue, across processes, on Redis.

Every change of more than one key is one Lua script (`*.lua`, with `queue.lua` in front). Only this package and
`redis_server` import the Redis client; RQ appears in `rq_jobs` alone.

Words. An *entry* is `<group>/<step>|<ref>`. A *claim* holds a ref, not an entry, until its lease ends. A *ring* tells a
drainer that a group may have something ready. An *own* event is one that the entry's last run rang by its writes.

Keys (all begin with `olmf:`)
    job:<entry>            hash  lane; seq, since (in line since ms); causes, causes_count; running, running_count
                                 (causes of the present run); promised (what it rings, also if it
                                 is lost); attempts, bugs (in a row); error; due;
                                 wrote (own events); parked
    ready:<group>:<lane>   zset  entries in line, by seq: first come, first served, across groups; all of
                                 `direct` before any of `bulk`
    blocked:<ref>          set   entries in line whose ref is held
    held                   hash  ref -> token|worker|entry
    leases                 zset  held refs, by the end of their lease in ms of Redis' clock; sweeps renew it
    delayed                zset  entries by when they are due
    dead, parked:<ref>     zset, set  dead letters by when they were parked; those of one ref
    token, sequence        the last fencing token (microseconds, never backwards); the last place in line
    groups                 set   groups that ever had something
    bell:<group>, alarm    list  of one: wakes one drainer of the group; one sweeper
    drainers:<group>       zset  who drains it, by until when
    journal                stream  one entry for each run (and, from the journal, each event)
    trace:<cause>          W3C trace context of an event, or of what a run rang or wrote; for five minutes
    turn:<what>            taken for one period: who rings the audit
    refused                counts RQ jobs that were not ours
    ran, took              hash  <step>|<how it ended> -> number of runs, their microseconds (steps are few)

A timeline (one ref, two steps A and B, events e1 to e4)
    add A e1       ready [A]                                   the bell rings
    claim          held ref->A, token 7                        causes e1
    add B e2       blocked {B}                                 B waits for its ref, not for a worker
    add A e3 e4    blocked {A B}                               A waits once; its causes are e3 e4
    finish A ok    journal +1; ready [B A]; held -             in the order of arrival
    claim          held ref->B, token 8
    (killed)       the lease ends; sweep: B delayed, attempts 1, bugs 1, its causes e2 kept
    claim          held ref->A, token 9                        causes e3 e4: exactly one more run
    finish A retry delayed A, wrote w1                         back-off with jitter
    add A w1       delayed A, causes +w1                       its own write: the delay stays
    add A e5       ready [A]                                   somebody else's: at once

Invariants (each has a test in tests/eventing/workqueue; `test_any_order` tries them together)
    1  An entry is in at most one of ready, blocked, delayed, dead.
    2  A ref has at most one claim; a later claim has a greater token, even after FLUSHALL.
    3  What comes while an entry runs makes it run exactly once more, with every cause (32 by name, all counted).
    4  Only the token that holds the ref can extend, finish, or be told that it may write.
    5  A delay ends early for any event but an own one. Success, and only success, forgets failures.
    6  `max_failures` bugs or lost runs in a row park an entry; a retry never does. A parked entry is released, with all
       its chances, by the next event of its ref that is not its own, or by a person.
    7  A run ends, is journalled, rings what it emitted and schedules itself in one call, or does nothing of it; what it
       promised before its first write is rung even if it is lost, for its repetition may find nothing changed.
    8  Nothing leaves the queue but by `finish`; an entry that is finished leaves no key behind.

Sharp edges
    - Between `is_held` and a write lies an instant; resourceVersions and names derived from content cover it.
    - A run forgets delays that were set before it: a step that still wants to wait says so again.
    - An own event is recognised by its id, so only where the watch gives ids we can foresee (`events.change_id`).
      Through Knative ids are random: there a failing step that writes a status tries again at once, until its status
      is equal to the one before and nothing is written.
    - A call that lost its connection is repeated: `finish` may then say False for a run that it has ended.
    - Redis must not evict (`maxmemory-policy noeviction`) and is one server, not a Redis Cluster.
    - With `appendfsync everysec` a dying machine forgets a second of events. The audit rings for those.
    - RQ's list of failed jobs mirrors the dead letters; it is written after the script, so a kill between the two
      leaves a letter that only `olmf queue dead` shows.
    - A killed child is replaced at once, and what it held taken back; after a kill of parent and child its leases last
      ten seconds more (workers sweep, and thereby renew), those of a drainer that does not sweep `lease_seconds`.
    - A sweep thread that cannot get the interpreter for ten seconds loses its leases: the run is repeated elsewhere,
      and the first one is fenced.

Turned down: one item per ref that holds a set of steps (lanes, delays and dead letters belong to a step; blocking
behind the ref gives the same order with less to merge), Redis Streams with consumer groups (no coalescing), RQ's
`unique=True` (loses wake-ups while a job runs), one list for all groups (a deployment that serves few groups would have
to skip over the rest).
"""

from eventing.workqueue.client import UNREACHABLE, Client, connect
from eventing.workqueue.listing import listed
from eventing.workqueue.values import Added, Claim, Depth, Listed, Ran, State
from eventing.workqueue.work_queue import JOURNAL, JOURNAL_LENGTH, RECORD, WorkQueue

__all__ = [
    "JOURNAL",
    "JOURNAL_LENGTH",
    "RECORD",
    "UNREACHABLE",
    "Added",
    "Claim",
    "Client",
    "Depth",
    "Listed",
    "Ran",
    "State",
    "WorkQueue",
    "connect",
    "listed",
]
