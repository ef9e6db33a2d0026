"""OLM's own operator, made of its source (`go build ./cmd/olm`), beside a cluster."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PLACE = "OLMF_OLM_PROGRAM"
"""The variable that says where it is."""
END_SECONDS = 60


@contextmanager
def running_olm(program: str, kubeconfig: Path, namespace: str, log: Path) -> Iterator[None]:
    """It runs for as long as the block does, with `namespace` as its own; AssertionError when it ended before."""
    environ = {**os.environ, "KUBECONFIG": str(kubeconfig), "OPERATOR_NAME": "olm-operator"}
    words = [program, f"--namespace={namespace}", "--writeStatusName="]
    with log.open("wb") as output:
        process = subprocess.Popen(words, env=environ, stdout=output, stderr=output)
        try:
            yield
            assert process.poll() is None, f"OLM ended with {process.returncode}; see {log}"
        finally:
            process.terminate()
            process.wait(END_SECONDS)
