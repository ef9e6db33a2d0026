"""What `olmf plan` takes as a process, with a catalog and a bundle that it has read before."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.bench.row import Row
from tests.bench.timing import best, of_children
from tests.eventing.cli.test_plan import put, write_catalog, write_objects
from tests.kit.image_registry import scripted_registry
from tests.kit.installation import SAMPLES, a_subscription, an_operator_group


def rows() -> Iterable[Row]:
    """Every row of this page."""
    with tempfile.TemporaryDirectory() as name, scripted_registry() as registry:
        folder = Path(name)
        write_catalog(
            folder, {one: put(registry, SAMPLES / "beacon" / one, by_digest=True) for one in ("1.0.0", "1.1.0")}
        )
        subscription = a_subscription("beacon", "here", source="local", channel="stable")
        write_objects(folder, subscription, an_operator_group("here", targets=("here",)))
        words = ["plan", "-n", "here", "--catalog", str(folder / "cat"), "--from", str(folder / "objects")]
        environ = {**os.environ, "OLMF_CONTENT": str(folder / "content")}

        def plan() -> None:
            command = [sys.executable, "-m", "eventing.cli.main", *words]
            subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, check=True)

        plan()
        yield Row("olmf plan of one package, warm (processor time)", best(plan, clock=of_children), 0.6, "s")
