from __future__ import annotations

from typing import Any

import pytest

from eventing.local.apiserver.expression_rules import broken
from eventing.local.apiserver.failures import Cause
from eventing.local.apiserver.ruled_schema import ruled


def reported(value: Any, old: Any = None, *defects: Cause, **node: Any) -> list[str]:
    schema = {"type": "object", "properties": {"x": node}}
    before = None if old is None else {"x": old}
    return [str(cause) for cause in broken({"x": value}, before, ruled(schema), defects)]


def rules(*texts: str, **more: Any) -> list[dict[str, Any]]:
    return [{"rule": text, **more} for text in texts]


def test_a_schema_without_rules_has_no_tree() -> None:
    assert ruled({"type": "object", "properties": {"x": {"type": "string"}}}) is None


def test_every_rule_is_asked_at_every_depth() -> None:
    inner = {"type": "string", "x-kubernetes-validations": rules("self != 'b'")}
    found = reported(["a", "b"], type="array", items=inner, **{"x-kubernetes-validations": rules("self.size() > 2")})
    assert found == [
        'x: Invalid value: "array": failed rule: self.size() > 2',
        "x[1]: Invalid value: \"b\": failed rule: self != 'b'",
    ]


def test_the_values_of_a_map_are_asked() -> None:
    inner = {
        "type": "integer",
        "x-kubernetes-validations": rules("self > 1", reason="FieldValueForbidden", message="no"),
    }
    assert reported({"k": 1, "l": 2}, type="object", additionalProperties=inner) == ["x[k]: Forbidden: no"]


def test_a_rule_about_the_change_needs_something_before() -> None:
    node = {"type": "integer", "x-kubernetes-validations": rules("self == oldSelf")}
    assert reported(1, **node) == []
    assert reported(2, 1, **node) == ["x: Invalid value: 2: failed rule: self == oldSelf"]


def test_items_are_compared_by_their_keys() -> None:
    item = {"type": "object", "x-kubernetes-validations": rules("self.v >= oldSelf.v", message="went down")}
    node = {"type": "array", "items": item, "x-kubernetes-list-map-keys": ["k"]}
    old = [{"k": "a", "v": 3}, {"k": "b", "v": 1}]
    assert reported([{"k": "b", "v": 2}, {"k": "a", "v": 2}], old, **node) == [
        'x[1]: Invalid value: "object": went down'
    ]


def test_a_rule_that_cannot_be_evaluated_reports_why() -> None:
    (found,) = reported({}, type="object", **{"x-kubernetes-validations": rules("self.missing == 1")})
    assert found.startswith('x: Invalid value: "object": ')
    assert found.endswith(" evaluating rule: self.missing == 1")


@pytest.mark.parametrize("text", ["", "quantity(self) > 1", "self >"])
def test_a_rule_that_only_a_real_server_knows_has_no_effect(text: str) -> None:
    assert reported("1", type="string", **{"x-kubernetes-validations": rules(text)}) == []


def test_a_rule_that_costs_too_much_ends_the_check() -> None:
    dear = "self.all(a, self.all(b, self.all(c, self.all(d, a + b + c + d != ''))))"
    items = ["x" * 100] * 500
    found = reported(items, type="array", **{"x-kubernetes-validations": rules(dear, "self.size() == 0")})
    assert found == [
        (
            'x: Invalid value: "array": validation failed due to running out of cost budget, no further validation '
            "rules will be run"
        )
    ]


def test_rules_wait_until_the_schema_is_fulfilled() -> None:
    defect = Cause("x", "FieldValueTooLong", "Too long")
    (found,) = reported("x", None, defect, type="string", **{"x-kubernetes-validations": rules("self == ''")})
    assert found.startswith("<nil>: Invalid value: null: some validation rules were not checked")
