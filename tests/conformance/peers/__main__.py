"""`python -m tests.conformance.peers olm --checkout DIR`: a peer's own end-to-end suite, run against us.

`olm`: the specs of operator-framework/operator-lifecycle-manager (commit 992bb09; a checkout of it is not part of this
project). Prints each spec with its result, seconds and reason. `world --checkout DIR` starts the cluster and keeps
it until it is ended; runs with the same `--work` use it, and SIGHUP starts our programs anew. Exit code 1 when a spec
failed.
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

from tests.conformance.peers import results, suite, world
from tests.conformance.peers.images import BUNDLES, CATALOGS, registry_with
from tests.conformance.peers.left_out import CAUSES, LEFT_OUT
from tests.conformance.peers.suite import Result, Spec
from tests.conformance.peers.world import Programs, World

REVISION = ("git", "describe", "--always", "--dirty")
REPORT = Path(__file__).parents[1] / "PEERS.md"
HEAD = """# The suites of our peers

Written by `python -m tests.conformance.peers olm --checkout DIR --report`: the end-to-end suite of Operator Lifecycle
Manager itself (commit 992bb09), against our programs on a real control plane with a simulated node. What is changed of
it is listed in `peers/edits.py`, images that nobody here can pull are made anew in `peers/images.py`. Our programs run
with `OLMF_EXECUTE_FOREIGN_PLANS` and `OLMF_LIFT_FOREIGN_ROLES`, because specs write plans and roles by hand. What
specs ask of the pods of catalogs is not asked: a row about such a pod that passes shows what else the spec asks. A row
is the last result of its spec, perhaps of older code: a run with `--resume` leaves out what has passed.

"""


def main() -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.peers", description=__doc__)
    parser.add_argument("what", choices=("olm", "world"))
    parser.add_argument("--checkout", type=Path, required=True, help="the peer's sources")
    parser.add_argument("--work", type=Path, default=Path("peers"), help="folder of program, logs and results")
    parser.add_argument("--focus", default="", help="regular expression: only specs (`file: text`) that it fits")
    parser.add_argument("--resume", action="store_true", help="leave out what has passed before")
    parser.add_argument("--parallel", type=int, default=1, help="how many specs at a time, each in its own cluster")
    parser.add_argument("--first", type=int, default=0, help="the first of the running clusters that is used")
    parser.add_argument("--report", action="store_true", help="write PEERS.md from all results")
    options = parser.parse_args()
    options.work, options.checkout = options.work.resolve(), options.checkout.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    return keep(options) if options.what == "world" else run(options)


def keep(options: argparse.Namespace) -> int:
    """Start the clusters, and stay."""
    ended, due = threading.Event(), threading.Event()
    signal.signal(signal.SIGHUP, lambda *_: due.set())

    def end(*_: object) -> None:
        ended.set()
        due.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    with worlds(options) as found:
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
def worlds(options: argparse.Namespace) -> Iterator[list[tuple[World, Programs]]]:
    """One cluster for each spec that runs at a time, as the suite would have it."""
    with ExitStack() as stack:
        images = registry_with(BUNDLES, CATALOGS, options.checkout, options.work / "registry")
        registries = stack.enter_context(images)
        place = options.work / "worlds"
        yield [
            stack.enter_context(world.running(place / str(number), registries)) for number in range(options.parallel)
        ]


def run(options: argparse.Namespace) -> int:
    """Run the chosen specs."""
    program, kept = options.work / "olm-e2e.test", options.work / "results.jsonl"
    if not program.exists():
        suite.build(options.checkout, program)
    specs = suite.specs_of(program, options.checkout)
    passed = {name for name, each in results.read(kept).items() if options.resume and each.result == "passed"}
    chosen = [each for each in specs if re.search(options.focus, f"{each.file}: {each.text}")]
    chosen = [each for each in chosen if each.text not in passed and each.text not in LEFT_OUT]
    if chosen:
        (options.work / "logs").mkdir(exist_ok=True)
        with ExitStack() as stack:
            there = world.found(options.work / "worlds")
            there = there or [each for each, _ in stack.enter_context(worlds(options))]
            perform(program, chosen, there[options.first :][: options.parallel], options)
    found = results.read(kept)
    if options.report:
        REPORT.write_text(HEAD + results.table(specs, found, LEFT_OUT, CAUSES))
    return int(any(found[each.text].result == "failed" for each in chosen))


def perform(program: Path, chosen: list[Spec], there: list[World], options: argparse.Namespace) -> None:
    """Run specs, one at a time in each cluster, and keep each result as it comes."""
    revision = subprocess.run(REVISION, capture_output=True, text=True, check=True, cwd=REPORT.parent).stdout.strip()
    free = SimpleQueue[World]()
    for each in there:
        free.put(each)

    def one(spec: Spec) -> Result:
        name = re.sub(r"[^A-Za-z0-9]+", "-", spec.text)[-120:]
        mine = free.get()
        try:
            return suite.run(program, options.checkout, spec, mine.words(), options.work / "logs" / f"{name}.log")
        finally:
            free.put(mine)

    with ThreadPoolExecutor(len(there)) as pool:
        for ended in as_completed([pool.submit(one, spec) for spec in chosen]):
            result = replace(ended.result(), revision=revision)
            results.add(options.work / "results.jsonl", result)
            print(f"{result.result:8} {result.seconds:6.1f}  {result.file}: {result.spec}  {result.reason}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
