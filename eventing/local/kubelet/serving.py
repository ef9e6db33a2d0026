"""Runs our sample operator as the TLS server of a Pod that asks for it, with the certificate that the Pod mounts."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog
from aiohttp import web

from eventing.local.kubelet import sample_operator
from eventing.local.kubelet.mounts import mount_volumes
from eventing.local.kubelet.pod_network import PodNetwork
from eventing.local.kubelet.pods import address_of, ports_of
from eventing.local.kubelet.requests import insist
from eventing.packages.requester import FrontProxy
from shared.adapters.kube import KubeClient
from shared.adapters.tls import as_ascii
from shared.api.manifest import ReadOnly, annotations_of
from shared.kinds import CONFIG_MAP, Ref
from shared.names import KUBELET_SERVE

PAIRS = (("tls.crt", "tls.key"), ("apiserver.crt", "apiserver.key"))
"""Names of a certificate and its key, as `kubernetes.io/tls` and as aggregated APIs have them."""
POLL_SECONDS = 1.0
"""Interval of the looks at the Secrets of a Pod that serves."""
log = structlog.get_logger()


def serves(pod: ReadOnly) -> bool:
    """Whether a Pod asks for our server."""
    return bool(annotations_of(pod).get(KUBELET_SERVE))


@asynccontextmanager
async def serving(
    cluster: KubeClient, surroundings: tuple[PodNetwork, Path], pod: ReadOnly, leaves: asyncio.Event
) -> AsyncIterator[None]:
    """The server of a Pod, at all ports of its container, while the block runs; it takes a new certificate at once.

    `surroundings` are its network and a folder for its files. When it `leaves`, its connections end after an answer.
    """
    network, folder = surroundings
    with TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as own:
        root = Path(own)
        front_proxy = await _front_proxy(cluster)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if front_proxy.authority:
            context.verify_mode = ssl.CERT_OPTIONAL
            context.load_verify_locations(cadata=as_ascii(front_proxy.authority))
        certificate = _Certificate(cluster, pod, root, context)
        await certificate.take()
        runner = web.ServerRunner(
            web.Server(partial(_handle, front_proxy, leaves), access_log=None), shutdown_timeout=1.0
        )
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        places = [(address_of(pod), port) for port in ports_of(pod)]
        for place in places:
            network.join(place, int(runner.addresses[0][1]))
        renewing = asyncio.create_task(certificate.renew())
        try:
            yield
        finally:
            renewing.cancel()
            for place in places:
                network.leave(place)
            await runner.cleanup()


async def _handle(front_proxy: FrontProxy, leaves: asyncio.Event, request: web.BaseRequest) -> web.Response:
    response = await sample_operator.handle(front_proxy, request)
    if leaves.is_set():
        response.force_close()
    return response


async def _front_proxy(cluster: KubeClient) -> FrontProxy:
    """How the API server tells for whom it asks; its headers count for nothing when that is not known."""
    ref = CONFIG_MAP.ref("extension-apiserver-authentication", "kube-system")
    found = await insist(lambda: cluster.get(ref), ref)
    return FrontProxy.of(found or {})


@dataclass(slots=True)
class _Certificate:
    """What the server of a Pod proves itself with."""

    cluster: KubeClient
    pod: ReadOnly
    root: Path
    """Where the volumes of the Pod are mounted."""
    context: ssl.SSLContext
    taken: bytes = b""

    async def renew(self) -> None:
        """Take every new one, until cancelled."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            await self.take()

    async def take(self) -> None:
        """Mount the Secrets, and serve with the certificate in them."""
        ref = Ref.of(self.pod)
        await insist(lambda: mount_volumes(self.cluster, self.pod, self.root), ref)
        for certificate, key in (found for names in PAIRS for found in _found(self.root, *names)):
            content = certificate.read_bytes() + key.read_bytes()
            if content == self.taken:
                return
            try:
                self.context.load_cert_chain(certificate, key)
            except ssl.SSLError as error:  # half a Secret, or none of a certificate: the former one stays in use
                log.warning("certificate_unusable", pod=str(ref), error=str(error))
                continue
            log.info("certificate_taken", pod=str(ref))
            self.taken = content
            return


def _found(root: Path, certificate: str, key: str) -> list[tuple[Path, Path]]:
    return [(one, one.with_name(key)) for one in sorted(root.rglob(certificate)) if one.with_name(key).exists()]
