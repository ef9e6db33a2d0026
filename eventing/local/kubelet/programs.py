"""Runs the program `olmf` of a Pod as a local process."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import structlog

from eventing.local.kubelet.mounts import VOLUMES, environment_of, mount_volumes, mounts_of, own_folder
from eventing.local.kubelet.pods import OUTPUT_LENGTH, Ended, words_of
from eventing.local.kubelet.requests import insist
from eventing.local.processes import Forked, Launcher, without_parent_watch
from shared.adapters.kube import KubeClient
from shared.api.manifest import ReadOnly
from shared.kinds import Ref

log = structlog.get_logger()


class Programs:
    """The processes, with a folder that holds what each mounts while it runs."""

    def __init__(self, cluster: KubeClient, launcher: Launcher, *, kubeconfig: str, at_once: int) -> None:
        self._cluster = cluster
        self._launcher = launcher
        self._environ = without_parent_watch(os.environ)
        if kubeconfig:
            self._environ |= {"KUBECONFIG": kubeconfig, "OLMF_KUBECONFIG": kubeconfig}
        self._room = asyncio.Semaphore(at_once)
        self.folder = own_folder()

    async def run(self, pod: ReadOnly) -> Ended:
        """Run the program once; exit code 1 when it cannot be started, e.g. on a full disk."""
        async with self._room:
            try:
                ended = await self._run(pod)
            except OSError as error:
                ended = Ended(1, str(error))
        if ended.code:
            log.warning("program_failed", pod=str(Ref.of(pod)), code=ended.code, output=ended.output)
        return ended

    async def start(self, name: str, words: Sequence[str], environ: Mapping[str, str], log: Path) -> Forked:
        """Start a program that runs until it is stopped; `name` is unique."""
        return await self._launcher.start(name, words, {**self._environ, **environ}, log)

    async def stop(self, process: Forked, patience: float) -> None:
        """End such a program."""
        await self._launcher.stop(process, patience)

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _run(self, pod: ReadOnly) -> Ended:
        self.folder.mkdir(mode=0o700, exist_ok=True)  # why: temporary folders that are idle for days get tidied away
        with tempfile.TemporaryDirectory(dir=self.folder, ignore_cleanup_errors=True) as folder:
            place, ref = Path(folder), Ref.of(pod)
            environment = await insist(lambda: environment_of(self._cluster, pod), ref)
            environ = {**self._environ, **(environment or {})}
            if mounts_of(pod):
                environ[VOLUMES] = str(place)
                await insist(lambda: mount_volumes(self._cluster, pod, place), ref)
            code = await self._launcher.run(place.name, words_of(pod)[1:], environ, place / "log")
            return Ended(code, end_of(place / "log") if code else "")


def end_of(output: Path) -> str:
    """The end of the output of a program."""
    text = output.read_text(errors="replace").strip() if output.exists() else ""
    return text[-OUTPUT_LENGTH:]
