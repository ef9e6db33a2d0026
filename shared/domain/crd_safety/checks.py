"""What may not change between two schemas of one property: a table of checks, each with its sentence."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from shared.api.manifest import ReadOnly
from shared.domain.crd_safety.canonical import canonical, has_addresses, raw
from shared.domain.crd_safety.wording import worded
from shared.domain.go.float import plain_text
from shared.domain.go.text import quoted


class Finding(NamedTuple):
    """One reason why a change of a property is refused."""

    check: str
    message: str
    old: Any = None  # why: any JSON value
    new: Any = None  # why: any JSON value
    known: Hashable = ()
    """What else tells it from the same message about other schemas; None when nothing ever is the same."""
    place: tuple[str, str] = ("", "")
    """Version and path, of what the reference counts as a finding about the whole definition."""


Compare: TypeAlias = Callable[[str, Any, Any], Iterator[str]]


def compare(old: ReadOnly, new: ReadOnly) -> Iterator[Finding]:
    """What is wrong with the step from one schema to the other, their own properties and items aside."""
    before, after = _own(old), _own(new)
    if before == after and _LITERALS.isdisjoint(before):
        return  # most are as they were, and seen to be so quickly
    before, after = canonical(before), canonical(after)
    if before == after:
        return
    for key, check in CHECKS.items():
        was, will_be = old.get(key), new.get(key)
        yield from (Finding(key, message, was, will_be) for message in check(key, was, will_be))
    yield from _one_of(old.get("oneOf") or (), new.get("oneOf") or ())
    if changes := dict(_unhandled(before, after)):
        yield Finding("unhandled", f"unhandled changes found ({worded(changes)})", known=raw(changes))


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
        yield f"nullable {'added' if new else 'removed'} : {raw(bool(old))} -> {raw(bool(new))}"


def _one_of(old: Sequence[ReadOnly], new: Sequence[ReadOnly]) -> Iterator[Finding]:
    before, after = _alternatives(old, "old"), _alternatives(new, "new")
    removed, added = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
    if added and not before:
        message, branches = "oneOf constraint added when there was none previously", [after[key] for key in added]
    elif removed:
        message, branches = "allowed oneOf schemas removed", [before[key] for key in removed]
    elif added:
        message, branches = "allowed oneOf schemas added", [after[key] for key in added]
    else:
        return
    known = None if any(map(has_addresses, branches)) else ()
    yield Finding("oneOf", f"{message}: [{' '.join(map(raw, branches))}]", old, new, known)


def _alternatives(schemas: Sequence[ReadOnly], edition: str) -> dict[str, ReadOnly]:
    """Each by its text; what the reference tells by addresses is never the same in two editions."""
    bare = [{key: value for key, value in canonical(one).items() if key not in _REMARKS} for one in schemas]
    return {raw(one) + edition * has_addresses(one): one for one in bare}


CHECKS: Final[Mapping[str, Compare]] = {
    "required": _required,
    "type": _type,
    "default": _default,
    "enum": _enum,
    **dict.fromkeys(("maximum", "maxItems", "maxLength", "maxProperties"), _ceiling),
    **dict.fromkeys(("minimum", "minItems", "minLength", "minProperties"), _floor),
    "pattern": _pattern,
    "nullable": _nullable,
}
"""By keyword of the schema, which is also the name of the check."""
_CHILDREN: Final = frozenset({"properties", "items"})
"""They are compared by their own paths."""
_HANDLED: Final = frozenset({*CHECKS, "oneOf", "description"})
"""Descriptions bind nobody."""
_LITERALS: Final = frozenset({"default", "enum", "example"})
"""Where `1` and `true` are two things."""
_REMARKS: Final = frozenset({"description", "title", "example", "externalDocs"})
"""What does not tell one alternative from another."""


def _own(schema: ReadOnly) -> ReadOnly:
    return {key: value for key, value in schema.items() if key not in _CHILDREN}


def _unhandled(old: ReadOnly, new: ReadOnly) -> Iterator[tuple[str, list[Any]]]:
    """Every other difference; what nobody knows to be safe is refused."""
    for key in sorted({*old, *new} - _HANDLED):
        if old.get(key) != new.get(key):
            yield key, [old.get(key), new.get(key)]
