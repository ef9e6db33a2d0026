"""`python -m tests.conformance`: run the suite against the sandbox and a real API server, and write the report."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TARGETS = ("sandbox", "real")
HEAD = """# What the sandbox and a real Kubernetes API have in common

Written by `make conformance`: one suite, the same assertions against the sandbox and against kube-apiserver {kube},
etcd {etcd} and kube-controller-manager. A behaviour that is not in this table is not claimed.
"""


class Report:
    """Collects what became of every behaviour on every target."""

    def __init__(self) -> None:
        self.results: defaultdict[str, dict[tuple[str, str], str]] = defaultdict(dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called by pytest for each phase of each test."""
        if report.when == "call" or not report.passed:
            module, name, target = behaviour(report.nodeid)
            is_worse = self.results[module].get((name, target)) == "no"
            self.results[module][name, target] = "no" if is_worse else {"passed": "yes"}.get(report.outcome, "no")

    def text(self, kube: str, etcd: str) -> str:
        """The report."""
        lines = [HEAD.format(kube=kube, etcd=etcd)]
        for module, results in sorted(self.results.items()):
            lines += [f"## {module}", "", "| behaviour | sandbox | real |", "|---|---|---|"]
            for name in dict.fromkeys(name for name, _ in results):
                lines.append("| " + " | ".join([name, *(results.get((name, one), "–") for one in TARGETS)]) + " |")
            lines.append("")
        return "\n".join(lines)


def behaviour(node: str) -> tuple[str, str, str]:
    """Module, sentence and target: `…/test_watch.py::test_it_ends[real-soon]` → watch, it ends: soon, real."""
    path, _, test = node.partition("::")
    name, _, parameters = test.rpartition("::")[2].partition("[")
    words = parameters.removesuffix("]").split("-")
    target = next((word for word in words if word in TARGETS), "sandbox")
    rest = "-".join(word for word in words if word != target)
    sentence = name.removeprefix("test_").replace("_", " ") + (f": {rest[:60]}" if rest else "")
    return Path(path).stem.removeprefix("test_"), sentence.replace("|", "\\|"), target


def main() -> int:
    """Run, write, and exit as pytest does."""
    from tests.conformance.control_plane import ETCD, KUBE, PROGRAMS, NoControlPlane, program

    try:
        for name in PROGRAMS:
            program(name)
    except NoControlPlane as error:
        print(error, file=sys.stderr)
        return 1
    report = Report()
    code = pytest.main(["-p", "no:cacheprovider", *(sys.argv[1:] or [str(HERE)])], plugins=[report])
    text = report.text(KUBE, ETCD)
    if sys.argv[1:]:
        print(text)  # a part of the suite is no report
    else:
        (HERE / "README.md").write_text(text)
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
