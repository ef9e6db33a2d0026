"""Runs named steps on a node, and writes what each came to as the rows of a report."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from urllib3.exceptions import HTTPError

from shared.adapters.kube import ApiError

Host = TypeVar("Host")
FAILED = "FAILED"
COLUMNS = "| what | seconds | what was seen |\n|---|---|---|\n"


@dataclass(frozen=True)
class Steps(Generic[Host]):
    """Steps by what they show, and the report of them, which begins with `head`."""

    report: Path
    head: str
    steps: Mapping[str, Callable[[Host], str]]
    columns: str = COLUMNS

    def run(self, host: Host, words: Sequence[str]) -> int:
        """Run those that hold one of the words, all without words; keeps the rows of others; 1 when a step failed."""
        chosen = {what: step for what, step in self.steps.items() if not words or any(word in what for word in words)}
        lines, has_failed = self.former() if words else {}, False
        for what, seconds, seen in rows_of(host, chosen):
            lines[what] = f"| {what} | {seconds:.1f} | {seen} |"
            has_failed |= seen.startswith(FAILED)
            body = "".join(f"{lines[each]}\n" for each in self.steps if each in lines)
            self.report.write_text(f"{self.head}\n{self.columns}{body}")
        return int(has_failed)

    def former(self) -> dict[str, str]:
        """The lines of the present report, by step."""
        _, _, body = self.report.read_text().partition(self.columns) if self.report.exists() else ("", "", "")
        return {line.split(" | ")[0].removeprefix("| "): line for line in body.splitlines()}


def rows_of(host: Host, steps: Mapping[str, Callable[[Host], str]]) -> Iterator[tuple[str, float, str]]:
    """What each step came to, as it comes."""
    for what, step in steps.items():
        started = time.monotonic()
        try:
            seen = step(host)
        except (AssertionError, ApiError, HTTPError, subprocess.SubprocessError) as error:
            output = f"{error} {getattr(error, 'stderr', '') or ''}"
            seen = f"{FAILED}: " + " ".join(output.split())[:900].replace("|", "\\|")
        took = time.monotonic() - started
        sys.stdout.write(f"{what}: {took:.1f} s: {seen}\n")
        sys.stdout.flush()
        yield what, took, seen
