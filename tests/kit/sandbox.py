"""A sandbox in a thread of the process of the tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def running_sandbox(
    state: Path, *, is_kept: bool = False, bookmark_seconds: float = 30.0, pod_network: str = ""
) -> Iterator[Path]:
    """A sandbox in a thread of this process; yields the path of its kubeconfig."""
    from eventing.local.apiserver.server import Settings, serve  # aiohttp is slow to import, and only a server needs it

    loop, stop, ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()
    settings = Settings(state, is_kept=is_kept, bookmark_seconds=bookmark_seconds, pod_network=pod_network)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            loop.run_until_complete(serve(settings, lambda _: ready.set(), stop))
        except BaseException as error:  # noqa: BLE001  # raised in the thread that waits
            failures.append(error)
        finally:
            loop.close()
            ready.set()

    thread = threading.Thread(target=work, name="sandbox")
    thread.start()
    ready.wait()
    try:
        if failures:
            raise failures[0]
        yield state / "kubeconfig"
    finally:
        if not loop.is_closed():
            loop.call_soon_threadsafe(stop.set)
        thread.join()
        if failures:
            raise failures[0]
