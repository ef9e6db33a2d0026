"""The hands that write for the attacker, in a process of its own, so that they hold up no clock of the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import IO, Any

from tests.conformance.attacks.known import path
from tests.conformance.attacks.shapes import Generator
from tests.conformance.http import Api

SEED = 20_260_101
WRITERS = 4
RATE = float(os.environ.get("OLMF_ATTACK_RATE", "inf"))
"""Objects a second; by default as many as the API server takes."""


@contextmanager
def hands(api: Api, namespace: str, theirs: tuple[str, ...], count: int) -> Iterator[IO[str]]:
    """The statuses of `count` writes, a line each, as they come; at the end of the block the rest is written, too."""
    command = [sys.executable, "-m", __name__]
    orders = json.dumps({"api": api.login(), "namespace": namespace, "theirs": theirs, "count": count})
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(orders)
        process.stdin.close()
        try:
            yield process.stdout
        except BaseException:
            process.terminate()
            raise
    assert process.returncode == 0, "the hands failed"


def write(api: Api, objects: list[Any]) -> None:
    """Create objects, and change some of them."""
    own, pause, due = api.again(), WRITERS / RATE, time.monotonic()
    for manifest in objects:
        due = max(due + pause, time.monotonic())  # what the server holds up is not made up for
        time.sleep(max(0.0, due - time.monotonic()))
        answer = own.post(path(manifest), manifest)
        name = manifest["metadata"]["name"]
        if answer.status == 201 and name.endswith("7"):
            own.patch(f"{path(manifest)}/{name}", {"metadata": {"annotations": {"changed": manifest["kind"]}}})
        sys.stdout.write(f"{answer.status}\n")
        sys.stdout.flush()


def main() -> None:
    """Write what standard input orders."""
    orders = json.load(sys.stdin)
    api = Api.logged_in(**orders["api"])
    objects = list(Generator(SEED, orders["namespace"], tuple(orders["theirs"])).objects(orders["count"]))
    with ThreadPoolExecutor(WRITERS) as pool:
        for done in [pool.submit(write, api, objects[index::WRITERS]) for index in range(WRITERS)]:
            done.result()


if __name__ == "__main__":
    main()
