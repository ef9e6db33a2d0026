"""The README of this folder: what was seen of each behaviour, on which target."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.conformance.control_plane import ETCD, KUBE
from tests.conformance.targets import REAL, SANDBOX

ATTACKS = "A tenant attacks while another installs"
UNSTEADY = "unsteady"
"""Outcome of a case that failed beside others and passed alone."""
SEEN = {"passed": "yes", UNSTEADY: "yes, the second time"}
"""What the table says of a behaviour."""
PACKAGES = "packages"
"""The module whose cases have a table of their own, of what each package came to."""
ONCE = "once"
"""Target of a test that needs no API server."""
WIDEST_CASE = 60
WIDEST = 600
"""Characters of a result that the table shows."""


@dataclass(frozen=True, slots=True)
class Case:
    """One test on one target."""

    suite: str
    module: str
    test: str
    target: str
    outcome: str
    """`passed`, `unsteady` (it failed, and passed alone), `skipped` or `failed`."""
    result: str = ""
    case: str = ""
    seconds: float = 0.0

    @property
    def place(self) -> tuple[str, str, str, str]:
        """What tells it from the other cases of its suite."""
        return self.module, self.test, self.target, self.case

    @property
    def behaviour(self) -> str:
        """The name of the test as people write, and of its case."""
        case = self.case.replace("|", "\\|")[:WIDEST_CASE]
        return sentence(self.test) + (f": {case}" if case else "")


INTRODUCTION = f"""# What the sandbox and a real Kubernetes API have in common

Written by `make conformance`: the same assertions against the sandbox of this repository and against a real control
plane, which it starts on this machine: etcd {ETCD}, kube-apiserver {KUBE} with the admission plugins that are on by
default (ServiceAccount and PodSecurity are two of them) and the authority of a front proxy, kube-controller-manager
{KUBE} with every default controller. It has no scheduler and no kubelet: `eventing/local/kubelet` plays one Node,
where Pods
become Ready, wait for their Secrets and ConfigMaps, or run a program of ours. On the sandbox it plays the controllers
of workloads, too. Programs come from `KUBEBUILDER_ASSETS`, else from a cache, else they are built once with Go. A
behaviour that is not in this table is not claimed. The table is written only when each was seen on one target
at least, and failed on none; `–` means that a behaviour was not asked for there.
"""


def text_of(cases: Iterable[Case]) -> str:
    """The report: the same text for the same outcomes."""
    behaviours: defaultdict[str, list[Case]] = defaultdict(list)
    results: list[Case] = []
    attempts: list[Case] = []
    for case in cases:
        (
            attempts
            if case.suite == ATTACKS
            else results
            if case.module == PACKAGES and case.result
            else behaviours[f"{case.suite}: {case.module}"]
        ).append(case)
    tables = [table(title, of_module) for title, of_module in behaviours.items() if of_module]
    return "\n".join([INTRODUCTION, *("\n".join(lines) for lines in (*tables, attacks(attempts), packages(results)))])


def table(title: str, cases: list[Case]) -> Iterator[str]:
    """Behaviours by target; one column where there is no target."""
    targets = (ONCE,) if all(case.target == ONCE for case in cases) else (SANDBOX, REAL)
    seen = {
        (case.behaviour, case.target): shortened(case.result or SEEN[case.outcome])
        for case in cases
        if case.outcome in SEEN
    }
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
        "text into every field that the schemas have for a text, of every kind that we watch and that is in a\n"
        "namespace, and repeats attacks that worked once. Compared are all roles and bindings outside its namespace,\n"
        "every right of users and ServiceAccounts there and in others, and reviews of every verb on every resource.\n"
        "What each attack would show is in [attacks](attacks/README.md). Seconds depend on what else the machine\n"
        "does: only how much longer the neighbour waits than a plain client beside it is a condition.\n"
    )
    yield f"| what | {SANDBOX} | {REAL} |"
    yield "|---|---|---|"
    output = {(case.behaviour, case.target): case.result or case.outcome for case in cases if case.target != ONCE}
    for behaviour in dict.fromkeys(behaviour for behaviour, _ in output):
        row = (shortened(output.get((behaviour, target), "–")) for target in (SANDBOX, REAL))
        yield f"| {behaviour} | {' | '.join(row)} |"
    yield ""


def packages(cases: list[Case]) -> Iterator[str]:
    """What each real package came to."""
    yield "## What each package says\n"
    yield "| package | real | the same on the sandbox |"
    yield "|---|---|---|"
    output = {(case.case, case.target): case.result for case in cases}
    for package in dict.fromkeys(case.case for case in cases):
        real = output.get((package, REAL), "")
        same = "yes" if output.get((package, SANDBOX)) == real else output.get((package, SANDBOX), "")
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
