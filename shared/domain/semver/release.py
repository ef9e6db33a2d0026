"""Releases: re-builds of one version, and older rules that read them from build metadata (fbc.md §5.2, §5.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from shared.domain.go.text import quoted
from shared.domain.semver.version import Identifier, InvalidVersion, Version, parse_version, prerelease_of

LONGEST_RELEASE: Final = 20
"""Characters of a release."""


class InvalidRelease(ValueError):
    """A text is not a release; one line for each segment that is wrong."""


@dataclass(frozen=True, slots=True, order=True)
class Release:
    """Which re-build of a version a bundle is; no release is lower than any."""

    identifiers: tuple[Identifier, ...] = ()
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.text


NO_RELEASE: Final = Release()


@dataclass(frozen=True, slots=True, order=True)
class VersionRelease:
    """What a bundle is ordered by: its version, then its release."""

    version: Version
    release: Release = NO_RELEASE


def parse_release(text: str) -> Release:
    """The release that a text states; the empty text states none. InvalidRelease otherwise."""
    if not text:
        return NO_RELEASE
    if len(text.encode(errors="surrogatepass")) > LONGEST_RELEASE:
        raise InvalidRelease(f"invalid release {quoted(text)}: exceeds maximum length of {LONGEST_RELEASE} characters")
    identifiers: list[Identifier] = []
    problems: list[str] = []
    for number, segment in enumerate(text.split(".")):
        try:
            identifiers += prerelease_of(segment)
        except InvalidVersion as error:
            problems.append(f"segment {number}: {error}")
    if problems:
        raise InvalidRelease(f"invalid release {quoted(text)}: " + "\n".join(problems))
    return Release(tuple(identifiers), text)


def with_build_as_release(version: Version) -> VersionRelease:
    """The older form `1.0.0+2`, where the build metadata is the release. InvalidRelease when it is none."""
    release = parse_release(version.build)
    return VersionRelease(parse_version(str(version).partition("+")[0]), release)


def build_key(version: Version) -> tuple[Version, tuple[Identifier, ...]]:
    """A key that sorts equal versions by build metadata as if it were a prerelease; none is lowest.

    InvalidVersion when the build metadata is no prerelease, e.g. `1.0.0+001`.
    """
    return version, prerelease_of(version.build) if version.build else ()
