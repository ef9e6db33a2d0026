"""Scans the last files of a large catalog in a process beside the one that indexes it."""

from __future__ import annotations

import gc
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from typing import IO, Final, TypeAlias, cast

import msgspec

from shared.adapters.content.snapshot.scan import Found, Scanner
from shared.domain.catalog.documents import Document, NotACatalog

_WORTH_A_PROCESS: Final = 16 * 2**20
"""Bytes of a catalog that two processes read faster than one."""
_FIRST_PART: Final = 0.6
"""What the first process scans: the second one has to start."""
_SECONDS: Final = 120.0
"""How long the second process may take; it needs a few."""
_TAIL: Final = struct.Struct(">Q")
"""At the end of what the second process writes: how many bytes of it are lines; between them stands what it found."""

Scan: TypeAlias = Callable[[str, Path], list[Found]]
"""As `Scanner.scan`."""
_Files: TypeAlias = Sequence[tuple[str, Path]]


class _Scanned(msgspec.Struct, array_like=True):
    """What the second process found in a file."""

    start: int
    """Where its lines begin."""
    lengths: list[int]
    found: list[Found]


_results: Final = msgspec.msgpack.Decoder(dict[str, _Scanned]).decode


@contextmanager
def scanning(scanner: Scanner, files: _Files) -> Iterator[Scan]:
    """What scans files: those at the end of a large catalog in a second process, where the scanner observes."""
    last = _last_of(files) if scanner.observe and (os.cpu_count() or 1) > 1 else ()
    if not last:
        yield scanner.scan
        return
    with tempfile.TemporaryFile(prefix="olmf-lines-") as output:
        command = (sys.executable, "-m", __name__)
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output) as process:
            try:
                _ask(process, last)
                yield _Both(scanner, last, process, output).scan
            finally:
                process.kill()


def _last_of(files: _Files) -> _Files:
    """The files of the second process; none where the catalog is too small for one, or is a single file."""
    sizes = list(accumulate(file.stat().st_size for _, file in files))
    if not sizes or sizes[-1] < _WORTH_A_PROCESS:
        return ()
    first = min(range(len(sizes)), key=lambda number: abs(sizes[number] - sizes[-1] * _FIRST_PART))
    return files[first + 1 :]


def _ask(process: subprocess.Popen[bytes], files: _Files) -> None:
    with suppress(BrokenPipeError), cast("IO[bytes]", process.stdin) as stream:  # its status says that it has ended
        stream.write(msgspec.msgpack.encode([(path, str(file)) for path, file in files]))


class _Both:
    """Scans with both processes. What the second one failed at is scanned here, which says why."""

    def __init__(self, scanner: Scanner, last: _Files, process: subprocess.Popen[bytes], output: IO[bytes]) -> None:
        self._scanner, self._process, self._output = scanner, process, output
        self._last: Collection[str] = {path for path, _ in last}
        self._results: dict[str, _Scanned] | None = None

    def scan(self, path: str, file: Path) -> list[Found]:
        """All documents of a file, as `Scanner.scan`."""
        if path in self._last and self._results is None:
            self._results = self._collected()
        if not self._results or path not in self._results:
            return self._scanner.scan(path, file)
        scanned = self._results.pop(path)
        self._output.seek(scanned.start)
        for one, length in zip(scanned.found, scanned.lengths, strict=True):
            line = self._output.read(length)
            if self._scanner.observe:
                self._scanner.observe(one.document, line)
        return scanned.found

    def _collected(self) -> dict[str, _Scanned]:
        try:
            if self._process.wait(_SECONDS):
                return {}
        except subprocess.TimeoutExpired:
            return {}
        self._output.seek(-_TAIL.size, os.SEEK_END)
        [size] = _TAIL.unpack(self._output.read())
        self._output.seek(size)
        return _results(self._output.read()[: -_TAIL.size])


def main() -> int:
    """Scan the files that stdin names, and write lines and results; 1 when the other process has to do it."""
    files = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=list[tuple[str, str]])
    size, lengths = 0, list[int]()

    def observe(_: Document, line: bytes) -> None:
        sys.stdout.buffer.write(line)
        lengths.append(len(line))

    scanner, results = Scanner(observe), dict[str, _Scanned]()
    gc.disable()  # as where a catalog is indexed
    for path, file in files:
        try:
            found = scanner.scan(path, Path(file))
        except (NotACatalog, OSError):
            return 1
        if not scanner.observe:
            return 1
        results[path] = _Scanned(size, lengths.copy(), found)
        size += sum(lengths)
        lengths.clear()
    sys.stdout.buffer.write(msgspec.msgpack.encode(results) + _TAIL.pack(size))
    return 0


if __name__ == "__main__":
    sys.exit(main())
