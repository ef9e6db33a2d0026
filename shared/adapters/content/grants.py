"""Who may be served what is in the store: only who could pull it. The registry is asked, and its answer remembered.

Content in a store is found by its digest, which is no secret. Before a catalog is served from it, the registry that its
reference names is asked with the logins of that CatalogSource: once for the manifest itself, which a registry can only
show when it has it, later by HEAD. An answer counts for `FRESH_SECONDS`. When the registry is away, the last answer
counts for `AWAY_SECONDS`, so that an outage does not stop the catalogs that are installed.
"""

from __future__ import annotations

import hmac
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from shared.adapters.content.store import GRANT
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.registry import Registry
from shared.adapters.whole_file import write_whole

FRESH_SECONDS: Final = 3600.0
"""How long an answer of a registry counts without asking again."""
AWAY_SECONDS: Final = 7 * 86400.0
"""How long it counts while the registry does not answer."""
_PAUSE_SECONDS: Final = 60.0
"""How soon a registry that was away is asked again."""
_MOST: Final = 10_000
"""Answers that are remembered; beyond it the oldest are forgotten, and asked for again."""
_SALT_BYTES: Final = 32
_AWAY: Final = ("DNS", "TLS", "Unreachable", "TimedOut")
_NEVER: Final = float("-inf")


class Grants:
    """A bounded table of empty files, by a keyed hash; the time of a file is that of the answer.

    Where the folder cannot be written, answers are remembered by this process only.
    """

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time, most: int = _MOST) -> None:
        self._folder = folder
        self._most = most
        self._clock = clock
        self._salt = b""
        self._own: dict[str, float] = {}

    def check(self, registry: Registry, reference: Reference) -> float:
        """Until when who has these logins may be served this image. OciError when not, or not known."""
        who = self._key("login", reference.location, reference.digest, registry.credentials.identity())
        where = self._key("place", reference.location, reference.digest)
        now, granted = self._clock(), self._granted(who)
        if 0 <= now - granted < FRESH_SECONDS:
            return granted + FRESH_SECONDS
        try:
            if self._granted(where) > _NEVER:
                registry.confirm(reference)
            else:
                registry.manifest(reference)
        except OciError as error:
            if _is_away(error) and 0 <= now - granted < AWAY_SECONDS:
                return min(now + _PAUSE_SECONDS, granted + AWAY_SECONDS)
            self._forget(who, is_gone=not _is_away(error))
            raise
        self._note(where, now)
        self._note(who, now)
        return now + FRESH_SECONDS

    def answered(self, server: str, digest: str) -> None:
        """Note that a server of the registry API has just answered with this content."""
        self._note(self._key("server", server, digest), self._clock())

    def has_answered(self, server: str, digest: str) -> bool:
        """Whether a server answered so a while ago, or earlier while it was away."""
        return 0 <= self._clock() - self._granted(self._key("server", server, digest)) < AWAY_SECONDS

    def _granted(self, key: str) -> float:
        with suppress(OSError):
            return max((self._folder / key).stat().st_mtime, self._own.get(key, _NEVER))
        return self._own.get(key, _NEVER)

    def _note(self, key: str, now: float) -> None:
        if len(self._own) >= self._most:
            self._own.clear()
        self._own[key] = now
        with suppress(OSError):  # the folder is part of an image, or full: this process remembers it
            path = self._folder / key
            if not path.exists():
                self._make_room()
            path.touch()
            os.utime(path, (now, now))

    def _forget(self, key: str, *, is_gone: bool) -> None:
        if is_gone:
            self._own.pop(key, None)
            with suppress(OSError):
                (self._folder / key).unlink()

    def _make_room(self) -> None:
        kept = [path for path in self._folder.glob(f"{GRANT}*") if path.name != _SALT]
        for path in sorted(kept, key=_time_of)[: max(len(kept) - self._most + 1, 0)]:
            path.unlink(missing_ok=True)

    def _key(self, *parts: str) -> str:
        """A name that tells nothing of a login, also not to who guesses it."""
        text = repr(parts).encode()
        return GRANT + hmac.new(self._salted(), text, "sha256").hexdigest()

    def _salted(self) -> bytes:
        """A random key, the same for all processes of this store."""
        path = self._folder / _SALT
        with suppress(OSError):
            self._salt = path.read_bytes()
        if len(self._salt) != _SALT_BYTES:
            self._salt = secrets.token_bytes(_SALT_BYTES)
            with suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True)
                write_whole(path, [self._salt], mode=0o600)
                self._salt = path.read_bytes()  # another process may have been faster
        return self._salt


_SALT: Final = f"{GRANT}salt"


def _is_away(error: OciError) -> bool:
    """Whether the registry said nothing; of several places, the last one is that in the name of the image."""
    cause = error.__cause__ if error.reason == "MirrorMiss" else error
    return isinstance(cause, OciError) and cause.reason in _AWAY


def _time_of(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0
