"""The process of which queries are forked: `python -m shared.adapters.catalog_api.graphql.fork_server SOCKET`.

It has imported what a query needs, reads none, and ends with whoever started it, or when nobody has asked for a while.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
from typing import Final

from shared.adapters.catalog_api.graphql import child

IDLE_SECONDS: Final = 60.0
"""After the last query; its memory is for who asks."""


def serve(requests: socket.socket, idle_seconds: float = IDLE_SECONDS) -> None:
    """Fork a process for each connection that is handed over."""
    while select.select([requests], [], [], idle_seconds)[0]:
        message, files, _, _ = socket.recv_fds(requests, 1, 1)
        if not message:
            return
        with socket.socket(fileno=files[0]) as client:
            if os.fork() == 0:
                requests.close()
                child.run(client)


def main(number: str) -> None:
    """Serve until the other end closes."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # how a query ended is seen at its connection
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    gc.freeze()
    with socket.socket(fileno=int(number)) as requests:
        serve(requests)


if __name__ == "__main__":
    main(*sys.argv[1:])
