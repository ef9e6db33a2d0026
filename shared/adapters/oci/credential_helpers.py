"""Programs that keep logins for Docker and Podman: `docker-credential-<name> get`."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import orjson

from shared.adapters.oci.errors import OciError

_SECONDS: Final = 30
_DOCKER: Final = "docker.io"
_DOCKER_KEY: Final = "https://index.docker.io/v1/"
_NOT_FOUND: Final = "credentials not found"


@dataclass(frozen=True, slots=True)
class Helpers:
    """Which program is asked for which registry."""

    by_registry: Mapping[str, str] = field(default_factory=dict)
    store: str = ""
    """Asked for all other registries."""

    def ask(self, registry: str) -> tuple[str, str] | None:
        """User name and password, or None when the program knows none. OciError when it cannot be asked."""
        name = self.by_registry.get(registry) or self.store
        if not name:
            return None
        program = f"docker-credential-{name}"
        key = _DOCKER_KEY if registry == _DOCKER else registry
        try:
            run = subprocess.run(
                [program, "get"], input=key, capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            what = f"{program}, which keeps the login for {registry}, cannot be asked: {error}"
            raise OciError("Unauthorized", f"{what}; install it, or take it out of config.json") from error
        if run.returncode:
            if _NOT_FOUND in (run.stdout + run.stderr).lower():
                return None
            why = (run.stderr or run.stdout).strip().splitlines()[:1]
            raise OciError("Unauthorized", f"{program} has no login for {registry}: {''.join(why)}; log in again")
        return _read(program, run.stdout)


def _read(program: str, answer: str) -> tuple[str, str]:
    try:
        found = orjson.loads(answer)
        return str(found["Username"]), str(found["Secret"])
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise OciError("Unauthorized", f"{program} answered with something that is no login; update it") from error
