"""The file of `olmf resolve --lock`: where inputs were read, their digests, and the choices."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventing.cli.commands import quoted
from eventing.cli.failure import NEGATIVE, USAGE, CliError
from eventing.cli.namespace_inputs import content_at, paths_of, read_inputs, split
from shared.adapters.oci.reference import Reference
from shared.adapters.paths import LOCAL_PREFIXES, image_named_by
from shared.adapters.whole_file import write_whole
from shared.domain.command import olmf
from shared.domain.resolver.lock import InvalidLock, checked, differences, is_whole, lock_of
from shared.domain.resolver.resolve import resolve

if TYPE_CHECKING:
    from eventing.cli.namespace_inputs import Where
    from shared.domain.resolver.identity import CatalogKey
    from shared.domain.resolver.lock import Lock
    from shared.domain.resolver.model import Inputs, Resolution

LockOption = Annotated[
    Path | None, typer.Option("--lock", metavar="FILE", help="Write digests of every input and choice to a file.")
]
LockedOption = Annotated[
    Path | None,
    typer.Option("--locked", metavar="FILE", help="Read what such a file names; exit 1 if anything differs from it."),
]


@dataclass(frozen=True, slots=True)
class Read:
    """Where the inputs are read, as arguments of the command line."""

    namespace: str
    catalogs: list[str] | None = None
    """None: from a cluster."""
    folder: Path | None = None
    is_whole: bool = False


def answered(read: Read, cluster: Where, *, lock: Path | None, locked: Path | None) -> tuple[Inputs, Resolution]:
    """The answer for a namespace; written to a lock file, or compared with one. CliError."""
    held = _opened(locked) if locked else None
    read = _as_locked(read, held) if held else read
    inputs = read_inputs(read.namespace, read.catalogs, read.folder, cluster, is_whole=read.is_whole).inputs
    resolution = resolve(inputs)
    if held and locked:
        _check(locked, held, _identified(inputs, read.catalogs), resolution)
    if lock:
        _write(lock, inputs, resolution, read)
    return inputs, resolution


def _opened(path: Path) -> Lock:
    try:
        return checked(json.loads(path.read_bytes()))
    except OSError as error:
        raise CliError(f"--locked {path}: {error.strerror}", USAGE) from error
    except (ValueError, RecursionError) as error:
        what = str(error) if isinstance(error, InvalidLock) else "it is not JSON"
        raise CliError(
            f"--locked {path}: {what}; {quoted(olmf('resolve', '--lock', str(path)))} writes one", USAGE
        ) from error


def _as_locked(read: Read, lock: Lock) -> Read:
    """What to read: the command line takes precedence, the lock says the rest."""
    source: Any = lock.get("read")
    source = source if isinstance(source, dict) else {}
    words, folder = source.get("catalogs"), source.get("from")
    catalogs = list(map(str, words)) if isinstance(words, list) else None
    place = Path(folder) if isinstance(folder, str) else None
    return Read(read.namespace or lock["namespace"], read.catalogs or catalogs, read.folder or place, is_whole(lock))


def _check(path: Path, lock: Lock, inputs: Inputs, resolution: Resolution) -> None:
    if wrong := list(differences(lock, lock_of(inputs, resolution))):
        raise CliError(f"--locked {path}: {'; '.join(wrong)}; resolve with --lock {path} to accept it", NEGATIVE)


def _write(path: Path, inputs: Inputs, resolution: Resolution, read: Read) -> None:
    """Write the lock of an answer; when a Subscription is refused, write no lock and say so."""
    if refused := sorted(name for one in resolution.components if one.refusal for name in one.subscribers):
        sys.stderr.write(f"# nothing is locked in {path}, because Subscription {refused[0]} gets no answer\n")
        return
    source: dict[str, object] = {"catalogs": list(map(_pinned, read.catalogs))} if read.catalogs else {}
    source |= {"from": str(read.folder)} if read.folder else {}
    text = json.dumps({**lock_of(_identified(inputs, read.catalogs), resolution), "read": source}, indent=2) + "\n"
    try:
        write_whole(path, [text.encode()])
    except OSError as error:
        raise CliError(f"--lock {path}: {error.strerror}", USAGE) from error
    again = olmf("resolve", "--locked", str(path))
    command = f"`{again}`" if source else quoted(again)  # the lock names its sources, with digests
    sys.stderr.write(f"# locked in {path}; {command} checks whether all is still so\n")


def _identified(inputs: Inputs, words: Sequence[str] | None) -> Inputs:
    """The inputs, with the digest of its content as reference of each catalog; a cluster has set these. CliError."""
    if not words:
        return inputs
    places = _places(inputs, words)
    contents = {path: content_at(path) for path in dict.fromkeys(places.values())}
    known = {key: replace(inputs.catalogs[key], reference=contents[path]) for key, path in places.items()}
    return replace(inputs, catalogs={**inputs.catalogs, **known})


def _places(inputs: Inputs, words: Sequence[str]) -> dict[CatalogKey, str]:
    if len(words) == 1 and not split(words[0])[0]:
        desired = {one.catalog for one in inputs.subscribers} & inputs.catalogs.keys()
        return dict.fromkeys(desired or inputs.catalogs, words[0])
    return paths_of(words)


def _pinned(word: str) -> str:
    """The argument with the digest of its image, so that a kept snapshot answers without the registry."""
    name, path = split(word)
    if "://" in path or not (image := image_named_by(path)) or image.startswith(LOCAL_PREFIXES):
        return word
    pinned = str(Reference.parse(path).at(content_at(path)))
    return f"{name}={pinned}" if name else pinned
