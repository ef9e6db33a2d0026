"""The stand-in at work against the sandbox, with real processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from eventing.local.kubelet.job_runs import JobRuns
from eventing.local.kubelet.pod_network import PodNetwork
from eventing.local.kubelet.pod_runs import PodRuns
from eventing.local.kubelet.program import Kubelet, refuse_nodes
from eventing.local.kubelet.programs import Programs
from eventing.local.processes import Launcher
from shared import kinds
from shared.adapters.kube import ApiError, KubeClient, connect
from shared.api.manifest import Manifest
from shared.kinds import Ref
from tests.kit.sandbox import running_sandbox
from tests.kit.waiting import PATIENCE_SECONDS


@asynccontextmanager
async def a_kubelet(kubeconfig: Path) -> AsyncIterator[KubeClient]:
    """A client of a cluster on which the stand-in works."""
    connection = connect(str(kubeconfig))
    kubelet = Kubelet(connection, str(kubeconfig))
    working = asyncio.create_task(kubelet.run())
    client = KubeClient(connection)
    try:
        yield client
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        client.close()


def a_job(name: str, *arguments: str, annotations: Any = None, **spec: Any) -> Manifest:
    container = {"name": "c", "image": "any", "command": ["olmf", *arguments], "env": [{"name": "A", "value": "b"}]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default", "annotations": annotations or {}},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}, **spec},
    }


def a_deployment(name: str, annotations: Any = None) -> Manifest:
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "any"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default", "annotations": annotations or {}},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": template},
    }


async def until(client: KubeClient, ref: Ref, condition: Callable[[Manifest | None], bool]) -> Manifest:
    """The object as soon as the condition holds (an absent one as an empty manifest)."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition(found := await asyncio.to_thread(client.get, ref)):
            await asyncio.sleep(0.02)
    return found or {}


def conditions(found: Manifest | None) -> dict[str, tuple[str, str]]:
    """Status and message of each condition, by type."""
    listed = ((found or {}).get("status") or {}).get("conditions") or ()
    return {condition["type"]: (condition["status"], condition.get("message", "")) for condition in listed}


async def test_deployments_become_available_or_fail_on_demand(tmp_path: Path) -> None:
    with running_sandbox(tmp_path) as kubeconfig:
        async with a_kubelet(kubeconfig) as client:
            client.create(a_deployment("good"))
            client.create(a_deployment("bad", {"olmf.io/fail": "no such image"}))
            good, bad = (kinds.DEPLOYMENT.ref(name, "default") for name in ("good", "bad"))
            found = await until(client, good, lambda seen: "Available" in conditions(seen))
            assert found["status"]["availableReplicas"] == 1
            found = await until(client, bad, lambda seen: "Available" in conditions(seen))
            assert conditions(found)["Available"] == ("False", "no such image")
            client.merge(bad, {"metadata": {"annotations": {"olmf.io/fail": None}}})
            await until(client, bad, lambda seen: conditions(seen).get("Available", ("", ""))[0] == "True")


async def test_jobs_run_fail_expire_and_go_away(tmp_path: Path) -> None:
    jobs = [
        a_job("good", "--help"),
        a_job("brief", "--help", ttlSecondsAfterFinished=1),
        a_job("bad", "no-such-verb", backoffLimit=1),
        a_job("told", "--help", backoffLimit=2, annotations={"olmf.io/fail": "told so"}),
        a_job("slow", "run", "redis", activeDeadlineSeconds=2),
    ]
    with running_sandbox(tmp_path) as kubeconfig:
        async with a_kubelet(kubeconfig) as client:
            for job in jobs:
                client.create(job)
            good, brief, bad, reported, slow = (Ref.of(job) for job in jobs)
            found = await until(client, good, lambda seen: "Complete" in conditions(seen))
            assert found["status"]["succeeded"] == 1
            found = await until(client, bad, lambda seen: "Failed" in conditions(seen))
            assert (found["status"]["failed"], "no-such-verb" in conditions(found)["Failed"][1]) == (2, True)
            found = await until(client, reported, lambda seen: "Failed" in conditions(seen))
            assert conditions(found)["Failed"][1].endswith("told so")
            found = await until(client, slow, lambda seen: "Failed" in conditions(seen))
            assert conditions(found)["Failed"][1] == "Job was active longer than specified deadline"
            await until(client, brief, lambda seen: seen is None)


