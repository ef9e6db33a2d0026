"""Runs every conformance suite and writes what was seen into the README of this folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

from tests.conformance.control_plane import ETCD, KUBE, PROGRAMS, NoControlPlane, program
from tests.conformance.targets import REAL, SANDBOX
from tests.steady import alone, failures, may_be_accident, with_memory

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
UNSTEADY = "unsteady"
"""Outcome of a case that failed beside others and passed alone."""
SEEN = {"passed": "yes", UNSTEADY: "yes, the second time"}
"""What the table says of a behaviour."""
ONCE = "once"
"""Target of a test that needs no API server."""
AT_ONCE = 2
"""Suites that run side by side, but those that are timed; each has its own servers and ports."""
SHOWN_LINES = 60
WIDEST_CASE = 60
WIDEST = 600
"""Characters of a verdict that the table shows."""


@dataclass(frozen=True, slots=True)
class Suite:
    """One run of pytest."""

    title: str
    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    is_timed: bool = False
    """It reports ratios of times, so it runs alone."""


FAULTS = ("tests/conformance/lifecycle/test_faults.py", "tests/conformance/lifecycle/test_bad_input.py")
SCOPED = "tests/conformance/attacks/test_scoped.py"
ATTACKS = "A tenant attacks while another installs"
SUITES = (
    Suite("The Kubernetes API", ("tests/conformance/api",)),
    Suite(
        "From a Subscription to an operator, and back",
        ("tests/conformance/lifecycle", *(f"--ignore={path}" for path in FAULTS)),
    ),
    Suite("Bad input and faults", FAULTS),
    Suite(ATTACKS, ("tests/conformance/attacks", f"--ignore={SCOPED}"), is_timed=True),
    Suite("A tenant whose account may little", (SCOPED,)),
    Suite("Real packages", ("tests/conformance/packages",)),
    Suite("The fakes of our tests, against our client", ("tests/conformance/ports",)),
    Suite("Images, against Debian's registry and skopeo", ("tests/conformance/images",)),
    Suite("Processes that are killed", ("tests/eventing/worker/test_crashes.py",), {"OLMF_CRASHES": "200"}),
)


@dataclass(frozen=True, slots=True)
class Case:
    """One test on one target."""

    suite: str
    module: str
    test: str
    target: str
    outcome: str
    """`passed`, `unsteady` (it failed, and passed alone), `skipped` or `failed`."""
    verdict: str = ""
    case: str = ""

    @property
    def place(self) -> tuple[str, str, str, str]:
        """What tells it from the other cases of its suite."""
        return self.module, self.test, self.target, self.case

    @property
    def behaviour(self) -> str:
        """The name of the test as people write, and of its case."""
        case = self.case.replace("|", "\\|")[:WIDEST_CASE]
        return sentence(self.test) + (f": {case}" if case else "")


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
    cases = [case for each in ran for case in each.cases]
    for case in cases:
        if case.outcome != "passed":
            print(f"{case.outcome}: {case.suite}: {case.behaviour} ({case.target}) {case.verdict}")
    if not all(each.is_good for each in ran):
        return 1
    if all(case.outcome in SEEN for case in cases):
        (HERE / "README.md").write_text(text_of(cases))
    return 0


def run(memory: Path, suite: Suite) -> Ran:
    """One suite, to its end; failures are printed with the last lines of its output."""
    started = time.monotonic()
    ran = attempt(suite, partial(with_memory, memory=folder_of(memory, suite)))
    word = "ok" if ran.is_good else "FAILED"
    print(f"{word}: {suite.title}: {len(ran.cases)} cases in {time.monotonic() - started:.0f} s", flush=True)
    if not ran.is_good:
        print("\n".join(ran.output.splitlines()[-SHOWN_LINES:]), flush=True)
    return ran


def again(memory: Path, first: Ran) -> Ran:
    """A suite of which a few cases failed, after these ran once more, alone."""
    folder = folder_of(memory, first.suite)
    if not may_be_accident(failures(folder)):
        return first
    second = attempt(first.suite, partial(alone, memory=folder))
    passed = {case.place for case in second.cases if case.outcome == "passed"}
    cases = [
        replace(case, outcome=UNSTEADY) if case.outcome == "failed" and case.place in passed else case
        for case in first.cases
    ]
    return Ran(first.suite, tuple(cases), second.status, second.output)


def folder_of(memory: Path, suite: Suite) -> Path:
    """Where pytest writes down what of a suite failed."""
    return memory / suite.title


def attempt(suite: Suite, how: Callable[[Sequence[str]], list[str]]) -> Ran:
    """What came of pytest for a suite."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        command = [
            sys.executable, "-m", "pytest", *suite.words, "-m", "conformance or not conformance", "--tb=short",
            "-o", "junit_family=xunit1", f"--junitxml={results}",
        ]  # fmt: skip
        environment = {**os.environ, **suite.environment}
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
        verdict = next((each.get("value", "") for each in element.iter("property")), "")
        why = "" if skipped is None else skipped.get("message", "")
        module = element.get("classname", "").rpartition(".")[2].removeprefix("test_").replace("_", " ")
        yield Case(title, module, name, target, outcome, verdict or why, case)


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


