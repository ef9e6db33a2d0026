"""Pulls end in time: whatever a registry sends, or does not send, and however slowly."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pytest

from shared.adapters.oci.errors import OciError
from shared.adapters.oci.image import in_memory, pull
from shared.adapters.oci.pace import Allowance, Pull, bounded
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.registry import Registry
from shared.adapters.oci.slow_hosts import SlowHosts
from shared.adapters.oci.transport import Transport
from tests.kit.image_registry import a_file, a_layer, scripted_registry

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
_QUICK = Allowance(seconds=30, slow_seconds=0.3, bytes_per_second=1000)


@dataclass
class Dripping:
    """Sends a beginning at once, then one byte at a time."""

    begin: bytes
    address: str = ""
    asked: list[bytes] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)

    def serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            self.asked.append(connection.recv(4096))
            connection.sendall(self.begin)
            while not self.is_over.wait(0.05):
                connection.sendall(b" ")


@contextmanager
def dripping(begin: bytes) -> Iterator[Dripping]:
    server = Dripping(begin)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server.address = f"127.0.0.1:{listener.getsockname()[1]}"

        def accept() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=server.serve, args=(listener.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield server
        finally:
            server.is_over.set()
            listener.shutdown(socket.SHUT_RDWR)


def refusal(act: Callable[[], object]) -> OciError:
    with pytest.raises(OciError) as caught:
        act()
    return caught.value


@pytest.mark.parametrize(
    "begin",
    [
        pytest.param(b"", id="not even a first line"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX-Long: ", id="a header without end"),
        pytest.param(_HEAD, id="a body, a byte at a time"),
    ],
)
def test_a_registry_that_only_drips_is_given_up(begin: bytes) -> None:
    with dripping(begin) as server, bounded(Pull(_QUICK)):
        registry = Registry(Transport())
        error = refusal(lambda: registry.manifest(Reference.parse(f"{server.address}/tea:1")))
    assert error.reason == "TimedOut"
    assert f"{server.address} is too slow: " in error.message
    assert "less than 1 kB in 0 s, where at least 1000 bytes a second are wanted" in error.message
    assert f"{server.address}/tea:1" in error.message
    assert len(server.asked) == 1, "what is too slow is not tried again at once"


def test_a_pull_ends_at_its_deadline_though_bytes_keep_coming() -> None:
    with dripping(_HEAD) as server, bounded(Pull(Allowance(seconds=0.5, slow_seconds=9, bytes_per_second=1))):
        error = refusal(lambda: Registry(Transport()).manifest(Reference.parse(f"{server.address}/tea:1")))
    assert error.reason == "TimedOut"
    assert f"{server.address}: the pull did not end within 0 s (" in error.message


def test_a_slow_host_is_not_waited_for_again_by_the_same_namespace() -> None:
    hosts = SlowHosts()
    with dripping(_HEAD) as server:
        registry = Registry(Transport())
        for name in ("tea", "milk", "sugar"):
            with bounded(Pull(_QUICK, hosts, "mornings")):
                error = refusal(lambda name=name: registry.manifest(Reference.parse(f"{server.address}/{name}:1")))  # type: ignore[misc]
            assert error.reason == "TimedOut"
            assert "the host is asked again after 60 s" in error.message
        assert len(server.asked) == 1
        with bounded(Pull(_QUICK, hosts, "evenings")):
            refusal(lambda: registry.manifest(Reference.parse(f"{server.address}/tea:1")))
        assert len(server.asked) == 2, "another namespace finds out for itself"


def test_a_host_is_asked_again_after_a_while_and_the_memory_is_bounded() -> None:
    now = [0.0]
    hosts = SlowHosts(60, clock=lambda: now[0])
    hosts.add("a", "slow.example", "it is too slow")
    now[0] = 59
    assert hosts.why("a", "slow.example").startswith("it is too slow")
    assert hosts.why("b", "slow.example") == ""
    now[0] = 60
    assert hosts.why("a", "slow.example") == ""
    for number in range(1500):
        hosts.add("a", f"{number}.example", "slow")
    assert sum(bool(hosts.why("a", f"{number}.example")) for number in range(1500)) == 1000


def test_a_host_that_cannot_be_connected_to_is_remembered_when_that_cost_time() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        address = f"127.0.0.1:{full.getsockname()[1]}"
        with socket.create_connection(full.getsockname()), bounded(Pull(_QUICK, hosts := SlowHosts())):
            error = refusal(
                lambda: Registry(Transport(attempts=1, connect_seconds=0.2)).manifest(
                    Reference.parse(f"{address}/tea:1")
                )
            )
    assert error.reason == "Unreachable"
    assert hosts.why("", address).startswith(f"{address} does not answer")


def test_all_answers_of_one_pull_are_bounded_together() -> None:
    with scripted_registry() as registry:
        registry.put("tea", "1", [a_layer(a_file("manifests/a", bytes(3000)), compressed=False) for _ in range(9)])
        reference = Reference.parse(f"{registry.address}/tea:1")

        def whole() -> object:
            return pull(Registry(Transport()), reference, lambda _: ("manifests",), in_memory)

        with bounded(Pull(Allowance(bytes=50_000))):
            error = refusal(whole)
        with bounded(Pull(Allowance(bytes=500_000))):
            whole()
    assert error.reason == "TooLarge"
    assert "more than 50 kB came for one pull" in error.message


def test_only_the_time_that_is_spent_waiting_counts_as_slow() -> None:
    now = [0.0]
    pull = Pull(Allowance(seconds=1000, slow_seconds=10, bytes_per_second=1000), clock=lambda: now[0])
    pull.ask("a.example", "a.example/tea:1")
    for _ in range(50):
        now[0] += 10  # we unpack
        pull.took(2000, 1.0)
    assert pull.left() == pytest.approx(10.0)
    pull.took(0, 9.5)
    assert pull.left() == pytest.approx(0.5)


def test_a_layer_that_takes_long_to_unpack_ends_with_the_pull() -> None:
    now = [0.0]
    with scripted_registry() as registry:
        registry.put("tea", "1", [a_layer(a_file("manifests/a", bytes(300_000)))])
        with bounded(Pull(Allowance(seconds=5), clock=lambda: now[0])):

            def late(labels: object) -> tuple[str, ...]:
                del labels
                return ("manifests",)

            def slowly(stream: object) -> bytes:
                now[0] = 6
                return stream.read()  # type: ignore[attr-defined,no-any-return]

            reference = Reference.parse(f"{registry.address}/tea:1")
            error = refusal(lambda: pull(Registry(Transport()), reference, late, slowly))
    assert error.reason == "TimedOut"
