"""The work queue on Redis, client-go's workqueue across processes: which (step, ref) runs when, by which worker.

Every change of more than one key is one Lua script (`*.lua`, behind those that all share). Beside this package
only the scheduler and `redis_server` import the Redis client; only `rq_jobs`, `rq_long` and `rq_cron` use RQ.

Terms. An *entry* is `<group>/<step>|<ref>`; to *enqueue* one is to make it wait, if it does not wait yet. A *claim* is
a worker's exclusive right to a ref (not only to an entry) until its lease ends. A *drainer* is a worker's child that
runs jobs. A *wake-up list* is one on which a drainer blocks until a group may have something ready. An *own* event is
the watch event of a write that the entry's last run made. A *long* job may take minutes: each is one RQ job of its
own, run by workers that run nothing else.

Keys (all begin with `olmf:`; their names never change, because during an update programs of two builds share them,
so some, like `held` and `bell`, are older than the terms above)
    job:<entry>            hash  lane; seq, since (in line since ms), order (place in its namespace);
                                 causes, causes_count; running, running_count,
                                 running_lane (causes and lane of the present run); promised (jobs
                                 it enqueues, also if it is lost), writes (counts that grow if it is
                                 lost); progress (of a long run, in JSON);
                                 attempts, bugs (in a row); error; due; rests (no event makes it run
                                 before); ended (why the run before was ended by force); alone (its
                                 next run is to be alone); wrote (own events); parked; read_set (what
                                 its last run read of catalogs: counts while it is the only field)
    read-sets              set   entries with such a read_set, and some that have it no more: an audit forgets what was
                                 read for objects that are gone
    ready:<group>:<lane>   zset  entries in line, by seq: the order of arrival
    order:<group>:<lane>:<namespace>  zset  the same, of one namespace (not `long`), by its `order`
    next:<group>:<lane>    zset  these namespaces, by what they have spent and how far their first entry is from the end
                                 of an install: the least goes first
    spent:<lane>           zset  namespace -> ms of workers, of those that have spent more than they would begin with
    level:<lane>                 the most that one had spent when it was served; who comes back begins 5,000 before that
    mended                 taken for ten seconds by the sweeper that looks for entries in no line
    claims                 counts claims: each eighth looks at `bulk` before `direct`
    long:<namespace>       zset  entries of the long lane in line, by seq: the same, of one namespace
    turns                  zset  namespaces with such entries; the head is the next to have a turn
    long-running:<namespace>  set  refs that a long run holds
    blocked:<ref>          set   entries in line whose ref is claimed
    held                   hash  ref -> token|worker|entry
    leases                 zset  claimed refs, by the end of their lease in ms of Redis' clock
    delayed                zset  entries by the time at which they are due
    dead, parked:<ref>     zset, set  dead letters by the time at which they were parked; those of one ref
    format                 the format of all this and of the journal (`format.lua`): an older build waits
    token, sequence        the last fencing token (microseconds, never backwards); the last arrival
    groups                 set   groups that ever had an entry
    bell:<group>, alarm, waker  list  wake-up lists, of one item: for one drainer of the group; for one sweeper; for the
                                 waker, when work comes to a group that nobody drains
    awake                  zset  groups (and `long`) with an awake drainer on call, by the end of that in ms
    journal                stream  one entry for each run (and, from the journal, each event)
    trace:<cause>          W3C trace context of an event, or of a run's jobs and writes; for five minutes
    reads:<step>           set   of which changes the runs of a step want to know (`journal.changes`)
    turn:<what>-<period>   taken by the one scheduler that does something in this period, e.g. the audit
    refused                counts RQ jobs that were not ours
    ran, took              hash  <step>|<how it ended> -> number of runs (or writes: `warned`), their microseconds
    within, exemplars      hash  <step>|<how it ended>|<bucket> -> number of runs in it (`durations.py`); of the last
                                 one whose trace is sent <trace>|<microseconds>|<ms>
    began:<event>                an event that waits for its first run, while runs are traced (`trace_notes.py`)
    recent:<step>|<how it ended>  list  the newest of these runs, where quantiles of the step are told: <end in ms>
                                 <microseconds>; for ten minutes, a thousand at most

A timeline (one ref, two steps A and B, events e1 to e4)
    add A e1       ready [A]                                   wakes a drainer
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

A timeline of the long lane (a namespace with the entries L and M, a budget of one)
    add L, add M   ready [L M] of `long`                       wakes a sweeper
    sweep          RQ `olmf-long` [L]                          any sweeper makes the RQ jobs that are missing
    claim_long L   held ref->L, token 10                       RQ starts it; `job.meta` tells how far it is
    add L e6       blocked {L}                                 as for any other entry
    sweep          RQ []                                       M must wait: the namespace has its one run
    (600 s)        the parent kills the run; sweep: L delayed, ended "ended after 600 s"; RQ [M]
    claim_long L   its step reads `Attempt.ended`, and writes the status that the killed run could not write
    rq cancel M    RQ []; sweep: M is a dead letter, until the next event or `rq requeue`

Invariants (each has a test in tests/eventing/workqueue; `test_any_order` tries them together)
    1  An entry is in at most one of ready, blocked, delayed, dead.
    2  A ref has at most one claim; a later claim has a greater token, even after FLUSHALL.
    3  Events that arrive while an entry runs make it run exactly once more, with every cause (32 by name, all counted).
    4  Only the token that holds the ref can renew its lease, finish, or get permission to write.
    5  Any event but an own one ends a delay early, or after its job's own delay (`Job.delay`). Only success resets the
       count of failures.
    6  Every `max_failures` bugs or lost runs in a row park an entry; a retry never does. A parked entry is released by
       the next event of its ref that is not its own, or by a person. Until it has run without a bug, or a person has
       released it, no event shortens its back-off any more, which goes on to grow: events are cheap, runs are not.
    7  Ending a run, its journal entry, its jobs, the count of its writes and its next run are one call, and the next
       claim of its thread may be in it: all of it happens, or nothing. The jobs that it promised before its first write
       are enqueued even if it is lost, and its writes counted: its repetition may find nothing changed.
    8  A namespace has at most `long_runs_per_namespace` long runs, and never all workers of the lane where there are
       several; namespaces take turns. The scripts alone decide what runs: an RQ job that is lost is made again, one
       that is doubled or late claims nothing.
    9  A result that cannot be stored (a bad ref, a record that is too long) is a bug of that run.
   10  Only `finish` removes an entry from the queue; a finished entry leaves no key behind, but what its run read of
       catalogs, if it did. That is known only while the entry is in no state at all, and gone with its next run.
   11  RQ's failed jobs `dead-…` are the dead letters: the call that parks or releases one writes both.
   12  A run that was under way when its worker ended, and may be the reason, is alone in its worker the next time.
   13  Where the number of waiting jobs is bounded (`add(most=…)`), none is added beyond it, and the sender is told.

Sharp edges
    - A lease may end between `lease_left` and the write, and Redis may lose it while the answer is good, for a time
      slice (`runner.lease`); resourceVersions and names derived from content prevent harm.
    - A run clears delays that were set before it: a step that still has to wait must return the delay again.
    - An own event is recognised by its id, so only when the watch uses predictable ids (`events.change_id`).
      With Knative ids are random: there a failing step that writes a status runs again at once, until its status
      is equal to the previous one and nothing is written.
    - A call that lost its connection is repeated: `finish` may then return False for a run that it has ended, and
      `claim` may hold a ref for nobody, until that lease ends: a worker renews only the claim that it runs.
    - A Redis that refuses changes (it is full) pauses the queue: workers hold their claims and repeat each call until
      it is taken, and whoever adds a job is told.
    - A killed worker of the long lane is counted until RQ forgets it (its parent makes RQ forget it at once): meanwhile
      a namespace may have one run more, within its budget.
    - RQ's command `stop-job` is not served; canceling the job ends its run.
    - Redis must not evict (`maxmemory-policy noeviction`) and is one server, not a Redis Cluster.
    - Whoever can send events that count as hints (`wiring.sink`) can have the jobs of a namespace wait behind made-up
      ones, up to the bound: nothing tells these from true ones before they run. With made-up namespaces, up to the
      bound of all, whoever sends hints is kept out: a quiet namespace looks like a made-up one, so room kept for such
      would have no bound. Our own watch is never refused, and the audit finds what was.
    - With `appendfsync everysec` a machine that fails loses one second of events. The audit finds these.
    - A killed child is replaced at once, and its jobs are taken back. After a kill of parent and child its leases last
      ten seconds more (workers renew them when they sweep); leases of a drainer that does not sweep, `lease_seconds`.
    - A claim whose answer was lost counts as a run of its namespace until its lease ends: a worker that has one run of
      a namespace at a time claims nothing else of it meanwhile.
    - A sweep thread that cannot get the interpreter for ten seconds loses its leases: the run is repeated elsewhere,
      and the first one is fenced.

Turned down: making the RQ job of a long job when it is added (every adder would import RQ, and two truths would have
to agree: here RQ's list is only made from the scripts' state, again and again), one item per ref that holds a set of
steps (lanes, delays and dead letters belong to a step; blocking behind the ref gives the same order with less to
merge), Redis Streams with consumer groups (no coalescing), RQ's `unique=True` (loses wake-ups while a job runs), one
list for all groups (a deployment that serves few groups would have to skip over the rest).
"""

from eventing.workqueue.client import (
    REFUSED,
    UNREACHABLE,
    Client,
    NewerFormat,
    QueueFull,
    answering,
    connect,
    is_paused,
    is_temporary,
)
from eventing.workqueue.listing import listed
from eventing.workqueue.scripts import check_format
from eventing.workqueue.values import Addition, Backlog, Claim, Depth, Listed, Loss, Ran, State
from eventing.workqueue.work_queue import WorkQueue

__all__ = [
    "REFUSED",
    "UNREACHABLE",
    "Addition",
    "Backlog",
    "Claim",
    "Client",
    "Depth",
    "Listed",
    "Loss",
    "NewerFormat",
    "QueueFull",
    "Ran",
    "State",
    "WorkQueue",
    "answering",
    "check_format",
    "connect",
    "is_paused",
    "is_temporary",
    "listed",
]
