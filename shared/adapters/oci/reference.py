"""Names of images: `[host[:port]/]path[:tag][@digest]`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Final

from shared.adapters.oci.errors import OciError
from shared.domain.catalog.image_reference import ImageName, parsed, without_login

_DOCKER: Final = "docker.io"
_DOCKER_API: Final = "registry-1.docker.io"
_PORT: Final = re.compile(r":[0-9]+$")


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
    def location(self) -> str:
        """The name without tag and digest."""
        return f"{self.registry}/{self.repository}"

    @property
    def desired(self) -> str:
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
        match parsed(text.strip()):
            case ImageName(host, path, tag, digest) if host:
                return cls(host, path, tag or ("" if digest else "latest"), digest)
            case str(why):
                pass
            case _:
                why = "its first part is no host"
        desired = "wanted host/name:tag or host/name@sha256:…"
        raise OciError("Malformed", f"{without_login(text)!r} is not an image reference: {why}; {desired}")


def is_loopback(host: str) -> bool:
    """Whether `host[:port]` is this machine."""
    name = _PORT.sub("", host)
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return name == "localhost"
