"""The state directory of a local installation: its files, its addresses, its lock."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from eventing.local.ports import free_port
from shared.adapters.whole_file import write_whole
from shared.domain.command import Command, olmf


class AlreadyRunningError(RuntimeError):
    """Another supervisor uses the state directory."""


class ForeignFileError(RuntimeError):
    """A file of a state directory is damaged, or was written by another version."""


_T = TypeVar("_T")
_POLL_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Process:
    """One program of an installation."""

    name: str
    pid: int
    probe: str = ""
    """URL that answers 2xx while the program works; empty when it has none."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The content of `olmf.json`: addresses and processes."""

    state: str
    supervisor: int
    kubeconfig: str = ""
    endpoint: str = ""
    redis: str = ""
    registry: str = ""
    processes: tuple[Process, ...] = field(default=())
    ready: bool = False


@dataclass(frozen=True, slots=True)
class StateDirectory:
    """Paths inside one state directory."""

    root: Path

    @classmethod
    def default(cls) -> StateDirectory:
        """`$OLMF_STATE`, else `olmf` below `$XDG_STATE_HOME` (`~/.local/state`)."""
        folder = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
        return cls(Path(os.environ.get("OLMF_STATE") or Path(folder) / "olmf"))

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of the sandbox."""
        return self.root / "kubeconfig"

    @property
    def logs(self) -> Path:
        """One log file per program."""
        return self.root / "logs"

    @property
    def addresses_file(self) -> Path:
        """Where the supervisor writes `Addresses`."""
        return self.root / "olmf.json"

    @property
    def endpoint_token(self) -> Path:
        """The token by which the endpoint knows its senders."""
        return self.root / "run" / "endpoint.token"

    def make_endpoint_token(self) -> str:
        """The token, made when there is none yet; nobody but the owner can read its file."""
        with contextlib.suppress(FileNotFoundError):
            if token := self.endpoint_token.read_text().strip():
                return token
        token = secrets.token_urlsafe(32)
        write_whole(self.endpoint_token, [token.encode(), b"\n"], mode=0o600)
        return token

    def command(self, *words: str) -> Command:
        """The command `olmf <words>` for this directory."""
        is_default = self.root == StateDirectory.default().root
        return olmf(*words, *(() if is_default else ("--state", str(self.root))))

    def ready_file(self, program: str) -> Path:
        """Written by a program when it is ready: JSON `{"pid", "address", "probe"}`."""
        return self.root / "run" / f"{program}.json"

    def port_of(self, program: str) -> int:
        """The port of a program, the same at every start unless it is taken, because addresses are stored."""
        return kept_port(self.root / "run" / f"{program}.port")

    def make(self) -> None:
        """Create the directories, readable by the owner only."""
        for folder in (self.root, self.logs, self.root / "run"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @contextlib.contextmanager
    def claimed(self) -> Iterator[None]:
        """Hold the lock of the directory. AlreadyRunningError when another process holds it."""
        with (self.root / "lock").open("w") as lock:
            while not _locks(lock, fcntl.LOCK_EX):
                if self.is_claimed():
                    raise AlreadyRunningError(self.occupied())
                time.sleep(_POLL_SECONDS)  # another process only checks whether it is locked
            yield

    def is_claimed(self) -> bool:
        """Whether a process holds the lock; the check itself does not prevent another process from taking it."""
        try:
            with (self.root / "lock").open() as lock:
                return not _locks(lock, fcntl.LOCK_SH)
        except FileNotFoundError:
            return False

    def occupied(self, pid: int = 0) -> str:
        """The message that an installation runs here already, with the command that stops it."""
        return f"already running in {self.root}{f' (pid {pid})' if pid else ''}; stop it with `{self.command('down')}`"

    def write(self, addresses: Addresses) -> None:
        """Replace the addresses in one step."""
        write_json(self.addresses_file, asdict(addresses))

    def read(self) -> Addresses | None:
        """The addresses of an installation whose supervisor runs, else None. ForeignFileError."""
        addresses = self._stored()
        # The pid of a killed supervisor may be that of another program by now; its lock is not.
        return addresses if addresses and is_alive(addresses.supervisor) and self.is_claimed() else None

    def left_behind(self) -> Addresses | None:
        """The addresses of an installation whose supervisor was killed, else None."""
        return None if self.read() else self._stored()

    def _stored(self) -> Addresses | None:
        return read_json(self.addresses_file, Addresses)


def _locks(file: IO[str], kind: int) -> bool:
    """Lock a file until it is closed, unless that would have to wait."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def kept_port(note: Path) -> int:
    """A free port: the stored one if possible, so that an address stays valid."""
    port = free_port(read_json(note, int) or 0, note)
    write_json(note, port)
    return port


def write_json(path: Path, value: object) -> None:
    """Write JSON in one step."""
    write_whole(path, [json.dumps(value, indent=2).encode(), b"\n"])


def read_json(path: Path, desired: type[_T]) -> _T | None:
    """The value of a type that `write_json` wrote; None without a file. ForeignFileError for any other content."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=desired)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        why = f"{path} is damaged, or of another version of olmf ({error})"
        raise ForeignFileError(f"{why}: stop with that version what runs there, then remove the file") from error


def is_alive(pid: int) -> bool:
    """Whether a process with this id exists and is not a zombie; False for an id that is not positive."""
    if pid <= 0:  # to the kernel these mean whole groups of processes
        return False
    with contextlib.suppress(OSError):  # it just went, or there is no /proc here: the kernel is asked below
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
