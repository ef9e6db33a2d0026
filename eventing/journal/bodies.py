"""Bodies by content digest: each process stores a body once, and again after a while; threads share what it knows."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from eventing.journal.redact import Redactor, may_hold_secret
from shared.api.manifest import ReadOnly, metadata

MAX_BODY = 2 * 1024 * 1024
"""A longer body is named by its digest and not kept."""
Key = TypeVar("Key")
Value = TypeVar("Value")
_REMEMBERED = 20_000
_HELD = 64
_RENEWED_AFTER_MS = 30_000
_NEVER = -_RENEWED_AFTER_MS

encode = msgspec.json.Encoder(enc_hook=lambda value: dict(value)).encode
"""JSON of any answer: manifests, dataclasses, datetimes, durations."""


def _encoded(value: Any) -> bytes:
    try:
        return encode(value)
    except UnicodeEncodeError:  # half a surrogate pair, which a text of JSON can hold, and no UTF-8
        plain = msgspec.to_builtins(value, enc_hook=dict)
        return json.dumps(plain, ensure_ascii=False).encode(errors="replace")


class Bodies:
    """What this process stored lately; makes the bodies that one record must carry.

    A record names bodies by digest, and carries those that no record of this process carried in the last half minute:
    the stream is trimmed from its old end, so a body must come again before the record that brought it is gone. Threads
    share one: a bundle of 300 kB takes 65 ms to look at, and the steps of an install meet it in several threads.
    """

    def __init__(self, redactor: Redactor, now_ms: Callable[[], int]) -> None:
        self._redactor = redactor
        self._now_ms = now_ms
        self._stored: OrderedDict[str, int] = OrderedDict()
        self._versions: OrderedDict[tuple[str, str, int], str] = OrderedDict()
        self._values: OrderedDict[int, tuple[Any, str]] = OrderedDict()
        self._lock = threading.RLock()

    def raw(self, value: Any, *, is_secret: bool = False) -> bytes:
        """The JSON of a value, without Secret data."""
        try:
            text = _encoded(value)
        except RecursionError:  # nested so deeply that no API server would take it
            return encode(self._redactor.stand_in(value))
        with self._lock:
            if is_secret or may_hold_secret(text) or self._redactor.knows(text):
                return encode(self._redactor.clean(msgspec.json.decode(text), is_secret=is_secret))
        return text

    def keep(
        self, value: Any, fresh: dict[str, msgspec.Raw], *, is_secret: bool = False, is_answer: bool = False
    ) -> str:
        """The digest of a body, which is put into `fresh` when the record must carry it.

        `is_answer` says that a port gave it: then its resourceVersion names its content.
        """
        with self._lock:
            known = self._known(value) if is_answer else None
            if known and (known in fresh or self._is_stored(known)):
                return known
            text = self.raw(value, is_secret=is_secret)
            digest = hashlib.blake2b(text, digest_size=12).hexdigest()
            if is_answer:
                self._know(value, digest)
            if len(text) > MAX_BODY:
                _remember(self._stored, digest, self._now_ms())
            elif not self._is_stored(digest):
                fresh[digest] = msgspec.Raw(text)
            return digest

    def note_stored(self, digests: Iterable[str]) -> None:
        """A record is stored that carries these bodies: others need not for a while."""
        with self._lock:
            for digest in digests:
                _remember(self._stored, digest, self._now_ms())

    def forget(self) -> None:
        """Records may be lost, with what they carried."""
        with self._lock:
            self._stored.clear()

    def _is_stored(self, digest: str) -> bool:
        return self._now_ms() - self._stored.get(digest, _NEVER) < _RENEWED_AFTER_MS

    def _known(self, value: Any) -> str | None:
        if key := _version(value):
            return self._versions.get(key)
        same, digest = self._values.get(id(value), (None, ""))
        return digest if same is value else None

    def _know(self, value: Any, digest: str) -> None:
        if key := _version(value):
            _remember(self._versions, key, digest)
        elif hasattr(value, "__dataclass_fields__"):
            # why: frozen, so the very same value has the same content; held, so that no other gets its id
            _remember(self._values, id(value), (value, digest), most=_HELD)


def _version(value: Any) -> tuple[str, str, int] | None:
    """Names the content of an object that the API server stored, without looking at it."""
    if not isinstance(value, dict):
        return None
    meta: ReadOnly = metadata(value)
    uid, version = meta.get("uid"), meta.get("resourceVersion")
    # why: the size of the object tells a whole object from one that a reader has pruned
    return (uid, version, len(value)) if uid and version else None


def _remember(table: OrderedDict[Key, Value], key: Key, value: Value, *, most: int = _REMEMBERED) -> None:
    table[key] = value
    table.move_to_end(key)
    if len(table) > most:
        table.popitem(last=False)
