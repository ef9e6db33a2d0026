"""The endpoint as a program of its own, beside a Redis and a cluster that is not there."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from eventing.local.processes.parent_watch import READY_FILE
from tests.kit import verbs
from tests.kit.waiting import wait_for

NOWHERE = {
    "apiVersion": "v1", "kind": "Config", "current-context": "it",
    "clusters": [{"name": "it", "cluster": {"server": "http://127.0.0.1:1"}}],
    "users": [{"name": "it", "user": {}}], "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
}  # fmt: skip
"""The kubeconfig of a cluster that does not answer."""


@dataclass(frozen=True)
class Endpoint:
    """A running endpoint."""

    address: str
    process: verbs.Started

    @property
    def memory(self) -> int:
        """Bytes of its resident memory."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


@contextmanager
def running_endpoint(
    redis_url: str, folder: Path, *words: str, environ: Mapping[str, str] | None = None
) -> Iterator[Endpoint]:
    """`olmf run endpoint` with these words; it must end with 0 when it is told to."""
    ready, kubeconfig = folder / "ready.json", folder / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(NOWHERE))
    arguments = {
        "OLMF_REDIS_URL": redis_url, "OLMF_KUBECONFIG": str(kubeconfig), "OLMF_PORT": "0", READY_FILE: str(ready),
        "OLMF_CONTENT": str(folder / "content"),
    }  # fmt: skip
    variables = {**os.environ, **arguments, **(environ or {})}
    with verbs.running("run", "endpoint", *words, environ=variables) as process:
        output = wait_for(lambda: ready.read_text() if ready.exists() else "", "the start of the endpoint")
        try:
            yield Endpoint(json.loads(output)["address"], process)
        finally:
            process.send(signal.SIGTERM)
            assert process.wait() == 0