INTRODUCTION = f"""# What the sandbox and a real Kubernetes API have in common

Written by `make conformance`: the same assertions against the sandbox of this repository and against a real control
plane, which it starts on this machine: etcd {ETCD}, kube-apiserver {KUBE} with the admission plugins that are on by
default (ServiceAccount and PodSecurity are two of them) and the authority of a front proxy, kube-controller-manager
{KUBE} with every default controller. It has no scheduler and no kubelet: `eventing/local/kubelet` plays one Node,
where Pods
become Ready, wait for their Secrets and ConfigMaps, or run a program of ours. On the sandbox it plays the controllers
of workloads, too. Programs come from `KUBEBUILDER_ASSETS`, else from a cache, else they are built once with Go. A
behaviour that is not in this table is not claimed. The table is written only when all passed; `–` means that a
behaviour was not asked for there.
"""


def text_of(cases: Iterable[Case]) -> str:
    """The report: the same text for the same outcomes."""
    behaviours: defaultdict[str, list[Case]] = defaultdict(list)
    verdicts: list[Case] = []
    attempts: list[Case] = []
    for case in cases:
        (
            attempts
            if case.suite == ATTACKS
            else verdicts
            if case.verdict
            else behaviours[f"{case.suite}: {case.module}"]
        ).append(case)
    tables = [table(title, of_module) for title, of_module in behaviours.items() if of_module]
    return "\n".join([INTRODUCTION, *("\n".join(lines) for lines in (*tables, attacks(attempts), packages(verdicts)))])


def table(title: str, cases: list[Case]) -> Iterator[str]:
    """Behaviours by target; one column where there is no target."""
    targets = (ONCE,) if all(case.target == ONCE for case in cases) else (SANDBOX, REAL)
    seen = {(case.behaviour, case.target): SEEN[case.outcome] for case in cases if case.outcome in SEEN}
    yield f"## {title}\n"
    yield f"| behaviour | {' | '.join(targets)} |"
    yield "|---" * (len(targets) + 1) + "|"
    for behaviour in dict.fromkeys(case.behaviour for case in cases):
        row = [seen.get((behaviour, target), "–") for target in targets]
        yield f"| {behaviour} | {' | '.join(row)} |"
    yield ""


def attacks(cases: list[Case]) -> Iterator[str]:
    """What a tenant tried, and what it gained."""
    yield f"## {ATTACKS}\n"
    yield (
        "A tenant with `edit` and every verb on our kinds in one namespace (and an admin of it) writes hostile\n"
        "text into every string of every kind that we watch, and repeats attacks that worked once. Rights are all\n"
        "roles and bindings outside its namespace, and what the API server says about four users. Seconds depend\n"
        "on what else the machine does.\n"
    )
    yield f"| what | {SANDBOX} | {REAL} |"
    yield "|---|---|---|"
    said = {(case.behaviour, case.target): case.verdict or case.outcome for case in cases}
    for behaviour in dict.fromkeys(case.behaviour for case in cases):
        row = (shortened(said.get((behaviour, target), "–")) for target in (SANDBOX, REAL))
        yield f"| {behaviour} | {' | '.join(row)} |"
    yield ""


def packages(cases: list[Case]) -> Iterator[str]:
    """What each real package came to."""
    yield "## What each package says\n"
    yield "| package | real | the same on the sandbox |"
    yield "|---|---|---|"
    said = {(case.case, case.target): case.verdict for case in cases}
    for package in dict.fromkeys(case.case for case in cases):
        real = said.get((package, REAL), "")
        same = "yes" if said.get((package, SANDBOX)) == real else said.get((package, SANDBOX), "")
        yield f"| {package} | {shortened(real)} | {shortened(same)} |"
    yield ""


def shortened(text: str) -> str:
    """One line of a table."""
    flat = " ".join(text.split()).replace("|", "\\|")
    return flat if len(flat) <= WIDEST else flat[:WIDEST].rpartition(" ")[0] + " …"


WORDS = {"csv": "CSV", "api": "API", "olm": "OLM", "yaml": "YAML", "json": "JSON", "crd": "CRD", "olmf": "`olmf`"}


def sentence(test: str) -> str:
    """A test name as people write."""
    return " ".join(WORDS.get(word, word) for word in test.removeprefix("test_").split("_"))
