"""`kubectl get packagemanifests` of a real catalog through a real API server; needs the community catalog."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from tests.bench.row import Row
from tests.bench.snapshots import COMMUNITY
from tests.bench.timing import best
from tests.conformance.control_plane import program
from tests.conformance.targets import REAL, running
from tests.kit.waiting import wait_for


def rows() -> Iterable[Row]:
    """The one row; none where the catalog is not here."""
    if not COMMUNITY.is_dir():
        sys.stdout.write(f"{COMMUNITY} is not here: no row about kubectl and a real catalog\n")
        return
    with tempfile.TemporaryDirectory() as name, running(REAL, Path(name), "--catalog", str(COMMUNITY)):
        kubeconfig = str(Path(name) / "plane" / "kubeconfig")
        words = [str(program("kubectl")), "--kubeconfig", kubeconfig, "get", "packagemanifests", "-n", "default"]

        def shown() -> list[str]:
            found = subprocess.run(words, capture_output=True, text=True, check=False)
            return found.stdout.splitlines()[1:]

        packages = wait_for(lambda: len(shown()), "the packages of the catalog")
        took = best(shown, clock=time.perf_counter)
        yield Row(f"kubectl get packagemanifests, {packages} packages, warm", took, 1, "s")
