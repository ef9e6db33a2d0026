"""The watch of serving certificates: what is deleted or edited wakes its version, where the watcher may see Secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from eventing.events.event import Event
from eventing.routes import jobs_for
from eventing.watch.program import Watcher
from shared import names
from shared.adapters.kube import KubeClient, connect
from shared.api.crds import definitions
from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.domain.objects.ownership import owner_reference
from shared.kinds import CLUSTER_SERVICE_VERSION, SECRET, Ref
from tests.domain.csv.builders import a_csv
from tests.kit.sandbox import running_sandbox
from tests.kit.waiting import PATIENCE_SECONDS

CERTIFICATE = SECRET.ref("operator-service-cert", "default")
CSV = CLUSTER_SERVICE_VERSION.ref("a.v1", "default")


@pytest.fixture
def kubeconfig(tmp_path: Any) -> Iterator[str]:
    with running_sandbox(tmp_path) as path:
        client = KubeClient.from_kubeconfig(str(path))
        for definition in definitions():
            client.create(definition)
        yield str(path)


def a_secret(client: KubeClient, ref: Ref, labels: dict[str, str]) -> Manifest:
    csv = client.get(CSV)
    assert csv
    meta = {"name": ref.name, "namespace": ref.namespace, "labels": labels}
    owned = {**meta, "ownerReferences": [owner_reference(Csv(csv))]}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": owned, "data": {"tls.key": "a2V5"}}


def test_a_certificate_that_is_edited_or_deleted_wakes_its_version(kubeconfig: str) -> None:
    """csv.md 7.8: at once, not at the next audit; its content is nowhere in what is told."""
    client, heard, foreign = KubeClient.from_kubeconfig(kubeconfig), list[Event](), SECRET.ref("foreign", "default")
    csv = a_csv("a.v1")
    client.create({**csv, "metadata": {"name": CSV.name, "namespace": CSV.namespace}})
    for ref, labels in ((CERTIFICATE, {names.MANAGED: "true"}), (foreign, {})):
        client.create(a_secret(client, ref, labels))

    def sink(events: Sequence[Event]) -> None:
        heard.extend(one for one in events if one.ref.kind == SECRET.kind)

    async def story() -> None:
        watcher = Watcher(connect(kubeconfig), sink, kinds=(CLUSTER_SERVICE_VERSION,), seconds=60)
        task = asyncio.create_task(watcher.run())
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not heard:
                for ref in (CERTIFICATE, foreign):
                    for edit in ("eA==", None):
                        client.merge(ref, {"data": {"tls.crt": edit}})
                await asyncio.sleep(0.1)
            client.delete(CERTIFICATE)
            while heard[-1].id.rpartition(".")[2] != "delete":
                await asyncio.sleep(0.01)
        assert all("secrets" not in name for name in watcher.health.ages()), "it has no part in the health"
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(story())
    assert {(one.type, one.ref) for one in heard} == {(names.CERTIFICATE_CHANGED, CERTIFICATE)}
    woken = {(job.step, job.ref) for one in heard for job in jobs_for(one)}
    assert woken == {("cluster_service_version/probe_operator", CSV)}
    assert "a2V5" not in str(heard)
