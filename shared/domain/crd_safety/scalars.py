"""Texts and numbers against a schema, as the API server compares them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from shared.api.manifest import ReadOnly
from shared.domain.crd_safety.defects import Defect, invalid, number, too_long, wrong_type
from shared.domain.crd_safety.formats import FORMATS
from shared.domain.go.regexp import matches

_LARGEST_EXACT: Final = 2**53
_BITS: Final = {"int32": 31, "": 63, "int64": 63}


def text_defects(value: str, schema: ReadOnly, path: str, form: str) -> Iterator[Defect]:
    """The first of length and pattern that is broken, and the format."""
    most, least, pattern = map(schema.get, ("maxLength", "minLength", "pattern"))
    if most is not None and len(value) > most:
        yield too_long(path, value, int(most))
    elif least is not None and len(value) < least:
        yield invalid(path, f"{path} in body should be at least {int(least)} chars long", value)
    elif pattern and matches(pattern, value) is False:  # one that is not valid refuses nothing
        yield invalid(path, f"{path} in body should match '{pattern}'", value)
    if form in FORMATS and not FORMATS[form](value):
        yield wrong_type(path, form, value)


def number_defects(value: float, schema: ReadOnly, path: str, form: str) -> Iterator[Defect]:
    """What is out of range, or no multiple."""
    kind = str(schema.get("type") or "")
    if not _is_in_range(value, kind, form):
        yield _out_of_range("Checked", kind, form, path)
    for key, rule in (("multipleOf", _multiple), ("minimum", _minimum), ("maximum", _maximum)):
        limit = schema.get(key)
        if limit is not None:
            found = value
            if not _is_in_range(limit, kind, form):
                yield _out_of_range({"multipleOf": "MultipleOf"}.get(key, f"{key.title()} boundary"), kind, form, path)
                found = float(value)
            # A limit of a whole number is a whole number: what is behind its point is cut off.
            yield from rule(found, int(limit) if isinstance(found, int) else float(limit), schema, path)


def is_whole(value: object) -> bool:
    """Whether a number with a point counts as a whole one."""
    return isinstance(value, float) and value.is_integer() and abs(value) <= _LARGEST_EXACT


def _is_in_range(value: float, kind: str, form: str) -> bool:
    if kind != "integer":
        return form != "float" or abs(value) <= _LARGEST_FLOAT
    bits = _BITS.get(form, 63)  # of a schema that is not valid the format may be that of a text
    return float(value).is_integer() and -(2**bits) <= int(value) < 2**bits


_LARGEST_FLOAT: Final = (2 - 2**-23) * 2.0**127


def _out_of_range(what: str, kind: str, form: str, path: str) -> Defect:
    described = f"with format {form}" if form else "(default format)"
    return invalid("", f"{what} value must be of type {kind} {described} in {path}")


def _multiple(value: float, factor: float, _: ReadOnly, path: str) -> Iterator[Defect]:
    if factor <= 0:
        yield invalid(path, f"factor MultipleOf declared for {path} must be positive: {number(factor)}", factor)
    elif value % factor if isinstance(value, int) else not is_whole(value / factor):
        yield invalid(path, f"{path} in body should be a multiple of {number(factor)}", value)


def _minimum(value: float, limit: float, schema: ReadOnly, path: str) -> Iterator[Defect]:
    if value < limit or (schema.get("exclusiveMinimum") and value == limit):
        than = "greater than" if schema.get("exclusiveMinimum") else "greater than or equal to"
        yield invalid(path, f"{path} in body should be {than} {number(limit)}", value)


def _maximum(value: float, limit: float, schema: ReadOnly, path: str) -> Iterator[Defect]:
    if value > limit or (schema.get("exclusiveMaximum") and value == limit):
        than = "less than" if schema.get("exclusiveMaximum") else "less than or equal to"
        yield invalid(path, f"{path} in body should be {than} {number(limit)}", value)
