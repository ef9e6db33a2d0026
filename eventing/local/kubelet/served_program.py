"""Runs the program of ours that a Pod serves with as a local process, with the certificate that the Pod mounts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import urlsplit

from eventing.local.kubelet.mounts import environment_of, mount_volumes, mounts_of, place_below
from eventing.local.kubelet.pod_network import PodNetwork
from eventing.local.kubelet.pods import PROGRAM, Ended, address_of, ports_of, words_of
from eventing.local.kubelet.programs import Programs, end_of
from eventing.local.kubelet.requests import insist
from eventing.local.processes import Forked
from eventing.local.processes.parent_watch import READY_FILE
from shared.adapters.kube import KubeClient
from shared.api.manifest import ReadOnly, annotations_of
from shared.kinds import Ref
from shared.names import KUBELET_SERVE

POLL_SECONDS: Final = 1.0
"""Interval of the looks at the Secrets of a Pod that serves."""
STOP_SECONDS: Final = 5.0
_READY_POLL_SECONDS: Final = 0.05


def is_our_server(pod: ReadOnly) -> bool:
    """Whether a Pod asks for the program of ours that its container names."""
    return annotations_of(pod).get(KUBELET_SERVE) == PROGRAM and words_of(pod)[:1] == (PROGRAM,)


class NotServing(Exception):
    """The program ended before it was ready."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended.output or f"exit code {ended.code}")


@asynccontextmanager
async def serving_program(
    cluster: KubeClient, network: PodNetwork, pod: ReadOnly, programs: Programs
) -> AsyncIterator[asyncio.Future[int]]:
    """The program of a Pod, ready, while the block runs; yields its end. NotServing when it does not become ready."""
    with TemporaryDirectory(dir=programs.folder, ignore_cleanup_errors=True) as own:
        root, ref = Path(own), Ref.of(pod)
        await insist(lambda: mount_volumes(cluster, pod, root), ref)
        environment = await insist(lambda: environment_of(cluster, pod), ref)
        ready, log = root / "ready", root / "log"
        environ = {**(environment or {}), "OLMF_PORT": "0", READY_FILE: str(ready)}
        process = await programs.start(root.name, _words(pod, root), environ, log)
        renewing = asyncio.create_task(_renew(cluster, pod, root))
        places = [(address_of(pod), port) for port in ports_of(pod)]
        try:
            port = await _port(process, ready, log)
            for place in places:
                network.join(place, port)
            yield process.ended
        finally:
            renewing.cancel()
            for place in places:
                network.leave(place)
            await programs.stop(process, STOP_SECONDS)


def _words(pod: ReadOnly, root: Path) -> list[str]:
    """The arguments; paths in a mounted folder lead to where it is mounted here."""
    mounts = tuple(f"{one.rstrip('/')}/" for one in mounts_of(pod))
    return [str(place_below(root, word)) if word.startswith(mounts) else word for word in words_of(pod)[1:]]


async def _port(process: Forked, ready: Path, log: Path) -> int:
    """The port of the loopback on which the program listens."""
    while not ready.exists():
        if process.ended.done():
            raise NotServing(Ended(process.ended.result(), end_of(log)))
        await asyncio.sleep(_READY_POLL_SECONDS)
    return urlsplit(json.loads(ready.read_text())["address"]).port or 0


async def _renew(cluster: KubeClient, pod: ReadOnly, root: Path) -> None:
    """Mount what Secrets hold by now, until cancelled."""
    while True:
        await asyncio.sleep(POLL_SECONDS)
        await insist(lambda: mount_volumes(cluster, pod, root), Ref.of(pod))
