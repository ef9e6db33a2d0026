"""Runs every conformance suite; what was seen becomes the README of this folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

from tests.conformance.control_plane import PROGRAMS, NoControlPlane, program
from tests.conformance.tables import ATTACKS, ONCE, SEEN, UNSTEADY, Case, text_of
from tests.conformance.targets import REAL, SANDBOX
from tests.steady import alone, failures, may_be_accident, with_memory

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
AT_ONCE = 4
"""Runs of pytest side by side, but those that are timed: on two cores twice as many as these are, because each has its
own servers and ports, and needs less than half a core: it waits more than it works."""
SHOWN_LINES = 60
SLOWEST = 5
"""Modules of a suite whose time is printed."""


@dataclass(frozen=True, slots=True)
class Suite:
    """One run of pytest; runs of one title are one suite, in parts that take about as long as each other."""

    title: str
    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    is_timed: bool = False
    """It reports ratios of times, so it runs alone."""


LIFECYCLE = "tests/conformance/lifecycle"


def of_lifecycle(*names: str) -> tuple[str, ...]:
    """Modules of the folder that takes longest."""
    return tuple(f"{LIFECYCLE}/test_{name}.py" for name in names)


FAULTS = of_lifecycle("faults", "bad_input")
OUTAGES = of_lifecycle("outages")
"""Run apart, because it takes ten minutes; `python -m tests.conformance faults` tries the same faults, and more."""
SCOPE = of_lifecycle("scoped", "day_two")
MOVES = of_lifecycle("moving", "permissions", "handing_back")
SERVING = of_lifecycle("serving_operators")
SERVING_FAULTS = of_lifecycle("serving_faults", "serving_bad_input", "webhooks")
SOURCES = of_lifecycle(
    "addresses", "config_maps", "private_registries", "slow_registries", "cluster_catalogs", "extensions",
    "blocking_webhooks",
)  # fmt: skip
APART = (*FAULTS, *OUTAGES, *SCOPE, *MOVES, *SERVING, *SERVING_FAULTS, *SOURCES)
"""What of that folder is not in the run of all the rest of it."""
SCOPED = "tests/conformance/attacks/test_scoped.py"
UPGRADES = "tests/conformance/packages/test_upgrades.py"
"""Run apart, too: 22 packages from their oldest version to the head, on both targets."""
FROM_SUBSCRIPTIONS = "From a Subscription to an operator, and back"
FROM_SOURCES = "Catalogs, extensions, and what operators serve"
SUITES = (
    Suite(FROM_SUBSCRIPTIONS, SCOPE),
    Suite(FROM_SOURCES, SERVING),
    Suite(FROM_SUBSCRIPTIONS, MOVES),
    Suite(FROM_SOURCES, SERVING_FAULTS),
    Suite("Bad input and faults", FAULTS),
    Suite("The Kubernetes API", ("tests/conformance/api",)),
    Suite(FROM_SUBSCRIPTIONS, (LIFECYCLE, *(f"--ignore={path}" for path in APART))),
    Suite(FROM_SOURCES, SOURCES),
    Suite(ATTACKS, ("tests/conformance/attacks", f"--ignore={SCOPED}"), is_timed=True),
    Suite("Real packages", ("tests/conformance/packages", f"--ignore={UPGRADES}")),
    Suite("A tenant whose account may little", (SCOPED,)),
    Suite("Processes that are killed", ("tests/eventing/worker/test_crashes.py",), {"OLMF_CRASHES": "200"}),
    Suite("Images, against Debian's registry and skopeo", ("tests/conformance/images",)),
    Suite("The fakes of our tests, against our client", ("tests/conformance/ports",)),
)
"""Longest first, because the last one to begin is what everybody waits for."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a suite."""

    suite: Suite
    cases: tuple[Case, ...]
    status: int
    output: str

    @property
    def is_good(self) -> bool:
        """Nothing failed, and something ran."""
        return self.status == 0 and bool(self.cases)


