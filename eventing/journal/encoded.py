"""Text inside text: JSON, YAML, base64 and gzip in any order, as bundles and plans keep manifests."""

from __future__ import annotations

import base64
import binascii
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import yaml

LARGEST = 16 * 1024 * 1024
"""Bytes that all compressed text of one value may have together; manifests in a ConfigMap have far fewer."""
LARGEST_YAML = 512 * 1024
"""Letters of all YAML of one value that are parsed, which takes a second or two; the largest manifests have half."""
DEEPEST_YAML = 100
"""How deep YAML may be nested: libyaml looks at each open bracket for each word."""
_MAGIC = b"\x1f\x8b"
BASE64 = re.compile(r"[A-Za-z0-9+/\s]{16,}+={0,2}\s*+")
"""Possessive: blanks may be of the letters or of the end, and to try each division of them takes quadratic time."""
_YAML_SECRET = re.compile(r"""\bkind["']?\s*:\s*["']?Secret(?:List)?\b""")
_YAML_DATA = re.compile(r"""\b(?:data|stringData)["']?\s*:""")
"""Many a ClusterServiceVersion names the kind Secret, and takes long to parse."""


class Unreadable(ValueError):
    """Text that may hold a Secret, and is not looked into: it cannot be parsed, or that would take too long."""


@dataclass(slots=True)
class Allowance:
    """How much may still be opened of one value, in whatever texts."""

    yaml: int = LARGEST_YAML
    unzipped: int = LARGEST

    def take_yaml(self, letters: int) -> None:
        """Count a text that is to be parsed. Unreadable when it may not be, which uses up nothing."""
        if letters > self.yaml:
            raise Unreadable(f"YAML of more than {LARGEST_YAML} letters")
        self.yaml -= letters

    def unzip(self, data: bytes) -> bytes:
        """The content of compressed data. Unreadable when it is more than is left, which uses up all."""
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            found = stream.read(self.unzipped + 1)
        left, self.unzipped = self.unzipped, max(self.unzipped - len(found), 0)
        if len(found) > left:
            raise Unreadable(f"compressed text of more than {LARGEST} bytes")
        return found


@dataclass(frozen=True, slots=True)
class Layer:
    """What was inside, and how to close it again."""

    inner: Any
    """A JSON value, the list of YAML documents, or a text."""
    close: Callable[[Any], str]


def opened(text: str, allowance: Allowance) -> Layer | None:
    """The outermost layer of a text; None when it is plain. Unreadable."""
    if text.lstrip().startswith(("{", "[")):
        try:
            return Layer(json.loads(text), lambda value: json.dumps(value, separators=(",", ":")))
        except (ValueError, RecursionError):
            pass
    if _YAML_SECRET.search(text) and _YAML_DATA.search(text):
        allowance.take_yaml(len(text))
        return _yaml(text)
    return _base64(text, allowance) if BASE64.fullmatch(text) else None


def _yaml(text: str) -> Layer | None:
    """None when it is a sentence, or comments."""
    try:
        _check_growth(text)
        documents = [each for each in yaml.load_all(text, Loader=_LOADER) if each is not None]
    except MemoryError:
        raise
    except Exception as error:  # why: PyYAML raises whatever a value makes Python raise, e.g. KeyError for `!!bool foo`
        raise Unreadable("text that looks like a Secret in YAML, and cannot be parsed") from error
    if documents == [text.strip()] or not any(isinstance(each, dict | list | str) for each in documents):
        return None
    # why: JSON is YAML, so that whoever parses the text finds the same values
    return Layer(documents, lambda values: "\n---\n".join(json.dumps(value, default=str) for value in values))


def _check_growth(text: str) -> None:
    """Unreadable when YAML is nested too deeply, or its aliases stand for more values than it has letters."""
    sizes: dict[str, int] = {}
    opened_at: list[tuple[str | None, int]] = []
    values = 0
    for event in yaml.parse(text, Loader=_LOADER):
        match event:
            case yaml.AliasEvent():
                values += sizes.get(event.anchor or "", 1)
            case yaml.CollectionStartEvent():
                opened_at.append((event.anchor, values))
                values += 1
            case yaml.CollectionEndEvent():
                anchor, before = opened_at.pop()
                sizes |= {anchor: values - before} if anchor else {}
        if len(opened_at) > DEEPEST_YAML or values > len(text):
            raise Unreadable(f"YAML that is nested deeper than {DEEPEST_YAML}, or that its aliases make grow")


def _base64(text: str, allowance: Allowance) -> Layer | None:
    try:
        data = base64.b64decode(text.encode(), validate=not any(map(str.isspace, text)))
    except (binascii.Error, ValueError):
        return None
    is_zipped = data.startswith(_MAGIC)
    if is_zipped:
        try:
            data = allowance.unzip(data)
        except (OSError, EOFError, zlib.error):
            return None
    try:
        inner = data.decode()
    except UnicodeDecodeError:
        return None
    return Layer(inner, lambda value: _sealed(value.encode(), is_zipped=is_zipped))


def _sealed(data: bytes, *, is_zipped: bool) -> str:
    return base64.b64encode(gzip.compress(data, mtime=0) if is_zipped else data).decode()


def _alignments(phrase: bytes) -> Iterator[bytes]:
    """What base64 makes of a phrase, wherever it begins: the letters (of 6 bits) that its neighbours do not change."""
    for before in range(3):
        bits = 8 * before
        yield base64.b64encode(b"\0" * before + phrase)[-(-bits // 6) : (bits + 8 * len(phrase)) // 6]


_ONCE = frozenset(_alignments(b"Secret"))
_ZIPPED = base64.b64encode(_MAGIC + b"\x08")
_TWICE = frozenset(each for phrase in _ONCE for each in _alignments(phrase))
MARKS = tuple(
    sorted(
        {
            *_ONCE,
            *_TWICE,
            _ZIPPED,
            *_alignments(_ZIPPED),
        }
    )
)
"""Parts of JSON text without which nothing in it is a Secret in base64, once or twice, or compressed and in base64."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # why: the fast one, where it is
    """Timestamps and numbers in base 60 stay text, and keys become text, as in JSON.

    why: a long number in base 60 takes quadratic time, and Go has none; keys of several types cannot be sorted.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
        self.flatten_mapping(node)
        return {self._text(key): self.construct_object(value, deep=deep) for key, value in node.value}

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int | str:
        return str(node.value) if ":" in node.value else super().construct_yaml_int(node)

    def _text(self, key: yaml.Node) -> str:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(None, None, "a key that is no scalar", key.start_mark)
        value = self.construct_object(key)
        return value if isinstance(value, str) else json.dumps(value, default=str)


_Loader.yaml_implicit_resolvers = {
    key: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
    for key, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_LOADER = _Loader
