"""The documents in the files of a bundle, as OLM finds them, and a sentence for everything that it passes over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shared.api.manifest import Manifest
from shared.domain.bundle.model import Files
from shared.domain.bundle.shape import is_deep
from shared.domain.go import stream as gostream
from shared.domain.go_types.plain import what_is

FILE_BYTES: Final = 4 * 1024 * 1024
"""A larger file is not read: no API server stores an object of half that size."""
MANIFESTS: Final = "manifests"
METADATA: Final = "metadata"
_NONE: Final = gostream.Part(0, 0, None)


@dataclass(frozen=True, slots=True)
class Passed:
    """A file, or a part of it, that is not used, and a sentence that says why."""

    path: str
    sentence: str

    def __str__(self) -> str:
        return self.sentence

    @classmethod
    def unreadable(cls, path: str, why: str) -> Passed:
        """A file that holds nothing to use."""
        return cls(path, f"{path} cannot be read: {why}; correct it")


@dataclass(frozen=True, slots=True)
class Documents:
    """The first document of each file directly in a folder, by path in name order."""

    by_path: Mapping[str, Any]  # why: any JSON value
    passed: tuple[Passed, ...] = ()
    in_json: frozenset[str] = frozenset()
    """The paths of documents that were read as JSON: a value in them is handed on as it is written."""

    def objects(self) -> tuple[dict[str, Manifest], tuple[Passed, ...]]:
        """The documents that are objects of Kubernetes, and everything that was passed over."""
        wrong = {path: why for path, one in self.by_path.items() if (why := _no_object(one))}
        found = {path: one for path, one in self.by_path.items() if path not in wrong}
        passed = (*self.passed, *(Passed.unreadable(path, why) for path, why in wrong.items()))
        return found, tuple(sorted(passed, key=lambda one: one.path))


def _paths_in(files: Files, folder: str, *, with_hidden: bool) -> Iterator[str]:
    """The files directly in a folder, in name order."""
    for path in sorted(files):
        above, _, name = path.rpartition("/")
        if above == folder and (with_hidden or not name.startswith(".")):
            yield path


def documents(files: Files, folder: str, *, with_hidden: bool = False) -> Documents:
    """The first document of each file directly in a folder."""
    found: dict[str, Any] = {}
    passed: list[Passed] = []
    in_json = set()
    for path in _paths_in(files, folder, with_hidden=with_hidden):
        part, why, is_more = _first(files[path])
        if why:
            passed.append(Passed.unreadable(path, why))
            continue
        found[path] = part.value
        if part.is_json:
            in_json.add(path)
        if is_more:
            passed.append(Passed(path, f"found more than one document inside {path}, using only the first one"))
    return Documents(found, tuple(passed), frozenset(in_json))


def _first(content: bytes) -> tuple[gostream.Part, str, bool]:
    """The first document, why it cannot be used, and whether a readable one follows."""
    if len(content) > FILE_BYTES:
        return _NONE, f"it has more than {FILE_BYTES} bytes, and no cluster takes such an object", False
    parts = gostream.parts(content)
    part = next(parts, None)
    if part is None:
        return _NONE, "it is empty", False
    if part.error or is_deep(part.value):
        return _NONE, f"{_place(content, part.offset)}{part.error or 'nested too deeply'}", False
    following = next(parts, None)
    return part, "", following is not None and not following.error


def _place(content: bytes, offset: int) -> str:
    """Where a document begins, or where it cannot be read; empty for the first line of a file."""
    line = content.count(b"\n", 0, offset) + 1
    return f"line {line}: " if line > 1 else ""


def _no_object(document: object) -> str:
    """Why a document is no object of Kubernetes; empty when it is one."""
    if not isinstance(document, Mapping):
        return f"it holds {what_is(document)}, not an object"
    kind = document.get("kind")
    if not isinstance(kind, str) or not kind:
        return "Object 'Kind' is missing" if kind in (None, "") else f"its kind is {what_is(kind)}"
    version = document.get("apiVersion")
    return f"its apiVersion is {version!r}" if isinstance(version, str) and version.count("/") > 1 else ""
