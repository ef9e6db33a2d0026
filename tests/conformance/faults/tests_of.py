"""Faults that tests show, with servers that say what a script has them say: these are run, and counted."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.conformance.faults.worlds import Worlds
from tests.conformance.report import ROOT, read


def passed(*words: str) -> str:
    """How many cases passed; AssertionError when one did not."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        command = [
            sys.executable, "-m", "pytest", "-q", *words, "-m", "conformance or not conformance", "--tb=short",
            "-p", "no:cacheprovider", "-o", "junit_family=xunit1", f"--junitxml={results}",
        ]  # fmt: skip
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-900:]
        cases = list(read("faults", results))
    assert cases
    assert all(case.outcome == "passed" for case in cases), [case for case in cases if case.outcome != "passed"]
    return f"nothing; {len(cases)} cases of {', '.join(f'`{word}`' for word in words if '/' in word)}"


def an_outage(_: Worlds) -> str:
    """Versions go back, and what came after the backup is gone."""
    return passed("tests/conformance/lifecycle/test_outages.py", "-k", "backup")


def watches(_: Worlds) -> str:
    """410 as the answer to a watch, and in it."""
    return passed("tests/eventing/watch/test_watcher.py")


def older_lists(_: Worlds) -> str:
    """From servers that lag, err, or were restored."""
    return passed("tests/eventing/watch/test_older_lists.py", "tests/adapters/kube/test_older_lists.py")


def credentials(_: Worlds) -> str:
    """While programs work."""
    return passed("tests/adapters/kube/test_credentials.py")
