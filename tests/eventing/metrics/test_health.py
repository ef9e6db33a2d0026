"""What the probes of worker and scheduler hear, and how soon the scheduler ends."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from eventing.local import redis_server
from eventing.local.ports import free_port
from eventing.local.redis_server import RedisServer
from eventing.metrics.health import (  # fmt: skip
    API,
    OUTLET,
    REDIS,
    STUCK_SECONDS,
    SWEEPER,
    UNREACHABLE_SECONDS,
    WORKER,
    Health,
    HealthPort,
    Heartbeat,
)
from eventing.wiring.worker import health_of
from shared.adapters.kube import KubeClient
from shared.config import Settings
from tests.kit import verbs
from tests.kit.sandbox import running_sandbox
from tests.kit.waiting import PATIENCE_SECONDS, wait_for


class Clock:
    """A clock that a test sets."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def asked(port: int, path: str) -> tuple[int, str]:
    """Status and body; 0 when nobody listens."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE_SECONDS) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


def answer_of(port: int, path: str) -> tuple[int, str]:
    """Status and body; asked again where the port gave up on a request that came late: a busy machine sends it so."""
    (found,) = wait_for(lambda: [one for one in (asked(port, path),) if one[0]], f"an answer about {path}")
    return found


def test_what_never_answered_is_missing() -> None:
    heartbeat = Heartbeat((REDIS, API))
    heartbeat.answered(REDIS)
    assert heartbeat.missing() == [API]


def test_what_answered_long_ago_is_missing() -> None:
    clock = Clock()
    heartbeat = Heartbeat((REDIS,), clock)
    heartbeat.answered(REDIS)
    clock.now += UNREACHABLE_SECONDS + 1
    assert heartbeat.missing() == [REDIS]
    assert heartbeat.stuck() == [], "it goes on trying"


def test_a_program_that_stopped_trying_is_not_alive() -> None:
    clock = Clock()
    heartbeat = Heartbeat((REDIS,), clock)
    clock.now += STUCK_SECONDS + 1
    assert heartbeat.stuck() == [SWEEPER]
    heartbeat.tries()
    assert heartbeat.stuck() == []


def test_one_loop_that_stopped_trying_is_enough() -> None:
    clock = Clock()
    heartbeat = Heartbeat((REDIS,), clock, loops=(SWEEPER, OUTLET))
    heartbeat.answered(REDIS)
    clock.now += STUCK_SECONDS + 1
    heartbeat.tries(SWEEPER)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = HealthPort(listening, heartbeat)
        assert answered(listening, port, "/livez") == (503, '{"ok": false, "stuck": ["outlet"]}')
        heartbeat.tries(OUTLET)
        assert answered(listening, port, "/livez")[0] == 200


def answered(listening: socket.socket, port: HealthPort, path: str) -> tuple[int, str]:
    """What the port answers to a client that asks it once."""
    with asked_meanwhile(listening, path) as answers:
        select.select([port], [], [])
        port.answer()
    return answers[0]


def test_a_child_reports_to_its_parent() -> None:
    heartbeat = Heartbeat((REDIS,))
    child = os.fork()
    if not child:
        heartbeat.answered(REDIS)
        os._exit(0)
    os.waitpid(child, 0)
    assert heartbeat.missing() == []


@contextmanager
def asked_meanwhile(listening: socket.socket, path: str) -> Iterator[list[tuple[int, str]]]:
    """A client asks while the block runs."""
    answers: list[tuple[int, str]] = []
    client = threading.Thread(target=lambda: answers.append(asked(listening.getsockname()[1], path)))
    client.start()
    yield answers
    client.join()


@pytest.mark.parametrize(
    ("path", "is_up", "answer"),
    [
        pytest.param("/livez", False, (200, '{"ok": true}'), id="a parent without a child lives"),
        pytest.param("/readyz", False, (503, f'{{"ok": false, "missing": ["{WORKER}"]}}'), id="but is not ready"),
        pytest.param("/readyz", True, (200, '{"ok": true, "missing": []}'), id="with a child it is"),
        pytest.param("/else", True, (404, "{}"), id="there is nothing else"),
    ],
)
def test_the_port_is_answered_while_a_parent_waits_for_its_child(
    path: str, is_up: bool, answer: tuple[int, str]
) -> None:
    heartbeat = Heartbeat((REDIS,))
    heartbeat.answered(REDIS)
    ours, theirs = socket.socketpair()
    listening = socket.create_server(("127.0.0.1", 0))
    with ours, theirs, listening, asked_meanwhile(listening, path) as answers:
        assert not Health(heartbeat, HealthPort(listening, heartbeat)).wait(ours, 10, is_up=is_up)
    assert answers == [answer]


def test_a_client_that_sends_nothing_stops_nobody() -> None:
    heartbeat = Heartbeat((REDIS,))
    ours, theirs = socket.socketpair()
    listening = socket.create_server(("127.0.0.1", 0))
    with ours, theirs, listening, socket.create_connection(listening.getsockname()):
        health = Health(heartbeat, HealthPort(listening, heartbeat))
        assert not health.wait(ours, 10, is_up=True)
        theirs.send(b"r")
        assert health.wait(ours, 10, is_up=True)


def test_a_kubeconfig_that_cannot_be_read_now_is_no_answer_of_the_api_server(tmp_path: Path) -> None:
    health = health_of(Settings(kubeconfig=str(tmp_path / "kubeconfig"), health_port=free_port()))
    assert health.port
    assert health.has_api
    with contextlib.closing(health.port):
        assert not health.has_api()


class Version(BaseHTTPRequestHandler):
    """An API server that only tells its version."""

    def do_GET(self) -> None:  # the name that the base class calls
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"gitVersion": "v1.35.0"}')

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def a_program(name: str, **environ: str) -> Iterator[tuple[verbs.Started, int]]:
    """`olmf run NAME` and its health port."""
    port = free_port()
    variables = {**os.environ, "OLMF_HEALTH_PORT": str(port), **environ}
    with verbs.running("run", name, environ=variables) as process:
        wait_for(lambda: asked(port, "/livez")[0] == 200)
        yield process, port


def test_a_worker_is_ready_when_redis_and_the_api_server_answer(tmp_path: Path) -> None:
    api = HTTPServer(("127.0.0.1", free_port()), Version, bind_and_activate=False)
    config = tmp_path / "kubeconfig"
    config.write_text(
        "{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a}}], "
        f"clusters: [{{name: a, cluster: {{server: 'http://127.0.0.1:{api.server_address[1]}'}}}}]}}"
    )
    redis = tmp_path / "redis"
    environ = {"OLMF_REDIS_URL": f"unix://{redis}/redis.sock", "KUBECONFIG": str(config)}
    with a_program("worker", **environ) as (_, port):
        status, missing = answer_of(port, "/readyz")
        assert (status, REDIS in missing, API in missing, WORKER in missing) == (503, True, True, True)
        server = redis_server.start(redis)
        wait_for(lambda: REDIS not in answer_of(port, "/readyz")[1])
        assert answer_of(port, "/readyz")[0] == 503, "the API server is missing"
        api.server_bind()
        api.server_activate()
        threading.Thread(target=api.serve_forever, daemon=True).start()
        wait_for(lambda: asked(port, "/readyz")[0] == 200)
        server.stop()
        wait_for(lambda: asked(port, "/readyz")[0] == 503)
        assert answer_of(port, "/livez")[0] == 200, "it waits for Redis, which no restart of its own brings back"
    api.shutdown()
    api.server_close()


def test_a_scheduler_is_ready_when_redis_answers_and_ends_on_request(tmp_path: Path) -> None:
    redis = tmp_path / "redis"
    with a_program("scheduler", OLMF_REDIS_URL=f"unix://{redis}/redis.sock") as (process, port):
        assert answer_of(port, "/readyz")[0] == 503
        server = redis_server.start(redis)
        wait_for(lambda: asked(port, "/readyz")[0] == 200)
        process.send(signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS) == 0
        server.stop()


def test_a_scheduler_ends_while_redis_hangs(own_redis: RedisServer) -> None:
    with a_program("scheduler", OLMF_REDIS_URL=own_redis.url) as (process, port):
        wait_for(lambda: asked(port, "/readyz")[0] == 200)
        os.kill(own_redis.pid, signal.SIGSTOP)
        try:
            process.send(signal.SIGTERM)
            assert process.wait(PATIENCE_SECONDS) == 0
        finally:
            os.kill(own_redis.pid, signal.SIGCONT)


IN_A_DESTRUCTOR = """
from eventing.wiring.scheduler import end_on_request
class Connection:
    def __del__(self):
        print("waits", flush=True)
        while True:
            pass
