"""A catalog as text: one stream, or one file for each package (fbc.md §8.1, §8.2)."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from operator import attrgetter
from typing import Final

from shared.domain.authoring.writing.write_yaml import to_yaml
from shared.domain.catalog.config import Blob, Config
from shared.domain.go.encode import indented_json, ordered
from shared.domain.go.text import quoted


class Form(StrEnum):
    """How a catalog is written."""

    JSON = "json"
    YAML = "yaml"


class Unwritable(ValueError):
    """A catalog has documents that no file can hold."""


def encode(blob: Blob, form: Form) -> bytes:
    """One document of a stream."""
    return indented_json(blob) if form is Form.JSON else b"---\n" + to_yaml(blob).encode("utf-8", "replace")


def stream(config: Config, form: Form) -> Iterator[bytes]:
    """The documents, package by package. Unwritable when one that needs a package names none."""
    for _, blobs in _by_package(config):
        yield from (encode(blob, form) for blob in blobs)


def files(config: Config, form: Form) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The file of each package, and one for what belongs to none, as their documents. Unwritable for a bad name."""
    for package, blobs in _by_package(config):
        if not _is_local(package):
            raise Unwritable(f"invalid package name {quoted(package)}: must be a single local path element")
        yield f"{package}/catalog.{form}".lstrip("/"), (encode(blob, form) for blob in blobs)


def _by_package(config: Config) -> Iterator[tuple[str, list[Blob]]]:
    """The documents of each package by its name; those of none, which only other schemas may have, come last."""
    grouped: dict[str, Config] = {}
    for kind, key in _OWNERS.items():
        for blob in getattr(config, kind):
            owner = blob.get(key, "")
            if not owner:
                raise Unwritable(
                    f"{blob['schema']} {quoted(blob.get('name', ''))} names no package: no file can hold it"
                )
            getattr(grouped.setdefault(owner, Config()), kind).append(blob)
    for meta in config.others:
        grouped.setdefault(meta.package, Config()).others.append(meta)
    for package in sorted(grouped, key=lambda name: (not name, name)):
        yield package, _ordered(grouped[package], package)


def _ordered(config: Config, package: str) -> list[Blob]:
    others = [ordered(meta.fields) for meta in (sorted(config.others, key=_SCHEMA) if package else config.others)]
    channels, bundles = sorted(config.channels, key=_name), sorted(config.bundles, key=_name)
    return [*config.packages, *channels, *bundles, *others, *config.deprecations]


def _is_local(name: str) -> bool:
    """Whether a path stays below the folder in which it is written."""
    depth = 0
    for part in name.split("/"):
        depth += {"": 0, ".": 0, "..": -1}.get(part, 1)
        if depth < 0:
            return False
    return not name.startswith("/")


_OWNERS: Final = {"packages": "name", "channels": "package", "bundles": "package", "deprecations": "package"}
_SCHEMA: Final = attrgetter("schema")


def _name(blob: Blob) -> str:
    return str(blob.get("name", ""))
