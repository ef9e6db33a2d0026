"""Private keys that were made and not stored yet, by handle."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Final

_MOST: Final = 1024
"""More than all runs of a worker make at once (`MOST_ENDPOINTS` each); others are of runs that failed."""


class Keyring:
    """Keeps private keys in memory until effects have stored them; safe to share among threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._keys: OrderedDict[str, bytes] = OrderedDict()

    def keep(self, handle: str, private: bytes) -> None:
        """Keep a private key, PEM."""
        with self._lock:
            self._keys[handle] = private
            while len(self._keys) > _MOST:
                self._keys.popitem(last=False)

    def private(self, handle: str) -> bytes | None:
        """The private key with that handle, PEM; None when it was made elsewhere."""
        with self._lock:
            return self._keys.get(handle)

    def forget(self, handles: Iterable[str]) -> None:
        """Drop the private keys with those handles: they are stored."""
        with self._lock:
            for handle in handles:
                self._keys.pop(handle, None)
