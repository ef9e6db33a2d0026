"""What may not change between two schemas of one property: a table of checks, each with its sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from shared.api.manifest import ReadOnly
from shared.domain.gotext import quoted


class Finding(NamedTuple):
    """One reason why a change of a property is refused."""

    check: str
    message: str
    old: Any = None  # why: any JSON value
    new: Any = None  # why: any JSON value
    known: Hashable = ()
    """What else tells it from the same message about other schemas; None when nothing ever is the same."""


Compare: TypeAlias = Callable[[str, Any, Any], Iterator[str]]


def compare(old: ReadOnly, new: ReadOnly) -> Iterator[Finding]:
    """What is wrong with the step from one schema to the other, their own properties and items aside."""
    for key, check in CHECKS.items():
        before, after = old.get(key), new.get(key)
        yield from (Finding(key, message, before, after) for message in check(key, before, after))
    yield from _one_of(old.get("oneOf") or (), new.get("oneOf") or ())
    if changes := dict(_unhandled(old, new)):
        told = "; ".join(f"{_field(key)} {_shown(*change)} -> {_shown(*change[::-1])}" for key, change in changes.items())
        yield Finding("unhandled", f"unhandled changes found ({told})", known=raw(changes))


def _required(_: str, old: Any, new: Any) -> Iterator[str]:
    if added := sorted(set(map(str, new or ())) - set(map(str, old or ()))):
        yield f"new required fields: [{' '.join(added)}]"


def _type(_: str, old: Any, new: Any) -> Iterator[str]:
    if (old or "") != (new or ""):
        yield f"type changed : {quoted(str(old or ''))} -> {quoted(str(new or ''))}"


def _default(_: str, old: Any, new: Any) -> Iterator[str]:
    before, after = quoted(raw(old)), quoted(raw(new))
    if old is None and new is not None:
        yield f"default added when there was none previously : {after}"
    elif old is not None and new is None:
        yield f"default value removed : {before}"
    elif before != after:
        yield f"default value changed : {before} -> {after}"


def _enum(_: str, old: Any, new: Any) -> Iterator[str]:
    before, after = set(map(raw, old or ())), set(map(raw, new or ()))
    if after and not before:
        yield f"enum constraint added when there was none previously : [{' '.join(sorted(after))}]"
    elif removed := sorted(before - after):
        yield f"allowed enum values removed : [{' '.join(removed)}]"


def _ceiling(key: str, old: Any, new: Any) -> Iterator[str]:
    if new is not None and old is None:
        yield f"maximum constraint added when there was none previously : {_number(key, new)}"
    elif new is not None and new < old:
        yield f"maximum decreased : {_number(key, old)} -> {_number(key, new)}"


def _floor(key: str, old: Any, new: Any) -> Iterator[str]:
    if new is not None and old is None:
        yield f"minimum constraint added when there was none previously : {_number(key, new)}"
    elif new is not None and new > old:
        yield f"minimum increased : {_number(key, old)} -> {_number(key, new)}"


def _number(key: str, value: Any) -> str:
    """Lengths are whole numbers, values need not be."""
    return plain_text(value) if key in ("maximum", "minimum") else str(int(value))


def _pattern(_: str, old: Any, new: Any) -> Iterator[str]:
    before, after = str(old or ""), str(new or "")
    if before != after:
        what = "changed" if before and after else "added" if after else "removed"
        yield f"pattern {what} : {quoted(before)} -> {quoted(after)}"


def _nullable(_: str, old: Any, new: Any) -> Iterator[str]:
    if bool(old) != bool(new):
        yield f"nullable {'added' if new else 'removed'} : {_json(bool(old))} -> {_json(bool(new))}"


def _one_of(old: Sequence[ReadOnly], new: Sequence[ReadOnly]) -> Iterator[Finding]:
    before, after = _alternatives(old), _alternatives(new)
    removed, added = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
    if added and not before:
        message, told = "oneOf constraint added when there was none previously", [after[key] for key in added]
    elif removed:
        message, told = "allowed oneOf schemas removed", [before[key] for key in removed]
    elif added:
        message, told = "allowed oneOf schemas added", [after[key] for key in added]
    else:
        return
    known = None if any(map(has_addresses, told)) else ()
    yield Finding("oneOf", f"{message}: [{' '.join(map(raw, told))}]", old, new, known)


def _alternatives(schemas: Sequence[ReadOnly]) -> dict[str, ReadOnly]:
    """Each by its text, which differs between any two schemas when it holds addresses (as in the reference)."""
    found = {}
    for schema in map(canonical, schemas):
        bare = {key: value for key, value in schema.items() if key not in _REMARKS}
        found[f"{raw(bare)} {id(bare) if has_addresses(bare) else ''}"] = bare
    return found


CHECKS: Final[Mapping[str, Compare]] = {
    "required": _required,
    "type": _type,
    "default": _default,
    "enum": _enum,
    **dict.fromkeys(("maximum", "maxItems", "maxLength", "maxProperties"), _ceiling),
    **dict.fromkeys(("minimum", "minItems", "minLength", "minProperties"), _floor),
    "pattern": _pattern,
    "nullable": _nullable,
    "oneOf": _one_of,
}
"""By keyword of the schema, which is also the name of the check."""
_ELSEWHERE: Final = frozenset({"properties", "items", "description"})
"""Properties and items are compared by their own paths; descriptions bind nobody."""
_NAMES: Final = {"id": "ID", "$schema": "Schema", "$ref": "Ref"}


def _unhandled(old: ReadOnly, new: ReadOnly) -> Iterator[str]:
    """Every other difference; what nobody knows to be safe is refused."""
    for key in sorted({*old, *new} - CHECKS.keys() - _ELSEWHERE, key=_field):
        before, after = old.get(key) or None, new.get(key) or None
        if before != after:
            empty = "" if isinstance(before or after, str) else None
            yield f"{_field(key)} {_shown(before or empty)} -> {_shown(after or empty)}"


def _field(key: str) -> str:
    """A keyword as Go's struct of schemas names it."""
    if key in _NAMES:
        return _NAMES[key]
    if key.startswith("x-kubernetes-"):
        return "X" + "".join(part.capitalize() for part in key.removeprefix("x-kubernetes-").split("-"))
    return key[:1].upper() + key[1:]


def _shown(value: Any) -> str:
    match value:
        case None:
            return "<empty>"
        case str():
            return quoted(value)
        case bool() | int() | float():
            return _json(value)
    return "<complex value>"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
