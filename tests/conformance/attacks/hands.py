"""The hands that write for the attacker, in a process of its own, so that they hold up no clock of the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import IO, Any

from tests.conformance.attacks.fields import Place, found_at, places
from tests.conformance.attacks.shapes import Generator
from tests.conformance.attacks.tenant import CREATED, Tenant, path
from tests.conformance.http import Api

SEED = 20_260_101
WRITERS = 4
FAILED = 500
RBAC_KINDS = ("Role", "RoleBinding")
"""What the admin of the namespace writes, and the tenant may not."""


@dataclass
class Written:
    """What the API server answered."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    """By kind and status, of all objects."""
    tried: set[int] = field(default_factory=set)
    """The numbers of the places where a text was tried."""
    kept: set[int] = field(default_factory=set)
    """Those whose text is in an object that was created."""
    failed: set[int] = field(default_factory=set)
    """Those at whose text the API server failed."""
    is_over: bool = False

    @property
    def count(self) -> int:
        """Of all objects."""
        return self.statuses.total()

    @property
    def created(self) -> int:
        """Of those that the API server took."""
        return sum(count for (_, status), count in self.statuses.items() if status == CREATED)

    def kept_by_kind(self) -> Counter[str]:
        """How many places of each kind took a text."""
        return Counter(places()[number].kind.kind for number in self.kept)

    def count_lines(self, lines: Iterable[str]) -> None:
        """Count what the hands say, until they end."""
        for line in lines:
            kind, status, number, is_kept = json.loads(line)
            self.statuses[kind, status] += 1
            self.tried |= set() if number is None else {number}
            self.kept |= {number} if is_kept else set()
            self.failed |= {number} if status >= FAILED and number is not None else set()
        self.is_over = True


@dataclass(frozen=True)
class Hands:
    """They write, each line that they read is a new rate."""

    written: Written
    _orders: IO[str]

    def at_rate(self, rate: float) -> None:
        """Write so many objects a second from now on; infinite: as many as the API server takes."""
        if not self.written.is_over:
            self._orders.write(f"{rate}\n")
            self._orders.flush()


@contextmanager
def hands(tenant: Tenant, extra: int, written: Written) -> Iterator[Hands]:
    """A text in every place of every kind, `extra` objects with several; at the end of the block all are written."""
    command = [sys.executable, "-m", __name__]
    orders = json.dumps({
        "api": tenant.api.login(), "landlord": tenant.landlord.login(), "namespace": tenant.namespace,
        "theirs": tenant.theirs, "extra": extra,
    })  # fmt: skip
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
        ThreadPoolExecutor(1) as pool,
    ):
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"{orders}\n")
        process.stdin.flush()
        counted = pool.submit(written.count_lines, process.stdout)
        mine = Hands(written, process.stdin)
        try:
            yield mine
            mine.at_rate(float("inf"))
            counted.result()
        except BaseException:
            process.terminate()
            raise
    assert process.returncode == 0, "the hands failed"


class Pace:
    """When the next object may be written; the rate is that of all writers together."""

    def __init__(self) -> None:
        self.rate = float("inf")
        self._due = time.monotonic()
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Wait for the turn of the caller; what the server holds up is not made up for."""
        with self._lock:
            self._due = max(self._due + 1 / self.rate, time.monotonic())
            pause = self._due - time.monotonic()
        time.sleep(max(0.0, pause))

    def follow(self, lines: Iterable[str]) -> None:
        """Take each line as the rate from then on."""
        for line in lines:
            self.rate = float(line)


class Writer:
    """One of the hands."""

    def __init__(self, orders: Any, pace: Pace, index: int) -> None:
        self._apis = [Api.logged_in(**orders[who]) for who in ("api", "landlord")]
        self._namespace, self._pace = orders["namespace"], pace
        self._generator = Generator(SEED + index, self._namespace, tuple(orders["theirs"]))

    def write(self, work: Iterable[int]) -> None:
        """Write the places with these numbers; numbers beyond the places mean objects with several texts."""
        for number in work:
            if number < len(places()):
                self._try(number, places()[number])
            else:
                self._create(self._generator.mixed(number), number)

    def _try(self, number: int, place: Place) -> None:
        for text, made in self._generator.tries(place, number):
            if self._create(made, number, place, text):
                return

    def _create(self, made: Any, number: int, place: Place | None = None, text: str = "") -> bool:
        self._pace.wait()
        api = self._apis[made["kind"] in RBAC_KINDS]
        location = path(made, self._namespace)
        answer = api.post(location, made)
        is_created = answer.status == CREATED
        is_kept = is_created and place is not None and found_at(answer.body, place.path, text)
        sys.stdout.write(f"{json.dumps([made['kind'], answer.status, number if place else None, is_kept])}\n")
        sys.stdout.flush()
        if is_created and not number % 7:
            name = answer.body["metadata"]["name"]
            api.patch(f"{location}/{name}", {"metadata": {"annotations": {"changed": made["kind"]}}})
        return is_kept


def main() -> None:
    """Write what the first line of standard input orders, at the rates of the other ones."""
    orders = json.loads(sys.stdin.readline())
    pace = Pace()
    threading.Thread(target=pace.follow, args=(sys.stdin,), daemon=True).start()
    work = list(range(len(places()) + orders["extra"]))
    Random(SEED).shuffle(work)
    with ThreadPoolExecutor(WRITERS) as pool:
        for done in [pool.submit(Writer(orders, pace, index).write, work[index::WRITERS]) for index in range(WRITERS)]:
            done.result()
    sys.stdout.flush()
    os._exit(0)  # why: a thread waits for a line that may never come


if __name__ == "__main__":
    main()
