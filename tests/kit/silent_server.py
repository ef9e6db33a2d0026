"""A server that takes connections and requests, and answers none."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def a_silent_server() -> Iterator[tuple[str, list[socket.socket]]]:
    """Its address, and the connections that it has taken."""
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def take() -> None:
            with suppress(OSError):  # closed: the test is over
                while True:
                    taken.append(listening.accept()[0])

        threading.Thread(target=take, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", taken
        for each in taken:
            each.close()
