"""Reads JSON values as structs of Go: known fields in their order, empty ones left out, other types refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from shared.api.manifest import Manifest
from shared.domain.go.text import fold
from shared.domain.go_types.typetables import Struct, Structs

Reader: TypeAlias = Callable[[Any], Any]  # why: any JSON value
Step: TypeAlias = tuple[str, str, str] | int | str
"""A step to a value: into a field (its struct, the key as it is stated, its name), a list (where), a map (the key)."""

_SCHEMA: Final = "JSONSchemaProps"
_UNIONS: Final[Mapping[str, Mapping[type, str]]] = {
    "s": {dict: _SCHEMA, bool: "b"}, "a": {dict: _SCHEMA, list: f"[{_SCHEMA}]"}, "d": {dict: _SCHEMA, list: "[]"},
}  # fmt: skip
_NEITHER: Final = "boolean or JSON schema expected"
_ZEROES: Final[Mapping[str, Any]] = {"": "", "b": False, "i": 0, "l": 0, "f": 0, "q": "0", "x": 0, "v": "0.0.0"}


class MisfitError(ValueError):
    """A value does not fit into the type of its field; the message is the one of the program that reads it."""

    def __init__(self, words: str | Callable[[str], str]) -> None:
        """`words` may be made of the place, which is known only to whoever reads the whole object."""
        super().__init__(words)
        self.words = words
        self.steps: list[Step] = []
        """The way to the value, its last step first."""
        self.schema: Any = None
        """The outermost schema beside another form (`a`, `d`, `s`) that the value is in."""


@dataclass(frozen=True, eq=False)
class Dialect:
    """How a program reads objects into structs, and in which words it refuses them."""

    structs: Structs
    scalars: Mapping[str, Reader]
    """The readers of single values, by type."""
    other: Callable[[Any, str], Any]
    """What is made of a value that is no list, map or object where its type, the second argument, is one."""
    keys: Callable[[Mapping[str, Any], Struct], Iterable[str]]
    """The keys of an object in the order in which they are read; the last that names a field counts."""
    folds: bool
    """Whether the names of fields are the same in upper and lower case; if not, `keys` are names as declared."""
    place: Callable[[Sequence[Step], str, str], str] = lambda _steps, _name, _path: ""
    """The place of a value in words: the way to it, the type and the path of the whole object."""
    nulls: frozenset[str] = frozenset()
    """Types with a reader of null; to the others, null is nothing that is stated."""
    unknown: str = ""
    """The type of fields that a struct does not know; they are left out when it is empty."""
    second: Dialect | None = None
    """Who refuses a schema beside another form (`a`, `d`, `s`) in its own words, when this one does."""

    def read(self, value: Any, name: str, path: str = "") -> Manifest:
        """An object (or nothing, for an empty one) as the type of that name; `path` leads to it. MisfitError."""
        try:
            found: Manifest = reader(self, name)({} if value is None else value)
        except MisfitError as misfit:
            if self.second is not None and misfit.schema is not None:
                self.second.read(misfit.schema, _SCHEMA)  # which refuses it, too, in its own words
            words = misfit.words
            raise MisfitError(
                words if isinstance(words, str) else words(self.place(misfit.steps, name, path))
            ) from misfit
        return found


@cache
def reader(dialect: Dialect, kind: str) -> Reader:
    """What reads values of a type; null is read by whoever asks."""
    if kind in dialect.scalars:
        return dialect.scalars[kind]
    if kind.startswith("*"):
        return reader(dialect, kind[1:])
    if kind in _UNIONS:
        return _union(dialect, kind)
    return {"[": _list, "{": _map}.get(kind[0], _struct)(dialect, kind)


def _list(dialect: Dialect, kind: str) -> Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, list):
            return dialect.other(value, kind)
        return list(_items(dialect, kind[1:-1], enumerate(value)).values())

    return read


def _map(dialect: Dialect, kind: str) -> Reader:
    def read(value: Any) -> Any:
        if value.__class__ is not dict and not isinstance(value, Mapping):
            return dialect.other(value, kind)
        return _items(dialect, kind[1:-1], [(key, value[key]) for key in sorted(value)])

    return read


def _items(dialect: Dialect, kind: str, items: Iterable[tuple[Step, Any]]) -> dict[Step, Any]:
    item, found = reader(dialect, kind), {}
    for step, one in items:
        try:
            found[step] = _zero(dialect, kind) if one is None else item(one)
        except MisfitError as misfit:
            misfit.steps.append(step)
            raise
    return found


def _union(dialect: Dialect, kind: str) -> Reader:
    def read(value: Any) -> Any:
        inner = _UNIONS[kind].get(type(value))
        if inner is None:
            if kind == "s":
                raise MisfitError(_NEITHER)
            return None
        try:
            found = reader(dialect, inner)(value)
        except MisfitError as misfit:
            if inner == _SCHEMA:
                misfit.schema = value
            raise
        return None if found == [] else found

    return read


def _struct(dialect: Dialect, name: str) -> Reader:
    struct, keys, nulls = dialect.structs[name], dialect.keys, dialect.nulls
    fields, folded = struct.fields, struct.folded if dialect.folds else {}
    is_more = bool(struct.kept or dialect.folds or dialect.unknown)
    readers: Mapping[str, Reader] = {}

    def read(value: Any) -> Any:
        nonlocal readers
        if value.__class__ is not dict and not isinstance(value, Mapping):
            return dialect.other(value, name)
        if not readers:  # when first asked for: types contain themselves, and another thread sees all of them or none
            readers = {field.type: reader(dialect, field.type) for field in fields.values()}
        present: Manifest = {}
        for key in keys(value, struct):
            if (field := fields.get(key) or folded.get(fold(key))) is None:
                continue
            if (one := value[key]) is None and field.type not in nulls:
                if not field.is_plain:
                    present.pop(field.name, None)
                continue
            try:
                found = readers[field.type](one)
            except MisfitError as misfit:
                misfit.steps.append((name, key, field.name))
                raise
            if found or field.is_lasting:
                present[field.name] = found
            else:
                present.pop(field.name, None)
        return _whole(dialect, struct, present, value) if is_more else present

    return read


def _whole(dialect: Dialect, struct: Struct, present: Manifest, value: Mapping[str, Any]) -> Manifest:
    """What is stated, and what is written in any case, in the order of the fields."""
    if absent := struct.kept - present.keys():
        present |= {name: _zero(dialect, struct.fields[name].type) for name in absent}
    if absent or dialect.folds:
        present = {name: present[name] for name in sorted(present, key=struct.order.__getitem__)}
    if dialect.unknown:
        item = reader(dialect, dialect.unknown)
        others = value.keys() - struct.fields.keys()
        present |= {key: item(value[key]) for key in sorted(others) if value[key] is not None}
    return present


def _zero(dialect: Dialect, kind: str) -> Any:
    """What is written for a value that nobody states."""
    return reader(dialect, kind)({}) if kind in dialect.structs else _ZEROES.get(kind)


def declared(value: Mapping[str, Any], struct: Struct) -> Iterable[str]:
    """The names of fields, in the order of their declaration."""
    return sorted(filter(struct.fields.__contains__, value), key=struct.order.__getitem__)


def exact_last(value: Mapping[str, Any], struct: Struct) -> Iterable[str]:
    """All keys in their order, the names of fields behind their other spellings."""
    return sorted(sorted(value), key=struct.fields.__contains__)
