"""Connections to registries: a name is resolved once, its address is judged, and that address is connected to."""

from __future__ import annotations

import socket
import threading
from collections.abc import MutableMapping
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final, TypeAlias

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

from shared.adapters.oci import pace
from shared.adapters.oci.addresses import AddressRules, Ip, as_address, is_private

Found: TypeAlias = tuple[socket.AddressFamily, Ip]
_USUAL_SECONDS: Final = 10.0


class RefusedAddress(Exception):
    """An address that pulls do not go to."""


@dataclass(frozen=True, slots=True)
class Dial:
    """Opens connections as the rules say."""

    rules: AddressRules
    private: MutableMapping[str, bool]
    """Whether each host that was reached was in private networks only."""
    must_be_public: bool = False
    """Because somebody in a public network sent us there."""

    def open(self, connection: HTTPConnection) -> socket.socket:
        """The connection of urllib3, made by us."""
        host, port = connection._dns_host, connection.port  # noqa: SLF001  # why: what urllib3 itself looks up
        try:
            found = resolved(host, port, _seconds(connection))
        except socket.gaierror as error:
            raise NameResolutionError(connection.host, connection, error) from error
        if connection.proxy is None:  # who runs this machine chose the proxy
            found = self._allowed(host, port, found)
        failure: OSError | None = None
        for family, address in found:
            try:
                return self._connected(connection, family, address)
            except OSError as error:
                failure = error
        if isinstance(failure, TimeoutError):
            raise ConnectTimeoutError(connection, f"no connection within {_seconds(connection):.0f} s") from failure
        raise NewConnectionError(connection, f"Failed to establish a new connection: {failure}") from failure

    def _allowed(self, host: str, port: int, found: list[Found]) -> list[Found]:
        """The addresses that may be connected to. RefusedAddress without any."""
        reasons = [(one, self._why_not(host, port, one[1])) for one in found]
        if kept := [one for one, why in reasons if not why]:
            return kept
        (_, address), why = reasons[0]
        raise RefusedAddress(f"{host}:{port} is at {address}, which {why}")

    def _why_not(self, host: str, port: int, address: Ip) -> str:
        if self.must_be_public and is_private(address) and not self.rules.is_named(host, port):
            return "is in a private network, while a host in a public one leads there"
        return self.rules.why_not(host, port, address)

    def _connected(self, connection: HTTPConnection, family: socket.AddressFamily, address: Ip) -> socket.socket:
        opened = pace.PacedSocket(family, socket.SOCK_STREAM)
        try:
            for option in connection.socket_options or ():
                opened.setsockopt(*option)
            opened.settimeout(_seconds(connection))
            opened.connect((str(address), connection.port))
        except BaseException:
            opened.close()
            raise
        if connection.proxy is None:
            self._remember(connection.host.lower(), address)
        return opened

    def _remember(self, host: str, address: Ip) -> None:
        """Note where a host is; who was in a public network once stays there, for its name may lead anywhere next."""
        if is_private(address):
            self.private.setdefault(host, True)
        else:
            self.private[host] = False


def pool_classes(dial: Dial) -> dict[str, type[HTTPConnectionPool]]:
    """What a pool manager of urllib3 makes its pools of."""

    class Http(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return dial.open(self)

    class Https(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return dial.open(self)

    class HttpPool(HTTPConnectionPool):
        ConnectionCls = Http

    class HttpsPool(HTTPSConnectionPool):
        ConnectionCls = Https

    return {"http": HttpPool, "https": HttpsPool}


def resolved(host: str, port: int, seconds: float) -> list[Found]:
    """The addresses of a host, in the order to try. gaierror without any; TimeoutError when that takes too long.

    The system's resolver has no deadline, so it is asked in a thread of its own, which ends by itself.
    """
    if (literal := as_address(host)) is not None:
        return [(socket.AF_INET if literal.version == 4 else socket.AF_INET6, literal)]  # why: IP
    answers: SimpleQueue[list[Found] | OSError] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put([
                (socket.AddressFamily(family), address)
                for family, _, _, _, location in socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)
                if (address := as_address(str(location[0]))) is not None
            ])  # fmt: skip
        except (OSError, UnicodeError) as error:  # UnicodeError: a label of more than 63 characters
            answers.put(error if isinstance(error, OSError) else socket.gaierror(socket.EAI_NONAME, str(error)))

    threading.Thread(target=ask, name="resolve", daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except Empty:
        raise socket.gaierror(socket.EAI_AGAIN, f"no answer within {seconds:.0f} s") from None
    if isinstance(answer, OSError):
        raise answer
    if not answer:
        raise socket.gaierror(socket.EAI_NONAME, "it has no address")
    return answer


def _seconds(connection: HTTPConnection) -> float:
    """How long one attempt to connect may take."""
    usual = connection.timeout if isinstance(connection.timeout, int | float) else _USUAL_SECONDS
    return min(usual, running.left()) if (running := pace.present()) else usual
