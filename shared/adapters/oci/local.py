"""Names of images on this machine: `oci:DIR[:tag][@digest]` and `docker-archive:FILE[:tag][@digest]`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final, Self

from shared.adapters.oci.errors import OciError
from shared.adapters.oci.prefixes import ARCHIVE_PREFIX, LAYOUT_PREFIX
from shared.domain.catalog.image_reference import is_digest

_DIGEST: Final = re.compile(r"@(?=[a-z0-9]+:[^/]*$)")
"""Where a digest begins; other paths may have an `@`, too."""


@dataclass(frozen=True, slots=True)
class LocalName:
    """Which image of which folder or file; without tag and digest the only one."""

    prefix: ClassVar[str]

    path: Path
    tag: str = ""
    digest: str = ""

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return self.location + tag + (f"@{self.digest}" if self.digest else "")

    @property
    def location(self) -> str:
        """The name without tag and digest."""
        return f"{self.prefix}{self.path}"

    def at(self, digest: str) -> Self:
        """The same image by digest only."""
        return replace(self, tag="", digest=digest)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The name that a text states. OciError otherwise."""
        rest, *digest = _DIGEST.split(text.removeprefix(cls.prefix), maxsplit=1)
        path, _, tag = rest.partition(":")
        if not path or not all(map(is_digest, digest)):
            desired = f"{cls.prefix}PATH, {cls.prefix}PATH:tag or {cls.prefix}PATH@sha256:…"
            raise OciError("Malformed", f"{text!r} names no image: wanted {desired}")
        return cls(Path(path), tag, *digest)


class LayoutName(LocalName):
    """An image in a folder, an OCI image layout."""

    __slots__ = ()
    prefix = LAYOUT_PREFIX


class ArchiveName(LocalName):
    """An image in a file; its tag is as its maker wrote it, and its digest that of its configuration, Docker's id."""

    __slots__ = ()
    prefix = ARCHIVE_PREFIX


def local_name(text: str) -> LayoutName | ArchiveName | None:
    """The name of an image on this machine, or None when the text has neither prefix. OciError when it is wrong."""
    if text.startswith(LAYOUT_PREFIX):
        return LayoutName.parse(text)
    return ArchiveName.parse(text) if text.startswith(ARCHIVE_PREFIX) else None