class Away(KubeClient):
    """A cluster that does not answer the first read of a Secret."""

    is_away = True

    def get(self, ref: Ref) -> Manifest | None:
        if self.is_away and ref.kind == kinds.SECRET.kind:
            self.is_away = False
            raise ApiError(0, "Unreachable", "it is being restarted")
        return super().get(ref)


async def test_a_job_waits_for_an_api_server_that_does_not_answer(tmp_path: Path) -> None:
    job = a_job("one", "--version")
    pod = job["spec"]["template"]["spec"]
    pod["volumes"] = [{"name": "pull", "secret": {"secretName": "absent", "optional": True}}]
    pod["containers"][0]["volumeMounts"] = [{"name": "pull", "mountPath": "/pull"}]
    with running_sandbox(tmp_path) as kubeconfig:
        cluster = Away(connect(str(kubeconfig)))
        async with job_runs(cluster) as (runs, _):
            runs.observe(cluster.create(job))
            found = await until(cluster, Ref.of(job), lambda seen: bool(conditions(seen)))
    assert not cluster.is_away
    assert "Complete" in conditions(found)


async def test_a_job_fails_where_the_machine_has_no_place_for_it(tmp_path: Path) -> None:
    job = a_job("one", "--version", backoffLimit=0)
    with running_sandbox(tmp_path) as kubeconfig:
        cluster = KubeClient(connect(str(kubeconfig)))
        async with job_runs(cluster) as (runs, programs):
            programs.folder.rmdir()
            programs.folder.touch()
            runs.observe(cluster.create(job))
            found = await until(cluster, Ref.of(job), lambda seen: bool(conditions(seen)))
            programs.folder.unlink()
    assert "File exists" in conditions(found)["Failed"][1]


@asynccontextmanager
async def job_runs(cluster: KubeClient) -> AsyncIterator[tuple[JobRuns, Programs]]:
    launcher = Launcher("eventing.cli.main")
    programs = Programs(cluster, launcher, kubeconfig="", at_once=1)
    pods = PodRuns(cluster, programs, PodNetwork(), has_bindings=False, on_change=lambda _: None)
    runs = JobRuns(cluster, pods)
    try:
        yield runs, programs
    finally:
        await runs.close()
        await pods.close()
        await launcher.close()
        cluster.close()


@pytest.mark.parametrize("is_deleted", [True, False], ids=["the Job is deleted", "the stand-in ends"])
async def test_processes_do_not_outlive_their_reason(tmp_path: Path, is_deleted: bool) -> None:
    state = str(tmp_path / "redis")
    ref = kinds.JOB.ref("slow", "default")
    with running_sandbox(tmp_path / "sandbox") as kubeconfig:
        async with a_kubelet(kubeconfig) as client:
            client.create(a_job("slow", "run", "redis", "--state", state))
            found = await until(client, ref, lambda seen: ((seen or {}).get("status") or {}).get("active") == 1)
            await until_there_are(True, state)
            if is_deleted:
                client.delete(ref)
                await until_there_are(False, state)
        await until_there_are(False, state)
        assert "conditions" not in found["status"]


async def until_there_are(expected: bool, word: str) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while bool(processes_saying(word)) != expected:
            await asyncio.sleep(0.02)


async def test_a_cluster_with_nodes_is_refused(tmp_path: Path) -> None:
    with running_sandbox(tmp_path) as kubeconfig:
        connection = connect(str(kubeconfig))
        await refuse_nodes(connection)
        client = KubeClient(connection)
        ours = {"name": "simulated", "labels": {"olmf.io/simulated": "true"}}
        client.create({"apiVersion": "v1", "kind": "Node", "metadata": ours})
        await refuse_nodes(connection)
        client.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1"}})
        client.close()
        with pytest.raises(SystemExit, match="has Nodes \\(worker-1 is one\\)"):
            await refuse_nodes(connection)


def processes_saying(word: str) -> set[int]:
    """Processes whose command line has the word."""
    return {int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and word in _words(entry)}


def _words(process: Path) -> str:
    try:
        return (process / "cmdline").read_text(errors="replace")
    except OSError:
        return ""
