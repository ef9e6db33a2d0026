"""The sample operator in a simulated Pod, behind a Service: what webhooks and aggregated APIs of the tests lead to."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from eventing.local.kubelet import sample_operator
from eventing.local.kubelet.program import Kubelet
from shared.adapters.kube import connect
from shared.names import KUBELET_SERVE
from tests.conformance.api.objects import apps, core
from tests.conformance.http import Api
from tests.kit.waiting import wait_for
from tests.kit.webhook_server import make_authority

Json = Any
NAME = "lamps"
"""Of the Deployment and of its Service."""
PORT = 9443
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"


@dataclass(frozen=True)
class Layout:
    """How a server of a Pod finds its certificate."""

    certificate: str
    key: str
    path: str


OF_WEBHOOKS = Layout("tls.crt", "tls.key", "/tmp/k8s-webhook-server/serving-certs")
OF_APIS = Layout("apiserver.crt", "apiserver.key", "/apiserver.local.config/certificates")


@dataclass(frozen=True)
class Sample:
    """A cluster in which the sample operator runs."""

    http: Api
    namespace: str
    authority: str
    """Base64 of the CA of its certificate."""

    def client(self, path: str) -> Json:
        """The `clientConfig` of a webhook."""
        return {"service": {"name": NAME, "namespace": self.namespace, "path": path}, "caBundle": self.authority}

    @contextmanager
    def aggregated(self, **more: Json) -> Iterator[str]:
        """An APIService whose server is the sample, for as long as the block runs; yields its path."""
        group, service = sample_operator.GROUP, {"name": NAME, "namespace": self.namespace}
        spec = {
            "group": group, "version": "v1", "groupPriorityMinimum": 2000, "versionPriority": 15,
            "service": service, "caBundle": self.authority, **more,
        }  # fmt: skip
        made = self.http.post(API_SERVICES, {"metadata": {"name": f"v1.{group}"}, "spec": spec})
        assert made.status == 201, made.body
        path = f"{API_SERVICES}/v1.{group}"
        try:
            yield path
        finally:
            self.http.delete(path)
            wait_for(lambda: self.http.get(path).status == 404, f"the end of {path}")
            wait_for(lambda: group not in str(self.http.get("/apis").body), f"discovery without {group}")


@contextmanager
def a_node(kubeconfig: Path, network: str) -> Iterator[None]:
    """A simulated kubelet in a thread, which leads to its Pods at the address `network`."""
    kubelet = Kubelet(connect(str(kubeconfig)), str(kubeconfig), pod_network=network)
    loop = asyncio.new_event_loop()
    task = loop.create_task(kubelet.run())

    def run() -> None:
        loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
        loop.close()

    thread = Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()


def a_secret(folder: Path, namespace: str, layout: Layout = OF_WEBHOOKS) -> tuple[Json, str]:
    """A Secret with a fresh certificate, and its CA."""
    keys = make_authority(folder, f"DNS:{NAME}.{namespace}.svc", f"DNS:{NAME}.{namespace}.svc.cluster.local")
    certificate, key, authority = (
        base64.b64encode((keys / name).read_bytes()).decode() for name in ("server.crt", "server.key", "ca.crt")
    )
    return {"metadata": {"name": "cert"}, "data": {layout.certificate: certificate, layout.key: key}}, authority


def install(http: Api, namespace: str, folder: Path, layout: Layout = OF_WEBHOOKS) -> Sample:
    """The Deployment, its Secret and its Service; returns when a Pod serves."""
    secret, authority = a_secret(folder, namespace, layout)
    ports = [{"name": "https", "port": 443, "targetPort": PORT}]
    service = {"metadata": {"name": NAME}, "spec": {"selector": {"app": NAME}, "ports": ports}}
    assert http.post(core(namespace, "secrets"), secret).status == 201
    assert http.post(core(namespace, "services"), service).status == 201
    assert http.post(apps(namespace), _a_deployment(layout.path)).status == 201
    wait_for(lambda: http.get(core(namespace, "endpoints", NAME)).body.get("subsets"), "endpoints")
    return Sample(http, namespace, authority)


def _a_deployment(path: str) -> Json:
    container = {
        "name": "c", "image": "any", "ports": [{"containerPort": PORT}],
        "volumeMounts": [{"name": "cert", "mountPath": path}],
    }  # fmt: skip
    template = {
        "metadata": {"labels": {"app": NAME}, "annotations": {KUBELET_SERVE: "sample"}},
        "spec": {"containers": [container], "volumes": [{"name": "cert", "secret": {"secretName": "cert"}}]},
    }  # fmt: skip
    return {"metadata": {"name": NAME}, "spec": {"selector": {"matchLabels": {"app": NAME}}, "template": template}}
