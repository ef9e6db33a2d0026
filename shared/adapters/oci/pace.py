"""How long a pull may take, how slow a registry may be, and how much all of its answers may hold."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from shared.adapters.oci.errors import OciError
from shared.adapters.oci.slow_hosts import SlowHosts

_LEAST_SECONDS: Final = 0.001
"""A timeout of zero would mean "do not wait at all"."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """The bounds of one pull: of its manifests, tokens and blobs together."""

    seconds: float = 300
    slow_seconds: float = 10
    """How long a registry may be slower than `bytes_per_second`; only time that is spent waiting for it counts."""
    bytes_per_second: int = 1000
    bytes: int = 2 * 1024 * 1024 * 1024


@dataclass(slots=True)
class Pull:
    """A pull that is going on: it looks at the clock with every piece that arrives."""

    allowance: Allowance = field(default_factory=Allowance)
    slow_hosts: SlowHosts = field(default_factory=SlowHosts)
    namespace: str = ""
    clock: Callable[[], float] = time.monotonic
    _host: str = ""
    _image: str = ""
    _begun: float = 0.0
    _total: int = 0
    _waited: float = 0.0
    _window_bytes: int = 0

    def __post_init__(self) -> None:
        self._begun = self.clock()

    def ask(self, host: str, image: str) -> None:
        """Say who is asked next, for which image. OciError when that host was too slow a moment ago."""
        self._host, self._image = host, image
        self.check()
        if known := self.slow_hosts.why(self.namespace, host):
            raise OciError("TimedOut", f"{image}: {known}")

    def check(self) -> None:
        """OciError when the time is over."""
        if self.clock() - self._begun >= self.allowance.seconds:
            seconds = f"{self.allowance.seconds:.0f} s"
            raise self._given_up(f"{self._host}: the pull did not end within {seconds} ({_size(self._total)} came)")

    def rest(self) -> float:
        """How long the whole pull may still take, in seconds. OciError when the time is over."""
        self.check()
        return self.allowance.seconds - (self.clock() - self._begun)

    def left(self) -> float:
        """How long the next piece may take, in seconds. OciError when the time is over."""
        return max(min(self.rest(), self.allowance.slow_seconds - self._waited), _LEAST_SECONDS)

    def took(self, count: int, seconds: float) -> None:
        """Count what came, and how long it was waited for. OciError when it is too little, or too much in all."""
        self._total += count
        self._waited += seconds
        self._window_bytes += count
        if self._total > self.allowance.bytes:
            what = f"{self._image}: more than {_size(self.allowance.bytes)} came for one pull, last from {self._host}"
            raise OciError("TooLarge", f"{what}; make the image smaller")
        if self._waited < self.allowance.slow_seconds:
            return
        if self._window_bytes < self._waited * self.allowance.bytes_per_second:
            window = f"{_size(self._window_bytes)} in {self.allowance.slow_seconds:.0f} s"
            desired = f"at least {self.allowance.bytes_per_second} bytes a second are wanted"
            raise self._given_up(f"{self._host} is too slow: {window}, where {desired}")
        self._waited, self._window_bytes = 0.0, 0

    def remember(self, why: str) -> None:
        """Ask the present host no more for a while, because of what it cost."""
        self.slow_hosts.add(self.namespace, self._host, why)

    def _given_up(self, why: str) -> OciError:
        self.remember(why)
        return OciError("TimedOut", f"{self._image}: {why}; the host is asked again after {self.slow_hosts.seconds} s")


_PRESENT: Final[ContextVar[Pull | None]] = ContextVar("pull", default=None)


def present() -> Pull | None:
    """The pull that is going on; None when nobody bounds it, as on somebody's own machine."""
    return _PRESENT.get()


@contextmanager
def bounded(pull: Pull) -> Iterator[Pull]:
    """Everything that is read from registries in this block belongs to one pull."""
    token = _PRESENT.set(pull)
    try:
        yield pull
    finally:
        _PRESENT.reset(token)


def _paced(connection: socket.socket, read: Callable[[], int]) -> int:
    """Read once, within what the present pull has left."""
    pull, usual = _PRESENT.get(), connection.gettimeout()
    if pull is None:
        return read()
    patience = usual
    while True:
        allowed = pull.left() if patience is None else min(pull.left(), patience)
        connection.settimeout(max(allowed, _LEAST_SECONDS))
        begun = pull.clock()
        try:
            count = read()
        except TimeoutError:
            pull.took(0, pull.clock() - begun)
            if patience is not None and (patience := patience - allowed) <= 0:
                raise
        else:
            pull.took(count, pull.clock() - begun)
            return count
        finally:
            connection.settimeout(usual)


class PacedSocket(socket.socket):
    """A connection that a pull measures."""

    def recv_into(self, *args: Any, **kwargs: Any) -> int:  # why: the arguments of the class above
        """What its class does, measured."""
        return _paced(self, lambda: super(PacedSocket, self).recv_into(*args, **kwargs))


class PacedTls(ssl.SSLSocket):
    """The same with TLS."""

    def recv_into(self, *args: Any, **kwargs: Any) -> int:  # why: as above
        """The same."""
        return _paced(self, lambda: super(PacedTls, self).recv_into(*args, **kwargs))


def _size(count: int) -> str:
    """A size that people read; coarse, so that two tries of the same kind say the same."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count // size} {unit}"
    return "less than 1 kB"
