"""The results of a suite: kept line by line, so that a run goes on where it ended, and told as a table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from tests.conformance.peers.peer import Peer
from tests.conformance.peers.suite import Result, Spec


def read(path: Path) -> dict[str, Result]:
    """The last result of each spec."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {each.spec: each for each in (Result(**json.loads(line)) for line in lines)}


def add(path: Path, result: Result) -> None:
    """Keep one more."""
    with path.open("a") as file:
        file.write(json.dumps(asdict(result)) + "\n")


def table(specs: Iterable[Spec], results: Mapping[str, Result], peer: Peer) -> str:
    """The specs by file, each with its result, and what the peer's description says of it."""
    rows, counts, file = [], Counter[str](), ""
    for spec in specs:
        if spec.file != file:
            file = spec.file
            rows.append(f"\n## {file}\n\n| spec | result | seconds | reason |\n|---|---|---|---|")
        outcome, seconds, reason = _cells(results.get(spec.text), peer.left_out.get(spec.text, ""))
        if outcome == "passes" and (change := peer.altered.get(spec.text)):
            outcome, reason = "passes with a change", change
        if outcome == "fails" and (cause := peer.causes.get(spec.text)):
            reason = f"{cause} ({reason})" if reason else cause  # why: it may fail for something else by now
        counts[outcome] += 1
        rows.append(f"| {_cell(spec.text)} | {outcome} | {seconds} | {_cell(reason)} |")
    summary = ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common())
    return f"{summary}, of {sum(counts.values())}. {_revisions(results.values())}\n" + "\n".join(rows) + "\n"


def _revisions(results: Iterable[Result]) -> str:
    """Which code the results are of: what passed once may fail by now."""
    counts = Counter(each.revision or "an unknown revision" for each in results)
    return f"Results are of {', '.join(f'{revision} ({number})' for revision, number in counts.most_common())}."


def _cells(result: Result | None, reason: str) -> tuple[str, str, str]:
    if result is not None and result.result == "passed":
        return "passes", f"{result.seconds:.0f}", ""
    if reason:
        return "left out", "", reason
    if result is None:
        return "not run", "", ""
    return {"failed": "fails", "skipped": "skips itself"}[result.result], f"{result.seconds:.0f}", result.reason


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
