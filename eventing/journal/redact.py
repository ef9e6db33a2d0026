"""Secret data never reaches the journal: a keyed hash stands in for each value, equal for equal values."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any

_FIELDS = ("data", "stringData")
_INSIDE = ("items", "manifest", "patch")
"""Where a list, or a write, keeps objects that need not say that they are Secrets."""
_KIND = re.compile(rb'"Secret(?:List)?\\*"')
_STAND_IN = re.compile(r"redacted:[0-9a-f]{32}")
_SECRET_KINDS = ("Secret", "SecretList")


def may_hold_secret(text: bytes) -> bool:
    r"""Whether JSON text can hold a Secret: the kind stands in it, or a nested escape (`\\u…`) may hide it."""
    # why: most objects speak of Secrets somewhere; only the word alone, in quotes of any depth, can be a kind
    return (b'"Secret' in text and bool(_KIND.search(text))) or rb"\\u" in text


class Redactor:
    """Replaces the data of Secrets, also inside lists and inside JSON kept as text (last-applied, plan steps)."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def clean(self, value: Any, *, is_secret: bool = False) -> Any:
        """A copy without Secret data; `is_secret` says so of an object (or a patch, or a list) that does not itself."""
        match value:
            case dict():
                return self._object(value, is_secret=is_secret or value.get("kind") in _SECRET_KINDS)
            case list() | tuple():
                return [self.clean(item, is_secret=is_secret) for item in value]
            case str():
                return self._text(value, is_secret=is_secret)
        return value

    def stand_in(self, value: Any) -> str:
        """What is stored instead of a value; a stand-in stands for itself, so that a replay finds it unchanged."""
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        if _STAND_IN.fullmatch(text):
            return text
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16)
        return f"redacted:{digest.hexdigest()}"

    def _object(self, value: dict[str, Any], *, is_secret: bool) -> dict[str, Any]:
        cleaned = {key: self.clean(item, is_secret=is_secret and key in _INSIDE) for key, item in value.items()}
        if not is_secret:
            return cleaned
        annotations = (value.get("metadata") or {}).get("annotations") or {}
        if annotations:
            kept = {key: self._text(text, is_secret=True) for key, text in annotations.items()}
            cleaned["metadata"] = {**cleaned["metadata"], "annotations": kept}
        return {**cleaned, **{field: self._values(field, value[field]) for field in _FIELDS if field in value}}

    def _values(self, field: str, values: Any) -> Any:
        if not isinstance(values, dict):
            return None if values is None else self._stored(field, values)
        return {key: None if value is None else self._stored(field, value) for key, value in values.items()}

    def _stored(self, field: str, value: Any) -> str:
        """In `data` the stand-in is base64, so that a replayed step can decode it."""
        if field != "data":
            return self.stand_in(value)
        return base64.b64encode(self.stand_in(_decoded(value)).encode()).decode()

    def _text(self, text: Any, *, is_secret: bool) -> Any:
        if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")):
            return text
        if not is_secret and not may_hold_secret(json.dumps(text).encode()):
            return text
        try:
            inner = json.loads(text)
        except ValueError:
            return self.stand_in(text) if is_secret else text
        cleaned = self.clean(inner, is_secret=is_secret)
        return text if cleaned == inner else json.dumps(cleaned, separators=(",", ":"))


def _decoded(value: Any) -> Any:
    """A stand-in that was stored in `data`, as text again; any other value as it is."""
    try:
        text = base64.b64decode(value, validate=True).decode()
    except (ValueError, TypeError):
        return value
    return text if _STAND_IN.fullmatch(text) else value
