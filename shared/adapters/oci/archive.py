"""A tar archive that somebody made: of what can be large in it, little is held in memory at a time."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, NoReturn

from shared.adapters.oci import pace
from shared.adapters.oci.errors import OciError

_ATTRIBUTE_BYTES: Final = 1024 * 1024
_LENGTH: Final = re.compile(rb"(\d{1,9}) ")
_DIGITS: Final = re.compile(rb"\d{128}")


class Member(tarfile.TarInfo):
    """An entry whose long names and attributes are bounded, all of one file together, and that has no map of holes.

    The library reads each of these into memory in one piece; it calls the methods here for it.
    """

    def _proc_gnulong(self, archive: Archive) -> tarfile.TarInfo:
        with self._describing(archive):
            return super()._proc_gnulong(archive)  # type: ignore[misc,no-any-return]  # why: typeshed leaves it out

    def _proc_pax(self, archive: Archive) -> tarfile.TarInfo:
        with self._describing(archive):
            content = archive.fileobj.read(self._block(self.size))  # type: ignore[attr-defined]  # why: as above
            _check_attributes(content)
            archive.fileobj = _Again(archive, content)  # type: ignore[assignment]  # why: all that is asked of it here
            return super()._proc_pax(archive)  # type: ignore[misc,no-any-return]  # why: as above

    def _refuse_map(self, *_: object) -> NoReturn:
        raise OciError("Malformed", "the archive holds a sparse file, which no image builder makes; build it again")

    _proc_sparse = _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _refuse_map

    @contextmanager
    def _describing(self, archive: Archive) -> Iterator[None]:
        """Around what describes a file, which may be described itself: all of it is held at the same time."""
        described = archive.described_bytes + self.size
        if self.size < 0 or described > _ATTRIBUTE_BYTES:
            raise OciError("TooLarge", f"the archive describes a file with {described} bytes; build the image again")
        archive.described_bytes = described
        yield
        archive.described_bytes -= self.size


class Archive(tarfile.TarFile):
    """An archive of such entries."""

    tarinfo = Member
    described_bytes = 0
    """By how much the entry that is being read is described."""

    def forget(self) -> None:
        """Drop what the library keeps: entries that were read, and attributes for all later ones, as Go does."""
        self.members: list[tarfile.TarInfo] = []
        self.pax_headers = {}


class _Again:
    """In place of the stream of an archive: what was just read of it, once more."""

    def __init__(self, archive: Archive, content: bytes) -> None:
        self._archive, self._stream, self._content = archive, archive.fileobj, content

    def read(self, _: int) -> bytes:
        """That, and from then on it is the stream."""
        self._archive.fileobj = self._stream
        return self._content


def _check_attributes(content: bytes) -> None:
    r"""ReadError unless each is `LENGTH KEY=VALUE\n`, as the library wants it from Python 3.11.10 and 3.12.6 on.

    Before, lengths that lie made gigabytes of a megabyte, and many digits in a row took it hours.
    """
    begin, is_fine = 0, not _DIGITS.search(content)
    while is_fine and begin < len(content) and content[begin]:
        length = _LENGTH.match(content, begin)
        end = begin + int(length[1]) if length else 0
        is_fine = bool(length and b"=" in content[length.end() : end] and content[end - 1 : end] == b"\n")
        begin = end
    if not is_fine:
        raise tarfile.ReadError("the attributes of a file cannot be read")


class Bounded:
    """A stream that refuses to yield more than `limit` bytes, and to be read on after its end.

    The library skips as many bytes as an entry states, piece by piece, whether they are there or not.
    """

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self._stream, self._left, self._limit, self._has_ended = stream, limit, limit, False

    def read(self, size: int = -1) -> bytes:
        """The next bytes. OciError beyond the limit, EOFError after the end was read."""
        if (pull := pace.present()) is not None:
            pull.check()
        if self._has_ended:
            raise EOFError("it ends in the middle of a file")
        content = self._stream.read(size if size >= 0 else self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            raise OciError("TooLarge", f"a layer unpacks to more than {self._limit} bytes; make the image smaller")
        self._has_ended = not content
        return content