def main() -> int:
    """0 when every behaviour is as wanted on both targets."""
    try:
        for name in PROGRAMS:
            program(name)
    except (NoControlPlane, subprocess.CalledProcessError) as error:
        print(f"no real control plane: {error}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as memory, ThreadPoolExecutor(AT_ONCE) as pool:
        once = partial(run, Path(memory))
        ran = list(pool.map(once, (suite for suite in SUITES if not suite.is_timed)))
        ran += map(once, (suite for suite in SUITES if suite.is_timed))
        ran = [each if each.is_good else again(Path(memory), each) for each in ran]
    cases = in_order(case for each in ran for case in each.cases)
    for case in cases:
        if case.outcome != "passed":
            print(f"{case.outcome}: {case.suite}: {case.behaviour} ({case.target}) {case.result}")
    if not all(each.is_good for each in ran):
        return 1
    if is_whole(cases):
        (HERE / "README.md").write_text(text_of(cases))
    return 0


def is_whole(cases: Sequence[Case]) -> bool:
    """Whether every behaviour was seen, on one target at least: what a target does not have is skipped there."""
    seen = {(case.suite, case.module, case.behaviour) for case in cases if case.outcome in SEEN}
    return all((case.suite, case.module, case.behaviour) in seen for case in cases)


def in_order(cases: Iterable[Case]) -> list[Case]:
    """By suite and module, in whichever part of the suite they ran."""
    titles = [suite.title for suite in SUITES]
    return sorted(cases, key=lambda case: (titles.index(case.suite), case.module))


def run(memory: Path, suite: Suite) -> Ran:
    """One suite, to its end; failures are printed with the last lines of its output."""
    started = time.monotonic()
    ran = attempt(suite, partial(with_memory, memory=folder_of(memory, suite)))
    word = "ok" if ran.is_good else "FAILED"
    print(f"{word}: {suite.title}: {len(ran.cases)} cases in {time.monotonic() - started:.0f} s", flush=True)
    print(slowest(ran.cases), flush=True)
    show(ran)
    return ran


def show(ran: Ran) -> None:
    """Print the end of the output of a suite that is not good."""
    if not ran.is_good:
        print("\n".join(ran.output.splitlines()[-SHOWN_LINES:]), flush=True)


def slowest(cases: Iterable[Case]) -> str:
    """The modules that took longest, with their seconds; what a module starts counts for its first case."""
    took: Counter[str] = Counter()
    for case in cases:
        took[case.module] += round(case.seconds)
    return "  " + ", ".join(f"{module} {seconds} s" for module, seconds in took.most_common(SLOWEST))


def again(memory: Path, first: Ran) -> Ran:
    """A suite of which a few cases failed, after these ran once more, alone."""
    folder = folder_of(memory, first.suite)
    if not may_be_accident(failures(folder)):
        return first
    second = attempt(first.suite, partial(alone, memory=folder))
    show(second)
    passed = {case.place for case in second.cases if case.outcome == "passed"}
    cases = [
        replace(case, outcome=UNSTEADY) if case.outcome == "failed" and case.place in passed else case
        for case in first.cases
    ]
    return Ran(first.suite, tuple(cases), second.status, second.output)


def folder_of(memory: Path, suite: Suite) -> Path:
    """Where pytest writes down what of a run failed."""
    return memory / str(SUITES.index(suite))


def attempt(suite: Suite, how: Callable[[Sequence[str]], list[str]]) -> Ran:
    """What came of pytest for a suite."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        command = [
            sys.executable, "-m", "pytest", *suite.words, "-m", "conformance or not conformance", "--tb=short",
            "-o", "junit_family=xunit1", f"--junitxml={results}",
        ]  # fmt: skip
        environment = {**os.environ, **suite.environment}
        environment.pop("CI", None)  # why: there pytest prints whole values, which hide what failed
        done = subprocess.run(how(command), cwd=ROOT, env=environment, capture_output=True, text=True)
        cases = tuple(read(suite.title, results)) if results.exists() else ()
    return Ran(suite, cases, done.returncode, done.stdout + done.stderr)


def read(title: str, results: Path) -> Iterator[Case]:
    """The cases of a result file."""
    for element in ElementTree.parse(results).iter("testcase"):  # why: pytest wrote it
        name, _, parameters = element.get("name", "").rstrip("]").partition("[")
        target, case = placed(parameters)
        failed = element.find("failure") is not None or element.find("error") is not None
        skipped = element.find("skipped")
        outcome = "failed" if failed else "passed" if skipped is None else "skipped"
        result = next((each.get("value", "") for each in element.iter("property")), "")
        why = "" if skipped is None else skipped.get("message", "")
        module = element.get("classname", "").rpartition(".")[2].removeprefix("test_").replace("_", " ")
        yield Case(title, module, name, target, outcome, result or why, case, float(element.get("time", 0)))


def placed(parameters: str) -> tuple[str, str]:
    """The target that the id of a case names, and what is left of the id."""
    for target in (SANDBOX, REAL):
        if parameters == target:
            return target, ""
        if parameters.startswith(f"{target}-"):
            return target, parameters.removeprefix(f"{target}-")
        if parameters.endswith(f"-{target}"):
            return target, parameters.removesuffix(f"-{target}")
    return ONCE, parameters
