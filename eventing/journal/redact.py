"""Secret data never reaches the journal: a keyed hash stands in for each value, equal for equal values.

Secret are: what Secrets hold, also in JSON or YAML text, in gzip, and in base64 once or twice (`encoded`); the
environment that a Subscription gives its operator, and any variable whose name says so; passwords in URLs.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from eventing.journal.encoded import MARKS, Allowance, Unreadable, opened
from shared.names import V1_OBJECT_DATA

_FIELDS = ("data", "stringData")
_INSIDE = ("items", "manifest", "patch")
"""Where a list, or a write, keeps objects that need not say that they are Secrets."""
_SECRET_KINDS = ("Secret", "SecretList")
_SUBSCRIPTION = "Subscription"
_PACKED = "binaryData"
"""Where a ConfigMap keeps the files of a bundle."""
_LEARNED = 200
_DEEPEST = 8
"""Layers of text inside text that are opened; what is deeper is replaced as a whole."""
_TELLING = r"(?i:passw|secret|token|credential|api_?key|private_?key|access_?key)"
_KIND = re.compile(rb"kind\\*[\"']?\s*:\s*\\*[\"']?Secret|\"Secret(?:List)?\\*\"")
_LONGEST = 256
"""Bytes of a variable's name that are looked at; a longer one counts as telling."""
_NAMES = re.compile(rb'"name\\{0,64}"\s{0,64}:\s{0,64}\\{0,64}"([^"]{0,%d})' % _LONGEST)
_NAME = re.compile(_TELLING)
_NAME_BYTES = re.compile(_TELLING.encode())
_URL = re.compile(r"(://[^/\s:@\"'<>\\]*:)([^/\s@\"'<>\\]+)(?=@)")
_URL_BYTES = re.compile(rb"://[^/\s:@]*:[^/\s@]+@")
"""Finds what `_URL` finds in the JSON of a text, and more: there, control characters are spelled."""
_PACKED_LAYERS = 2
"""Base64, with gzip where the object is large, and JSON."""
STAND_IN = re.compile(r"redacted:[0-9a-f]{32}")


def may_hold_secret(text: bytes) -> bool:
    r"""Whether JSON text can hold something secret; a nested escape (`\\u…`) may hide a kind.

    why: most objects speak of Secrets somewhere, and to look at each value of each object would take long.
    """
    return (
        (b"Secret" in text and bool(_KIND.search(text)))
        or rb"\\u" in text
        or b'"binaryData"' in text
        or (b'"Subscription' in text and b'"env' in text)
        or (b'"value' in text and _names_secret(text))
        or (b"@" in text and bool(_URL_BYTES.search(text)))
        or any(mark in text for mark in MARKS)
    )


def _names_secret(text: bytes) -> bool:
    """Whether JSON text names a variable whose value is secret. Takes linear time, whatever somebody wrote."""
    names = (found[1] for found in _NAMES.finditer(text))
    return any(len(name) == _LONGEST or _NAME_BYTES.search(name) for name in names)


@dataclass(frozen=True, slots=True)
class _Inside:
    """Where in a value a text is."""

    layers: int = 0
    """How many texts are around it."""
    allowance: Allowance = field(default_factory=Allowance)

    def deeper(self) -> _Inside:
        return replace(self, layers=self.layers + 1)


