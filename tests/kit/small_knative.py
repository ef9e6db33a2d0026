"""A Broker with two Triggers for tests: to the intake, and to a Service that rests at zero and drains all groups.

As Knative's channel in memory it answers when its subscribers have answered. It may lose, repeat, delay and so reorder
what it has taken; and it refuses everything while it is away.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import urllib3

from shared import names
from tests.kit.endpoint import running_endpoint

LOST, TWICE, LATE = "lost", "twice", "late"
HONEST: tuple[str, ...] = ("",)
UNHEALTHY = ("", "", LOST, TWICE, LATE, LATE)
LONGEST_DELAY_SECONDS = 1.0


@dataclass
class SmallKnative:
    """What its Broker does to events, and what it has delivered."""

    intake: str
    """The address of the intake."""
    start: Callable[[], str]
    """Starts the Service that drains; returns its address."""
    fates: tuple[str, ...] = HONEST
    random: random.Random = field(default_factory=lambda: random.Random(7))  # why: the same each time
    is_away: bool = False
    url: str = ""
    delivered: list[tuple[str, str]] = field(default_factory=list)
    """Type and id of each event that reached a subscriber."""
    refused: list[str] = field(default_factory=list)
    """Answers that a Broker would take for failures."""
    lost: int = 0
    _service: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, headers: dict[str, str], body: bytes) -> None:
        """Deliver the event, as often and as late as its fate says."""
        with self._lock:
            fate = self.random.choice(self.fates)
            delay = self.random.uniform(0, LONGEST_DELAY_SECONDS)
        if fate == LOST:
            self.lost += 1
            return
        if fate == LATE:
            threading.Timer(delay, self._deliver, (headers, body)).start()
            return
        for _ in range(1 + (fate == TWICE)):
            self._deliver(headers, body)

    def _deliver(self, headers: dict[str, str], body: bytes) -> None:
        lower = {key.lower(): value for key, value in headers.items()}
        is_waking = lower["ce-type"] == names.WORK_READY
        self.delivered.append((lower["ce-type"], lower["ce-id"]))
        try:
            to = self._awake() if is_waking else self.intake
            answer = urllib3.request("POST", to, headers=headers, body=body, timeout=60, retries=False)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            self.refused.append(str(error))
            return
        if answer.status != 204 or answer.data:
            self.refused.append(f"{answer.status} {answer.data!r}")

    def _awake(self) -> str:
        with self._lock:
            self._service = self._service or self.start()
            return self._service


@contextmanager
def small_knative(redis_url: str, kubeconfig: Path, intake: str, folder: Path, port: int) -> Iterator[SmallKnative]:
    """A Broker at that port; its Service starts with the first event that wakes it."""
    with ExitStack() as stack:

        def start() -> str:
            time.sleep(1)  # as a Pod, it is not there at once
            environ = {
                "OLMF_KUBECONFIG": str(kubeconfig), "OLMF_ENDPOINT_TRUSTS_NETWORK": "true", "OLMF_CONCURRENCY": "1",
                "OLMF_ALLOWED_REGISTRY_ADDRESSES": "127.0.0.1", "OLMF_CONTENT": str(kubeconfig.parent / "content"),
            }  # fmt: skip
            return stack.enter_context(running_endpoint(redis_url, folder, "--drain", environ=environ)).address

        found = SmallKnative(intake, start)
        server = ThreadingHTTPServer(("127.0.0.1", port), _handler(found))
        threading.Thread(target=server.serve_forever, name="broker", daemon=True).start()
        stack.callback(server.server_close)
        stack.callback(server.shutdown)
        found.url = f"http://127.0.0.1:{port}/olm/olmf"
        yield found


def _handler(found: SmallKnative) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            kept = {key: value for key, value in self.headers.items() if key.lower() not in ("host", "content-length")}
            if not found.is_away:
                found.take(kept, body)
            self.send_response(503 if found.is_away else 202)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    return Handler
