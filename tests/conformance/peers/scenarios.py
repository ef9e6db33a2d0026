"""A suite of Gherkin features as a program: how it is built, which scenarios it has, and how one of them is run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.control_plane import program as of_kubernetes
from tests.conformance.peers.edits import overlay
from tests.conformance.peers.gherkin_edits import FEATURE_EDITS, STEP_EDITS
from tests.conformance.peers.suite import Result, Spec
from tests.conformance.peers.world import World

FEATURES = "test/e2e/features"
STEP_SECONDS = 100
"""How long a step waits for what it wants."""
SCENARIO_SECONDS = 600
_OPENING = re.compile(r"^\s*(?:Scenario(?: Outline)?|Examples):\s*(.*?)\s*$")
_ROW = re.compile(r"^\s*\|\s*(.*?)\s*\|\s*$")


def build(checkout: Path, made: Path) -> None:
    """Build the program, and write its features beside it; with an empty build cache it takes some minutes."""
    with tempfile.TemporaryDirectory() as folder:
        listing = overlay(checkout, STEP_EDITS, Path(folder))
        command = ["go", "test", "-vet=off", f"-overlay={listing}", "-c", "-o", str(made), "./test/e2e"]
        subprocess.run(command, cwd=checkout, check=True)


def features_of(checkout: Path, folder: Path) -> Path:
    """The features with our edits, in a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in (checkout / FEATURES).glob("*.feature"):
        shutil.copy(file, folder)
    for edit in FEATURE_EDITS:
        file = folder / Path(edit.file).name
        file.write_text(edit.applied(file.read_text()))
    return folder


def specs_of(program: Path, checkout: Path) -> list[Spec]:
    """Every scenario, and every example of an outline."""
    folder = features_of(checkout, program.parent / "features")
    return [spec for file in sorted(folder.glob("*.feature")) for spec in _specs(file)]


def _specs(file: Path) -> Iterator[Spec]:
    title, rows = "", -1
    lines = file.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if opening := _OPENING.match(line):
            rows = 0 if line.strip().startswith("Examples") else -1
            title = opening[1] if rows else title
            if rows and "Outline" not in line:
                yield Spec(file.name, number, title)
        elif rows >= 0 and (row := _ROW.match(line)):
            rows += 1
            if rows > 1:
                yield Spec(file.name, number, f"{title}: {row[1]}")


def run(program: Path, checkout: Path, spec: Spec, world: World, log: Path) -> Result:
    """Run one scenario in a world; its output goes to `log`."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        place = f"{program.parent / 'features' / spec.file}:{spec.line}"
        command = [
            str(program), f"--godog.format=pretty,cucumber:{report}", "--log.debug",
            f"--k8s.cli={stand_in_for_kubectl(Path(folder))}", place,
        ]  # fmt: skip
        environ = {
            **os.environ, "KUBECONFIG": world.kubeconfig, "PEER_PROXY": world.proxy, "PEER_REGISTRY": world.registry,
            "PEER_SCENARIO": uuid.uuid4().hex[:8], "E2E_STEP_TIMEOUT": f"{STEP_SECONDS}s",
        }  # fmt: skip
        started = time.monotonic()
        with log.open("wb") as output:
            try:
                subprocess.run(
                    command, cwd=checkout / "test" / "e2e", stdout=output, stderr=output, check=False,
                    timeout=SCENARIO_SECONDS, env=environ,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return Result(spec.text, spec.file, "failed", round(time.monotonic() - started, 1), "did not end")
        outcome, reason = _outcome(report)
        return Result(spec.text, spec.file, outcome, round(time.monotonic() - started, 1), reason)


def stand_in_for_kubectl(folder: Path) -> Path:
    """A program that is kubectl, but for what the simulated node has not."""
    script, ours = folder / "kubectl", Path(__file__).with_name("kubectl.py")
    script.write_text(
        f'#!/bin/sh\ncase " $* " in *" port-forward "*|*" exec "*) exec {sys.executable} {ours} "$@";; esac\n'
        f'exec {of_kubernetes("kubectl")} "$@"\n'
    )
    script.chmod(0o755)
    return script


def _outcome(report: Path) -> tuple[str, str]:
    """What a scenario came to, and the step that failed with what it says."""
    if not report.exists() or not report.stat().st_size:
        return "failed", "the suite did not begin"
    steps: list[dict[str, Any]] = [
        step for feature in json.loads(report.read_text()) for each in feature["elements"] for step in each["steps"]
    ]
    if all(step["result"]["status"] == "passed" for step in steps):
        return "passed", ""
    for step in steps:
        if step["result"]["status"] not in ("passed", "skipped"):
            text = f"{step['name']}: {step['result'].get('error_message', step['result']['status'])}"
            return "failed", " ".join(text.split())[:600]
    return "skipped", "a feature gate of the scenario is off"