end_on_request()
connection = Connection()
del connection
raise SystemExit("it went on")
"""


def test_a_scheduler_ends_while_a_destructor_runs() -> None:
    with subprocess.Popen([sys.executable, "-c", IN_A_DESTRUCTOR], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == b"waits\n"
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_SECONDS) == 0
        finally:
            process.kill()


def test_a_watcher_ends_while_redis_hangs(own_redis: RedisServer, tmp_path: Path) -> None:
    with running_sandbox(tmp_path) as kubeconfig:
        port = free_port()
        environ = {"OLMF_REDIS_URL": own_redis.url, "KUBECONFIG": str(kubeconfig), "OLMF_PORT": str(port)}
        with verbs.running("run", "watch", environ={**os.environ, **environ}) as watcher:
            wait_for(lambda: asked(port, "/readyz")[0] == 200)
            os.kill(own_redis.pid, signal.SIGSTOP)
            try:
                KubeClient.from_kubeconfig(str(kubeconfig)).create(
                    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "news"}}
                )
                wait_for(lambda: asked(port, "/readyz")[0] == 503)
                watcher.send(signal.SIGTERM)
                assert watcher.wait() == 0
            finally:
                os.kill(own_redis.pid, signal.SIGCONT)


def taken(port: HealthPort, number: int, body: bytes) -> tuple[int, bytes]:
    """Status and body of the answer to a POST of a dead letter."""
    answers: list[tuple[int, bytes]] = []

    def post() -> None:
        request = urllib.request.Request(f"http://127.0.0.1:{number}/lost", body)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                answers.append((answer.status, answer.read()))
        except urllib.error.HTTPError as error:
            answers.append((error.code, b""))

    thread = threading.Thread(target=post)
    thread.start()
    select.select([port], [], [], PATIENCE_SECONDS)
    port.answer()
    thread.join()
    return answers[0]


def test_a_dead_letter_is_taken_whatever_it_is_and_reported() -> None:
    """A Broker that could not deliver an event posts it here; its body is read, so that the answer arrives."""
    lost: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = HealthPort(listening, Heartbeat((REDIS,)), lambda: lost.append(1))
        number = listening.getsockname()[1]
        assert [taken(port, number, b"x" * size) for size in (0, 3_000_000)] == [(204, b"")] * 2
        assert lost == [1, 1]
        assert taken(HealthPort(listening, Heartbeat((REDIS,))), number, b"x")[0] == 404, "who asked for none"
