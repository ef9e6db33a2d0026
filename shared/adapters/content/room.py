"""How much may still be written into a store, whoever writes, and whatever comes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import BinaryIO, Final, Protocol, TypeAlias, cast

from shared.adapters.oci.errors import OciError

_LOOK_BYTES: Final = 64 * 1024 * 1024
"""How much is written between two looks at the folder, at most."""
_PARTS: Final = 16
"""In a small folder it is this part of the limit."""

Buffer: TypeAlias = bytes | bytearray | memoryview


class Folder(Protocol):
    """What has a size and a limit."""

    limit_bytes: int

    def free(self, desired: int, spared: Collection[str]) -> int:
        """How many bytes may be added, after making room for so many, where that is possible."""
        ...


class Room:
    """What is left; the folder is looked at again from time to time, for others write, too."""

    def __init__(self, folder: Folder, spared: Collection[str] = ()) -> None:
        self._folder, self._spared, self._left = folder, spared, 0

    def take(self, count: int) -> None:
        """Count what is about to be written. OciError when it does not fit."""
        if count > self._left:
            limit = self._folder.limit_bytes
            desired = max(min(_LOOK_BYTES, limit // _PARTS), count)
            free = self._folder.free(desired, self._spared)
            if count > free:
                what = f"it does not fit into the {limit} bytes that catalogs may take here"
                raise OciError("TooLarge", f"{what}; make the image smaller, or raise OLMF_CONTENT_BYTES")
            self._left = min(free, desired)
        self._left -= count

    def measured(self, stream: BinaryIO) -> BinaryIO:
        """The stream, less what it writes."""
        return cast("BinaryIO", _Measured(stream, self))


class _Measured:
    """A stream that takes what it writes from the room."""

    def __init__(self, stream: BinaryIO, room: Room) -> None:
        self._stream, self._room = stream, room
        self.tell, self.seek, self.flush, self.fileno = stream.tell, stream.seek, stream.flush, stream.fileno
        self.read, self.truncate = stream.read, stream.truncate

    def write(self, content: Buffer) -> int:
        self._room.take(memoryview(content).nbytes)
        return self._stream.write(content)

    def writelines(self, pieces: Iterable[Buffer]) -> None:
        for piece in pieces:
            self.write(piece)


class Batch:
    """Files that belong together, and together fit into the store."""

    def __init__(self, folder: Folder, add: Callable[[Callable[[BinaryIO], str]], tuple[str, bool]]) -> None:
        self._add = add
        self.made: set[str] = set()
        """Names of files that were not here before."""
        self._names: set[str] = set()
        self._room = Room(folder, self._names)

    def add(self, write: Callable[[BinaryIO], str]) -> str:
        """Write a file whose name is known only at its end; `write` returns the name. OciError when it does not fit."""
        name, is_new = self._add(lambda stream: write(self._room.measured(stream)))
        self._names.add(name)
        if is_new:
            self.made.add(name)
        return name
