"""Names of images: `[host[:port]/]path[:tag][@digest]`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Final

from shared.adapters.oci.errors import OciError

_DOCKER: Final = "docker.io"
_DOCKER_API: Final = "registry-1.docker.io"
_HOST: Final = re.compile(r"(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(?::[0-9]+)?")
_PORT: Final = re.compile(r":[0-9]+$")
_PART: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_PATH: Final = re.compile(rf"{_PART}(?:/{_PART})*")
_TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")


@dataclass(frozen=True, slots=True)
class Reference:
    """Where an image is. At least one of tag and digest is set; the digest decides."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.registry}/{self.repository}{tag}" + (f"@{self.digest}" if self.digest else "")

    @property
    def place(self) -> str:
        """The name without tag and digest."""
        return f"{self.registry}/{self.repository}"

    @property
    def wanted(self) -> str:
        """What the registry is asked for."""
        return self.digest or self.tag

    @property
    def host(self) -> str:
        """Where the API of the registry is."""
        return _DOCKER_API if self.registry == _DOCKER else self.registry

    @property
    def is_loopback(self) -> bool:
        """A registry on this machine, which speaks plain HTTP."""
        return is_loopback(self.registry)

    def at(self, digest: str) -> Reference:
        """The same image by digest only."""
        return replace(self, tag="", digest=digest)

    @classmethod
    def parse(cls, text: str) -> Reference:
        """The reference that a text states; `latest` when it names neither tag nor digest. OciError otherwise."""
        rest, _, digest = text.strip().partition("@")
        head, slash, tail = rest.partition("/")
        has_host = bool(slash) and ("." in head or ":" in head or head == "localhost")
        registry, path = (head, tail) if has_host else (_DOCKER, rest)
        repository, _, tag = path.partition(":")
        if registry == _DOCKER and "/" not in repository:
            repository = f"library/{repository}"
        found = cls(registry, repository, tag or ("" if digest else "latest"), digest)
        if why := _wrong(found):
            raise OciError(
                "Malformed", f"{text!r} is not an image reference: {why}; wanted host/name:tag or host/name@sha256:…"
            )
        return found


def is_loopback(host: str) -> bool:
    """Whether `host[:port]` is this machine."""
    name = _PORT.sub("", host)
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return name == "localhost"


def is_digest(text: str) -> bool:
    """Whether a text is a digest of an algorithm that we verify."""
    return _DIGEST.fullmatch(text) is not None


def _wrong(reference: Reference) -> str:
    if not _HOST.fullmatch(reference.registry):
        return f"{reference.registry!r} is not a host"
    if reference.repository != reference.repository.lower():
        return "repository name must be lowercase"
    if not _PATH.fullmatch(reference.repository):
        return f"{reference.repository!r} is not a repository"
    if reference.tag and not _TAG.fullmatch(reference.tag):
        return f"{reference.tag!r} is not a tag"
    if reference.digest and not is_digest(reference.digest):
        return f"{reference.digest!r} is not a digest"
    return ""
