"""Registries that were slow or dead a moment ago: who asked them in vain does not wait for them again at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from shared.adapters.oci.errors import SLOW_SECONDS

_MOST: Final = 1000
"""Hosts that are remembered; beyond it the oldest is forgotten."""


@dataclass(slots=True)
class SlowHosts:
    """By namespace and host: what one namespace finds slow is no news about the images of another one."""

    seconds: int = SLOW_SECONDS
    """How long a host is remembered."""
    clock: Callable[[], float] = time.monotonic
    _known: dict[tuple[str, str], tuple[float, str]] = field(default_factory=dict)

    def why(self, namespace: str, host: str) -> str:
        """Why a host is not asked now; empty when it may be."""
        until, why = self._known.get((namespace, host), (0.0, ""))
        if until <= self.clock():
            self._known.pop((namespace, host), None)
            return ""
        return f"{why}; the host is asked again after {self.seconds} s"

    def add(self, namespace: str, host: str, why: str) -> None:
        """Remember a host for a while."""
        self._known.pop((namespace, host), None)
        if len(self._known) >= _MOST:
            del self._known[next(iter(self._known))]
        self._known[(namespace, host)] = (self.clock() + self.seconds, why)
