"""`python -m tests.conformance.peers olm|operator-controller --checkout DIR`: a peer's own suite, against us.

`olm`: the specs of operator-framework/operator-lifecycle-manager (commit 992bb09). `operator-controller`: the scenarios
of operator-framework/operator-controller (commit df2c201). A checkout of either is not part of this project. Prints
each spec with its result, seconds and reason. `--keep` starts the cluster and keeps it until it is ended; runs with the
same `--work` use it, and SIGHUP starts our programs anew. Exit code 1 when a spec failed.
"""

from __future__ import annotations

import argparse
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue

from tests.conformance.peers import results, world
from tests.conformance.peers.images import registry_with
from tests.conformance.peers.olm import OLM
from tests.conformance.peers.operator_controller import OPERATOR_CONTROLLER
from tests.conformance.peers.peer import Peer
from tests.conformance.peers.suite import Result, Spec
from tests.conformance.peers.world import Programs, World

REVISION = ("git", "describe", "--always", "--dirty")
PEERS = {"olm": OLM, "operator-controller": OPERATOR_CONTROLLER}


def main() -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.peers", description=__doc__)
    parser.add_argument("what", choices=PEERS)
    parser.add_argument("--checkout", type=Path, required=True, help="the peer's sources")
    parser.add_argument("--work", type=Path, help="folder of program, logs and results; peers/<peer>")
    parser.add_argument("--keep", action="store_true", help="start the clusters only, and stay")
    parser.add_argument("--focus", default="", help="regular expression: only specs (`file: text`) that it fits")
    parser.add_argument("--resume", action="store_true", help="leave out what has passed before")
    parser.add_argument("--parallel", type=int, default=1, help="how many specs at a time, each in its own cluster")
    parser.add_argument("--first", type=int, default=0, help="the first of the running clusters that is used")
    parser.add_argument("--report", action="store_true", help="write PEERS.md from all results")
    options = parser.parse_args()
    peer, work = PEERS[options.what], options.work or Path("peers") / options.what
    options.work, options.checkout = work.resolve(), options.checkout.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    return keep(peer, options) if options.keep else run(peer, options)


def keep(peer: Peer, options: argparse.Namespace) -> int:
    """Start the clusters, and stay."""
    ended, due = threading.Event(), threading.Event()
    signal.signal(signal.SIGHUP, lambda *_: due.set())

    def end(*_: object) -> None:
        ended.set()
        due.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    with worlds(peer, options) as found:
        print(*(each.kubeconfig for each, _ in found), flush=True)
        while not ended.is_set():
            due.wait()
            due.clear()
            if not ended.is_set():
                for _, programs in found:
                    programs.restart()
                print("restarted", flush=True)
    return 0


@contextmanager
def worlds(peer: Peer, options: argparse.Namespace) -> Iterator[list[tuple[World, Programs]]]:
    """One cluster for each spec that runs at a time, as the suite would have it."""
    with ExitStack() as stack:
        images = registry_with(peer.bundles, peer.catalogs, options.checkout, options.work / "registry")
        registry = stack.enter_context(images)
        place = options.work / "worlds"
        yield [
            stack.enter_context(world.running(place / str(number), registry, peer.hosts, peer.apps, peer.prepare))
            for number in range(-(-options.parallel // peer.specs_per_world))
        ]


def run(peer: Peer, options: argparse.Namespace) -> int:
    """Run the chosen specs."""
    program, kept = options.work / "e2e.test", options.work / "results.jsonl"
    if not program.exists():
        peer.build(options.checkout, program)
    specs = peer.specs_of(program, options.checkout)
    passed = {name for name, each in results.read(kept).items() if options.resume and each.result == "passed"}
    chosen = [each for each in specs if re.search(options.focus, f"{each.file}: {each.text}")]
    chosen = [each for each in chosen if each.text not in passed and each.text not in peer.left_out]
    if chosen:
        (options.work / "logs").mkdir(exist_ok=True)
        with ExitStack() as stack:
            there = world.found(options.work / "worlds")
            there = there or [each for each, _ in stack.enter_context(worlds(peer, options))]
            places = [each for each in there[options.first :] for _ in range(peer.specs_per_world)]
            together = [each for each in chosen if each.file not in peer.alone]
            perform(peer, program, together, places[: options.parallel], options)
            perform(peer, program, [each for each in chosen if each not in together], places[:1], options)
    found = results.read(kept)
    if options.report:
        peer.report.write_text(peer.head + results.table(specs, found, peer))
    return int(any(found[each.text].result == "failed" for each in chosen))


def perform(peer: Peer, program: Path, chosen: list[Spec], there: list[World], options: argparse.Namespace) -> None:
    """Run specs, one at a time in each place, and keep each result as it comes."""
    revision = subprocess.run(
        REVISION, capture_output=True, text=True, check=True, cwd=peer.report.parent
    ).stdout.strip()
    free = SimpleQueue[World]()
    for each in there:
        free.put(each)

    def one(spec: Spec) -> Result:
        name = re.sub(r"[^A-Za-z0-9]+", "-", spec.text)[-120:]
        mine = free.get()
        try:
            return peer.run(program, options.checkout, spec, mine, options.work / "logs" / f"{name}.log")
        finally:
            free.put(mine)

    with ThreadPoolExecutor(len(there)) as pool:
        for ended in as_completed([pool.submit(one, spec) for spec in chosen]):
            result = replace(ended.result(), revision=revision)
            results.add(options.work / "results.jsonl", result)
            print(f"{result.result:8} {result.seconds:6.1f}  {result.file}: {result.spec}  {result.reason}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