class Redactor:
    """Replaces what is secret, also inside lists and inside text that holds manifests."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._learned_variables: OrderedDict[tuple[str, str], tuple[bytes, bytes]] = OrderedDict()
        """Variables that Subscriptions gave, which are then in Deployments, too; names and values, also as JSON."""

    def knows(self, text: bytes) -> bool:
        """Whether JSON text holds what a Subscription gave to an environment."""
        return any(value in text and name in text for name, value in self._learned_variables.values())

    def clean(self, value: Any, *, is_secret: bool = False) -> Any:
        """A copy without Secret data; `is_secret` says so of an object (or a patch, or a list) that does not itself.

        What cannot be looked at, e.g. because it is nested too deeply, is replaced as a whole: a step that has written
        is recorded, whatever somebody else's object holds.
        """
        try:
            return self._value(value, is_secret, _Inside())
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001  # why: see above
            return self.stand_in(value)

    def stand_in(self, value: Any) -> str:
        """What is stored instead of a value; a stand-in stands for itself, so that a replay finds it unchanged."""
        text = value if isinstance(value, str) else _as_text(value)
        if STAND_IN.fullmatch(text):
            return text
        return word(text, self._key)

    def _value(self, value: Any, is_secret: bool, inside: _Inside) -> Any:
        match value:
            case dict() | list() | tuple() if not is_secret and self._is_plain(value):
                return value
            case dict():
                return self._object(value, is_secret or value.get("kind") in _SECRET_KINDS, inside)
            case list() | tuple():
                return [self._value(item, is_secret, inside) for item in value]
            case str():
                return self._text(value, is_secret, inside)
        return value

    def _is_plain(self, value: Any) -> bool:
        """Whether nothing in a part of an object can be secret, so that its parts need not be looked at one by one."""
        try:
            text = msgspec.json.encode(value)
        except (TypeError, ValueError, OverflowError):  # text inside text may hold what JSON has no word for
            return False
        return not (b'"value' in text or may_hold_secret(text) or self.knows(text))

    def _object(self, value: dict[str, Any], is_secret: bool, inside: _Inside) -> dict[str, Any]:
        cleaned = {
            key: self._files(item, inside)
            if key == _PACKED
            else self._value(item, is_secret and key in _INSIDE, inside)
            for key, item in value.items()
        }
        if _is_variable(value) and (
            _NAME.search(value["name"]) or (value["name"], value["value"]) in self._learned_variables
        ):
            cleaned["value"] = self.stand_in(value["value"])
        if value.get("kind") == _SUBSCRIPTION:
            cleaned = self._without_environment(cleaned)
        if not is_secret:
            return cleaned
        if value.get("type") == V1_OBJECT_DATA:
            return {
                **cleaned,
                **{field: self._objects(field, value[field], inside) for field in _FIELDS if field in value},
            }
        meta = value.get("metadata")
        annotations = (meta.get("annotations") if isinstance(meta, dict) else None) or {}
        if annotations and isinstance(annotations, dict):
            kept = {key: self._text(text, True, inside) for key, text in annotations.items()}
            cleaned["metadata"] = {**cleaned["metadata"], "annotations": kept}
        return {**cleaned, **{field: self._values(field, value[field]) for field in _FIELDS if field in value}}

    def _files(self, packed: Any, inside: _Inside) -> Any:
        if not isinstance(packed, dict):
            return self._value(packed, False, inside)
        return {key: self._text(text, False, inside, looks=True) for key, text in packed.items()}

    def _objects(self, field: str, values: Any, inside: _Inside) -> Any:
        """The objects of a revision, each without what is secret in it; whatever else its Secrets hold is secret."""
        if not isinstance(values, dict):
            return None if values is None else self._stored(field, values)
        return {
            key: self._text(text, False, inside, looks=True) if _is_object(text) else self._stored(field, text)
            for key, text in values.items()
        }

    def _without_environment(self, subscription: dict[str, Any]) -> dict[str, Any]:
        """Without what the config of a Subscription gives to the environment of its operator."""
        match subscription:
            case {"spec": {"config": {"env": [*variables], **config}, **spec}}:
                env = [self._learned(one) for one in variables]
                return {**subscription, "spec": {**spec, "config": {**config, "env": env}}}
        return subscription

    def _learned(self, one: Any) -> Any:
        """A variable of a Subscription without its value, which is known from now on."""
        if not isinstance(one, dict) or not one.get("value"):
            return one
        self._learn(str(one.get("name")), str(one["value"]))
        return {**one, "value": self.stand_in(one["value"])}

    def _learn(self, name: str, value: str) -> None:
        if not STAND_IN.fullmatch(value):
            self._learned_variables[name, value] = _json(name), _json(value)
            self._learned_variables.move_to_end((name, value))
            if len(self._learned_variables) > _LEARNED:
                self._learned_variables.popitem(last=False)

    def _values(self, field: str, values: Any) -> Any:
        if not isinstance(values, dict):
            return None if values is None else self._stored(field, values)
        return {key: None if value is None else self._stored(field, value) for key, value in values.items()}

    def _stored(self, field: str, value: Any) -> str:
        """In `data` the stand-in is base64, so that a replayed step can decode it."""
        if field != "data":
            return self.stand_in(value)
        return base64.b64encode(self.stand_in(_decoded(value)).encode()).decode()

    def _text(self, text: Any, is_secret: bool, inside: _Inside, *, looks: bool = False) -> Any:
        """`looks`: inside, whatever it looks like from outside."""
        if not isinstance(text, str):
            return text
        text = _URL.sub(lambda found: found[1] + self.stand_in(found[2]), text)
        if not is_secret and not looks and not may_hold_secret(json.dumps(text).encode()):
            return text
        try:
            layer = opened(text, inside.allowance)
            if layer is None:
                return self.stand_in(text) if is_secret and text.lstrip().startswith(("{", "[")) else text
            if inside.layers == _DEEPEST:
                return self.stand_in(text)
            cleaned = self._value(layer.inner, is_secret, inside.deeper())
            return text if cleaned == layer.inner else layer.close(cleaned)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001  # why: whoever wrote the text chose what is raised; it stops no step
            return self.stand_in(text)


def _json(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")


def word(text: str, key: bytes) -> str:
    """What stands in for a text under a key."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=16)
    return f"redacted:{digest.hexdigest()}"


def _as_text(value: Any) -> str:
    """Equal for equal values; those that JSON has no word for are all the same."""
    try:
        return json.dumps(value, sort_keys=True, default=str)
    except (TypeError, ValueError, RecursionError):
        return f"({type(value).__name__})"


def _is_variable(value: dict[str, Any]) -> bool:
    """Whether this is an environment variable that has a value."""
    name, text = value.get("name"), value.get("value")
    return isinstance(name, str) and isinstance(text, str) and bool(text)


def _decoded(value: Any) -> Any:
    """A stand-in that was stored in `data`, as text again; any other value as it is."""
    try:
        text = base64.b64decode(value, validate=True).decode()
    except (ValueError, TypeError):
        return value
    return text if STAND_IN.fullmatch(text) else value


def _is_object(text: Any) -> bool:
    """Whether a value of a Secret is a manifest, compressed or not."""
    inner = text
    for _ in range(_PACKED_LAYERS):
        if not isinstance(inner, str):
            break
        try:
            layer = opened(inner, Allowance())
        except (Unreadable, RecursionError):
            return False
        if layer is None:
            return False
        inner = layer.inner
    return isinstance(inner, dict) and isinstance(inner.get("kind"), str) and isinstance(inner.get("apiVersion"), str)
