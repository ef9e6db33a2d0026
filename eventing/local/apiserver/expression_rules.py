"""Which rules in CEL an object of a custom kind breaks, within a budget for each request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from eventing.local.apiserver import expressions
from eventing.local.apiserver.expressions import NoAnswer
from eventing.local.apiserver.failures import Cause, quoted
from eventing.local.apiserver.ruled_schema import Ruled
from shared.domain.resolver.cel_cost import TooCostly

_BUDGET: Final = 256_000_000
"""Bytes that the rules of one request may write or compare."""
_USES_OLD: Final = re.compile(r"\boldSelf\b")
_BLOCKING: Final = frozenset({
    "FieldValueTypeInvalid", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueDuplicate",
    "FieldValueNotSupported",
})  # fmt: skip
"""Defects after which rules are not evaluated, because they may rely on the schema."""
_UNCHECKED: Final = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)
_EXHAUSTED: Final = "validation failed due to running out of cost budget, no further validation rules will be run"
_WORDS: Final = {
    "FieldValueForbidden": "Forbidden", "FieldValueRequired": "Required value",
    "FieldValueDuplicate": "Duplicate value",
}  # fmt: skip


def broken(value: Any, old: Any, tree: Ruled | None, defects: Iterable[Cause]) -> Iterator[Cause]:
    """What an object breaks; `old` is None for a new one, `defects` is what its schema finds."""
    if tree is None:
        return
    if any(cause.reason in _BLOCKING for cause in defects):
        yield Cause("<nil>", "FieldValueInvalid", f"Invalid value: null: {_UNCHECKED}")
        return
    yield from _Walk().judged(value, old, tree, "")


@dataclass(frozen=True, slots=True)
class _Place:
    """A value of the object, what it was before, and its part of the schema."""

    value: Any
    old: Any
    tree: Ruled
    path: str

    @property
    def shown(self) -> Any:
        """What a refusal shows: lists and maps only as what they are."""
        return self.tree.type if self.tree.type in ("object", "array") else self.value

    def invalid(self, why: str) -> Cause:
        """A rule could not be evaluated."""
        return Cause(self.path, "FieldValueInvalid", f"Invalid value: {quoted(self.tree.type)}: {why}")


@dataclass(slots=True)
class _Walk:
    left: int = _BUDGET

    def judged(self, value: Any, old: Any, tree: Ruled, path: str) -> Iterator[Cause]:
        """The rules of a value, then those of its parts; none after the budget is spent."""
        if value is None:
            return
        for rule in tree.rules:
            yield from self._one(rule, _Place(value, old, tree, path))
        if isinstance(value, dict):
            before = old if isinstance(old, dict) else {}
            for name, item in value.items():
                if inner := tree.fields.get(name):
                    yield from self.judged(item, before.get(name), inner, f"{path}.{name}" if path else name)
                elif tree.every:
                    yield from self.judged(item, before.get(name), tree.every, f"{path}[{name}]")
        elif isinstance(value, list) and tree.every:
            known = _by_key(old, tree.keys)
            for index, item in enumerate(value):
                yield from self.judged(item, known.get(_key(item, tree.keys)), tree.every, f"{path}[{index}]")

    def _one(self, rule: Mapping[str, Any], at: _Place) -> Iterator[Cause]:
        text = str(rule.get("rule") or "")
        uses_old = _USES_OLD.search(text) is not None
        # What did not change is not refused for a rule that came later; a change needs something before it.
        if self.left < 0 or not expressions.is_known(text) or (at.old is None if uses_old else at.old == at.value):
            return
        variables = {"self": at.value, **({"oldSelf": at.old} if uses_old else {})}
        try:
            self.left -= _within(expressions.cost(text, variables), self.left)
            if not expressions.answer(text, variables):
                yield _refusal(rule, at)
        except TooCostly:
            self.left = -1
            yield at.invalid(_EXHAUSTED)
        except NoAnswer as error:
            yield at.invalid(f"{error} evaluating rule: {rule.get('message') or text}")


def _within(cost: int, left: int) -> int:
    if cost > left:
        raise TooCostly(f"it may write or compare {cost} bytes, and {left} are left")
    return cost


def _refusal(rule: Mapping[str, Any], at: _Place) -> Cause:
    reason = str(rule.get("reason") or "FieldValueInvalid")
    detail = rule.get("message") or f"failed rule: {str(rule['rule']).strip()}"
    shown = "" if reason in ("FieldValueForbidden", "FieldValueRequired") else f" {quoted(at.shown)}:"
    place = f"{at.path}{rule.get('fieldPath', '')}".removeprefix(".")
    return Cause(place or "<nil>", reason, f"{_WORDS.get(reason, 'Invalid value')}:{shown} {detail}")


def _by_key(old: Any, keys: tuple[str, ...]) -> Mapping[str, Any]:
    return {_key(item, keys): item for item in old} if keys and isinstance(old, list) else {}


def _key(item: Any, keys: tuple[str, ...]) -> str:
    return repr([item.get(key) for key in keys]) if isinstance(item, dict) else ""
