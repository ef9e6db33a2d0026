"""Serves the sample operator with webhooks and an aggregated API in a Pod, with the certificates mounted there."""

from __future__ import annotations

import asyncio
import signal
import ssl
from functools import partial
from pathlib import Path

from aiohttp import web

from eventing.local.kubelet import sample_operator
from eventing.packages.requester import CONFIG_MAP, FrontProxy
from shared.adapters.kube import KubeClient
from shared.kinds import CONFIG_MAP as CONFIG_MAPS

MOUNTED = Path("/tmp/k8s-webhook-server/serving-certs")
PORT, LOOK_SECONDS, LEAVE_SECONDS = 9443, 1.0, 5.0


def pair() -> tuple[bytes, bytes]:
    """The certificate and its key, as they are mounted now."""
    return (MOUNTED / "tls.crt").read_bytes(), (MOUNTED / "tls.key").read_bytes()


async def renewing(context: ssl.SSLContext) -> None:
    """Serve with whatever is mounted, until cancelled."""
    taken: tuple[bytes, bytes] = (b"", b"")
    while True:
        found = pair()
        if found != taken:
            context.load_cert_chain(MOUNTED / "tls.crt", MOUNTED / "tls.key")
            taken = found
            print("certificate taken", flush=True)
        await asyncio.sleep(LOOK_SECONDS)


def front_proxy() -> FrontProxy:
    """How the API server tells for whom it asks: what the role that OLM binds lets the operator read."""
    namespace, name = CONFIG_MAP
    return FrontProxy.of(KubeClient.from_kubeconfig().get(CONFIG_MAPS.ref(name, namespace)) or {})


async def main() -> None:
    """Serve until told to end; then answer what is asked for some seconds more, because Services learn it late."""
    known = front_proxy()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_OPTIONAL
    context.load_verify_locations(cadata=known.authority)
    context.load_cert_chain(MOUNTED / "tls.crt", MOUNTED / "tls.key")
    runner = web.ServerRunner(web.Server(partial(sample_operator.handle, known), access_log=None), shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, port=PORT, ssl_context=context).start()
    print("serving", flush=True)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    task = asyncio.create_task(renewing(context))
    done, _ = await asyncio.wait([task, asyncio.create_task(ended.wait())], return_when=asyncio.FIRST_COMPLETED)
    if task in done:
        task.result()
    await asyncio.sleep(LEAVE_SECONDS)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main())
