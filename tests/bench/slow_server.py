"""A proxy in front of an API server whose answers come later: `python -m tests.bench.slow_server PORT MS PKI`.

It has the server's own certificate, so a kubeconfig needs another port and nothing else. What the server sends is held
back for so long, in order, watches included; what clients send goes through at once.
"""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import yaml

CHUNK = 64 * 1024


@contextmanager
def slow_server(kubeconfig: Path, milliseconds: int) -> Iterator[Path]:
    """A kubeconfig for the same server through such a proxy, as long as the block lasts."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster = config["clusters"][0]["cluster"]
    port = urlsplit(cluster["server"]).port
    command = [sys.executable, "-m", "tests.bench.slow_server", str(port), str(milliseconds)]
    command.append(str(Path(cluster["certificate-authority"]).parent))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as proxy:
        try:
            assert proxy.stdout
            cluster["server"] = f"https://127.0.0.1:{int(proxy.stdout.readline())}"
            slow = kubeconfig.with_name("slow-kubeconfig")
            slow.write_text(yaml.safe_dump(config))
            yield slow
        finally:
            proxy.terminate()


async def serve(port: int, seconds: float, keys: Path) -> None:
    """Listen on a free port, which is printed."""
    ours, theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context(cafile=keys / "ca.crt")
    ours.load_cert_chain(keys / "apiserver.crt", keys / "apiserver.key")

    async def connected(client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        server, forth = await asyncio.open_connection("127.0.0.1", port, ssl=theirs)
        await asyncio.gather(_copy(client, forth, 0), _copy(server, back, seconds))

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=ours)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter, seconds: float) -> None:
    """Copy until one side ends, each piece so long after it came."""
    loop = asyncio.get_running_loop()
    try:
        while data := await source.read(CHUNK):
            loop.call_later(seconds, target.write, data) if seconds else target.write(data)
    except OSError:
        return  # the client went away
    finally:
        loop.call_later(seconds, target.close)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2]) / 1000, Path(sys.argv[3])))
