"""A peer's suite as a program: how it is built, which specs it has, and how one of them is run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.peers.edits import overlay
from tests.conformance.peers.olm_edits import OLM_EDITS

SPEC_SECONDS = 600
"""How long a spec may take before it is interrupted."""
GRACE_SECONDS = 120
"""How long its clean-up may take then, before the program is killed."""
OUTCOMES = {"passed": "passed", "skipped": "skipped", "pending": "skipped"}


@dataclass(frozen=True, slots=True, order=True)
class Spec:
    """One spec of a suite."""

    file: str
    line: int
    text: str
    """Its own words after those of everything around it, as the suite's focus matches them."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a spec came to."""

    spec: str
    file: str
    result: str
    """`passed`, `failed` or `skipped`."""
    seconds: float
    reason: str = ""
    revision: str = ""
    """Of our code, which was tried."""


def build(checkout: Path, made: Path) -> None:
    """Build the program; with an empty build cache it takes about ten minutes on two cores."""
    with tempfile.TemporaryDirectory() as folder:
        listing = overlay(checkout, OLM_EDITS, Path(folder))
        command = ["go", "test", "-mod=vendor", "-vet=off", f"-overlay={listing}", "-c", "-o", str(made), "./test/e2e"]
        subprocess.run(command, cwd=checkout, check=True)


def specs_of(program: Path, checkout: Path) -> list[Spec]:
    """Every spec but those that its authors disabled."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "specs.json"
        command = [str(program), "--ginkgo.dry-run", f"--ginkgo.json-report={report}"]
        subprocess.run(command, cwd=checkout / "test" / "e2e", check=True, capture_output=True)
        return sorted(Spec(*_place(each), _text(each)) for each in _specs(report) if each["State"] != "pending")


def run(
    program: Path, checkout: Path, spec: Spec, words: Sequence[str], environ: Mapping[str, str], log: Path
) -> Result:
    """Run one spec against a cluster that `words` name; its output goes to `log`."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            str(program), f"--ginkgo.focus={re.escape(spec.text)}$", f"--ginkgo.json-report={report}", "--ginkgo.v",
            f"--ginkgo.timeout={SPEC_SECONDS}s", "--ginkgo.no-color", *words,
        ]  # fmt: skip
        started = time.monotonic()
        with log.open("wb") as output:
            try:
                subprocess.run(
                    command, cwd=checkout / "test" / "e2e", stdout=output, stderr=output, check=False,
                    timeout=SPEC_SECONDS + GRACE_SECONDS, env={**os.environ, **environ, "ARTIFACT_DIR": ""},
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return Result(spec.text, spec.file, "failed", round(time.monotonic() - started, 1), "did not end")
        took = round(time.monotonic() - started, 1)
        found = next((each for each in _specs(report) if _ran(each, spec)), None) if report.exists() else None
        if found is None:
            return Result(spec.text, spec.file, "failed", took, f"the suite did not begin; see {log.name}")
        outcome = OUTCOMES.get(found["State"], "failed")
        return Result(
            spec.text,
            spec.file,
            outcome,
            took,
            "" if outcome == "passed" else _reason(found).replace(f"{checkout}/", ""),
        )


def _specs(report: Path) -> list[dict[str, Any]]:
    suites = json.loads(report.read_text())
    return [each for suite in suites for each in suite["SpecReports"] or () if each["LeafNodeType"] == "It"]


def _ran(found: dict[str, Any], spec: Spec) -> bool:
    skipped_by_focus = found["State"] == "skipped" and not (found.get("Failure") or {}).get("Message")
    return _text(found) == spec.text and (not skipped_by_focus or found["State"] == "pending")


def _text(found: dict[str, Any]) -> str:
    return " ".join([*(found["ContainerHierarchyTexts"] or ()), found["LeafNodeText"]])


def _place(found: dict[str, Any]) -> tuple[str, int]:
    place = found["LeafNodeLocation"]
    return Path(place["FileName"]).name, int(place["LineNumber"])


def _reason(found: dict[str, Any]) -> str:
    failure = found.get("Failure") or {}
    place = failure.get("Location") or {}
    where = f"{Path(place['FileName']).name}:{place['LineNumber']}: " if place.get("FileName") else ""
    return where + " ".join(str(failure.get("Message", "")).split())[:600]
