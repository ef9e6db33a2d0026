"""What may go wrong, tried: `python -m tests.conformance faults [FAULT...]`; the report is FAULTS.md.

Words choose the faults that hold one of them; the report keeps the rows of the others. `OLMF_KILL_SECONDS` is for how
long processes are killed at random, ten minutes without it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from tests.conformance.faults import machine, redis, servers, tests_of
from tests.conformance.faults.worlds import Worlds
from tests.conformance.lifecycle import outages
from tests.conformance.node.report import Steps
from tests.conformance.targets import REAL, SANDBOX

HEAD = """# Faults, tried

Written by `python -m tests.conformance faults`, a row for each fault; words choose rows, and the others stay. Three
sample operators are asked for while the fault lasts (before it, where nobody can ask meanwhile), and afterwards it is
measured how long they take to be installed. A row says that nothing is lost only if every operator then works at its
newest version, nothing was made twice, no job is left over or parked, and nothing is written any more. Seconds are
those of the whole row: what is started before, the fault itself, and the wait until nothing is written any more.
They are of 2026-11-28 and 29, on two cores that did much else (load 5 to 18).

Where processes are killed at random, it is for ten minutes unless `OLMF_KILL_SECONDS` says otherwise (the rows say for
how long), with half a second to three and a half between two deaths, and of a real API server also etcd,
kube-apiserver and kube-controller-manager.
Seconds are then from the last of a round until all three samples work, or until nothing is left of them,
and contain the start of what was killed.

On a node, with pods instead of processes, the same is in [NODE.md](NODE.md); with a Broker in [KNATIVE.md](KNATIVE.md).
"""
COLUMNS = "| fault | seconds | what was lost, and how long until everything was as it should be |\n|---|---|---|\n"
Step: TypeAlias = Callable[[Worlds], str]


def on_both(fault: outages.Fault, what: str) -> dict[str, Step]:
    """The same fault on the sandbox and on a real API server."""
    return {
        f"{what} ({name})": partial(servers.is_survived, target=target, fault=fault)
        for name, target in (("sandbox", SANDBOX), ("real API server", REAL))
    }


FAULTS: Mapping[str, Step] = {
    "processes are killed at random (sandbox)": partial(machine.processes_are_killed, target=SANDBOX),
    "processes are killed at random (real API server)": partial(machine.processes_are_killed, target=REAL),
    "all processes are killed at once (sandbox)": partial(machine.all_processes_are_killed, target=SANDBOX),
    "Redis answers 200 ms later (sandbox)": redis.answers_late,
    **on_both(outages.redis_is_full, "Redis is full"),
    **on_both(outages.redis_is_a_replica, "Redis accepts no writes"),
    **on_both(outages.redis_is_emptied, "Redis is emptied, twice"),
    **on_both(outages.redis_goes_back, "Redis fails over to a replica that was behind"),
    "the disk of Redis, logs and journal is full (sandbox)": machine.disk_is_full,
    "the clock of one worker is an hour ahead (sandbox)": partial(machine.clock_is_off, hours=1),
    "the clock of one worker is an hour behind (sandbox)": partial(machine.clock_is_off, hours=-1),
    "the API server answers 200 ms later (real)": servers.answers_late,
    "the API server throttles, with Retry-After (real)": partial(
        servers.is_survived, target=REAL, fault=outages.api_throttles
    ),
    "the API server is restarted, with its store (real)": partial(
        servers.is_survived, target=REAL, fault=outages.api_is_down
    ),
    "the API server has a certificate of another authority (real)": partial(
        servers.is_survived, target=REAL, fault=outages.api_has_another_authority
    ),
    "etcd is restored from a backup (real)": tests_of.an_outage,
    "watches expire (a scripted API server)": tests_of.watches,
    "lists are older than what was seen (scripted API servers)": tests_of.older_lists,
    "certificates, tokens and kubeconfigs are rotated (scripted API servers)": tests_of.credentials,
}
STEPS = Steps[Worlds](Path(__file__).parents[1] / "FAULTS.md", HEAD, FAULTS, COLUMNS)


def main(words: Sequence[str]) -> int:
    """Try the faults and write the report; 1 when something was lost."""
    with tempfile.TemporaryDirectory(prefix="olmf-faults-") as folder, Worlds.below(Path(folder)) as worlds:
        return STEPS.run(worlds, words)
