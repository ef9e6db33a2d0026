"""`python -m tests.steady COMMAND…` runs pytest, tries a few that fail once more, alone, and names which then pass.

For tests of real processes, which share two cores with others: what fails for the company it keeps is told and is no
failure; what fails twice is one, and so are more than a few.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

AT_MOST = 3
"""Failures that are tried again; more of them are no accident."""


def with_memory(command: Sequence[str], memory: Path) -> list[str]:
    """The pytest command that writes down in a folder what fails."""
    return [*command, "-o", f"cache_dir={memory}"]


def alone(command: Sequence[str], memory: Path) -> list[str]:
    """The pytest command that runs only what failed, in one process."""
    return [*with_memory(command, memory), "--last-failed", "--last-failed-no-failures=none", "--numprocesses=0"]


def failures(memory: Path) -> list[str]:
    """Ids of the tests that failed in the last run."""
    told = memory / "v" / "cache" / "lastfailed"
    return sorted(json.loads(told.read_text())) if told.exists() else []


def may_be_accident(failed: Sequence[str]) -> bool:
    """Whether these failures are few enough to be tried again."""
    return 0 < len(failed) <= AT_MOST


def main(command: Sequence[str]) -> int:
    """The status of the first run, or of the second where there is one."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Path(folder)
        status = subprocess.run(with_memory(command, memory)).returncode
        failed = failures(memory)
        if status != 1 or not may_be_accident(failed):
            return status
        status = subprocess.run(alone(command, memory)).returncode
        again = failures(memory)
        for test in failed:
            print(f"{'failed twice' if test in again else 'UNSTEADY, passed alone'}: {test}", flush=True)
        return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
