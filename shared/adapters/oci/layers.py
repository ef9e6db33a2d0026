"""The files of an image: layers laid over each other, whiteouts obeyed, nothing that points outside."""

from __future__ import annotations

import gzip
import posixpath
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final, Generic, TypeVar, cast

from shared.adapters.oci.archive import Archive, Bounded
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.limits import Limits
from shared.adapters.progress import advanced

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd  # the same library for an older Python

T = TypeVar("T")
_WHITEOUT: Final = ".wh."
_OPAQUE: Final = ".wh..wh..opq"
GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_LINKS: Final = 40
"""How many links in a row are followed."""


@dataclass(slots=True)
class Tree(Generic[T]):
    """The files below some directories of an image, or at these paths; each is kept as `keep` says."""

    directories: tuple[str, ...]
    """Without slashes at the ends; the empty one is the root."""
    keep: Callable[[BinaryIO], T]
    limits: Limits
    files: dict[str, T] = field(default_factory=dict)
    _links: dict[str, str] = field(default_factory=dict)
    _folders: set[str] = field(default_factory=set)
    _bytes: int = 0
    _names_bytes: int = 0
    _entries: int = 0

    def add(self, layer: BinaryIO) -> None:
        """Apply one verified layer on top of the layers before it."""
        hidden, added = [], set()
        try:
            stream = cast("BinaryIO", _unpacked(layer, self.limits))  # reading is all that the library needs
            with Archive.open(fileobj=stream, mode="r|") as archive:
                for member in archive:
                    archive.forget()
                    self._count()
                    self._check_size(member.size)
                    path = self._real(_safe(member.name, self.limits))
                    directory, name = posixpath.split(path)
                    if name.startswith(_WHITEOUT):
                        hidden.append((directory, name))
                    elif self._is_selected(path):
                        added.add(path)
                        self._store(archive, member, path)
        except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError, RecursionError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # the machine, not the archive
                raise OciError(
                    "Unreachable", f"its files cannot be kept here: {error}; make room, or set TMPDIR"
                ) from error
            raise OciError("Malformed", f"a layer is not a readable archive: {error}; build the image again") from error
        for directory, name in hidden:
            self._hide(directory, name, added)

    def complete(self) -> dict[str, T]:
        """All files, links followed."""
        for path in list(self._links):
            if (target := self._target(path)) in self.files:
                self.files[path] = self.files[target]
        return self.files

    def _is_selected(self, path: str) -> bool:
        return any(not one or path == one or path.startswith(f"{one}/") for one in self.directories)

    def _store(self, archive: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
        self._make_room(path, is_directory=member.isdir())
        if member.isfile():
            self._account(member.size)
            advanced("unpacking", member.size, "files")
            content = archive.extractfile(member)
            self.files[path] = self.keep(cast("BinaryIO", content))
        elif member.islnk() and (target := self._real(_safe(member.linkname, self.limits))) in self.files:
            self._account(0)
            self.files[path] = self.files[target]  # now: a later layer may replace one of the two
        elif member.issym() or member.islnk():
            self._links[path] = _link_target(member, path, self.limits)
            self._account_name(self._links[path])
        elif not member.isdir():
            raise OciError("Malformed", f"{path!r} is a device or a pipe, which has no place in an image of files")

    def _make_room(self, path: str, *, is_directory: bool) -> None:
        """A file takes the place of a folder and the other way round; what a lower layer has there is gone."""
        if not _is_text(path):
            raise OciError(
                "Malformed", f"the archive holds the file name {path!r}, which is not UTF-8; rename the file"
            )
        self._account_name(path)
        for above in _above(path):
            self.files.pop(above, None)
            if above not in self._folders:
                self._account_name(above)
                self._folders.add(above)
        self.files.pop(path, None)
        self._links.pop(path, None)
        if path in self._folders and not is_directory:
            self._folders.discard(path)
            self._drop(path, set())

    def _real(self, path: str) -> str:
        """Where an entry lands when folders above it are links."""
        for _ in range(_LINKS):
            link = next((above for above in _above(path) if above in self._links), None) if self._links else None
            if link is None:
                return path
            path = posixpath.normpath(f"{self._links[link]}{path[len(link) :]}")
        raise _misplaced(path, self.directories)

    def _count(self) -> None:
        self._entries += 1
        if self._entries > self.limits.entries:
            raise OciError("TooLarge", f"the image has more than {self.limits.entries} entries; make it smaller")

    def _check_size(self, size: int) -> None:
        if not 0 <= size <= self.limits.unpacked_bytes:
            what = f"the archive states {size} bytes as the size of a file, wanted at most {self.limits.unpacked_bytes}"
            raise OciError("TooLarge", f"{what}; build the image again")

    def _account(self, size: int) -> None:
        self._bytes += size
        if self._bytes > self.limits.kept_bytes or len(self.files) >= self.limits.files:
            raise OciError("TooLarge", f"more than {self.limits.kept_bytes} bytes or {self.limits.files} files in "
                           f"{', '.join(self.directories) or '/'}; make the image smaller")  # fmt: skip

    def _account_name(self, path: str) -> None:
        self._names_bytes += len(path)
        if self._names_bytes > self.limits.names_bytes:
            raise OciError("TooLarge", f"the paths in the image have more than {self.limits.names_bytes} bytes; "
                           "make them shorter or fewer")  # fmt: skip

    def _hide(self, directory: str, name: str, added: set[str]) -> None:
        """Drop what lower layers put at a path, or below it; what this layer adds stays."""
        below = directory if name == _OPAQUE else posixpath.join(directory, name.removeprefix(_WHITEOUT))
        self._drop(below, added)

    def _drop(self, below: str, spared: set[str]) -> None:
        for known in (self.files, self._links):
            for path in [path for path in known if path not in spared and (path == below or _is_below(path, below))]:
                del known[path]

    def _target(self, path: str) -> str:
        """The file that a link ends at."""
        for _ in range(_LINKS):
            if path not in self._links:
                if not self._is_selected(path):
                    break
                return path
            path = self._real(self._links[path])
        raise _misplaced(path, self.directories)


def _misplaced(path: str, directories: tuple[str, ...]) -> OciError:
    where = ", ".join(directories) or "the image"
    return OciError("Malformed", f"the link {path!r} leads out of {where} or in a circle; put a copy of the file there")


def _above(path: str) -> Iterator[str]:
    """The folders above a path, from the outermost."""
    end = path.find("/")
    while end >= 0:
        yield path[:end]
        end = path.find("/", end + 1)


def _is_below(path: str, directory: str) -> bool:
    return not directory or path.startswith(f"{directory}/")


def _safe(name: str, limits: Limits) -> str:
    """The path of an entry, relative to the root of the image."""
    if len(name.encode(errors="surrogateescape")) > limits.path_bytes:
        raise OciError("TooLarge", f"the archive holds a path of more than {limits.path_bytes} bytes: {name[:60]!r}…")
    if name.count("/") > limits.depth:
        raise OciError("TooLarge", f"the archive holds a path of more than {limits.depth} folders: {name[:60]!r}…")
    if name.startswith("/") or ".." in name.split("/") or "\0" in name:
        raise OciError("Malformed", f"the archive holds the path {name!r}, which points outside; build the image again")
    return posixpath.normpath(name).removeprefix("./")


def _is_text(path: str) -> bool:
    """Whether a name is UTF-8; what is not comes as halves of surrogate pairs."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _link_target(member: tarfile.TarInfo, path: str, limits: Limits) -> str:
    if member.islnk():
        return _safe(member.linkname, limits)
    joined = posixpath.normpath(posixpath.join("/", posixpath.dirname(path), member.linkname))
    climbs = posixpath.normpath(posixpath.join(posixpath.dirname(path), member.linkname)).startswith("..")
    if climbs:
        raise OciError("Malformed", f"the link {path!r} points outside, to {member.linkname!r}; build the image again")
    return joined.lstrip("/")


def _unpacked(layer: BinaryIO, limits: Limits) -> Bounded:
    """The archive in a layer, whatever its compression; its first bytes say which, media types sometimes lie."""
    magic = layer.read(4)
    layer.seek(0)
    if magic.startswith(GZIP):
        return Bounded(cast("BinaryIO", gzip.GzipFile(fileobj=layer, mode="rb")), limits.unpacked_bytes)
    if magic == _ZSTD:
        return Bounded(_zstd(layer), limits.unpacked_bytes)
    return Bounded(layer, limits.unpacked_bytes)


class _Zstd:
    """A stream whose library has an error of its own for what is broken."""

    def __init__(self, stream: BinaryIO, broken: type[Exception]) -> None:
        self._stream, self._broken = stream, broken

    def read(self, size: int = -1) -> bytes:
        try:
            return self._stream.read(size)
        except self._broken as error:
            raise ValueError(str(error)) from error


def _zstd(layer: BinaryIO) -> BinaryIO:
    return cast("BinaryIO", _Zstd(cast("BinaryIO", zstd.ZstdFile(layer)), zstd.ZstdError))
