"""What a rule may cost: found out before it is evaluated."""

from __future__ import annotations

import pytest

from shared.domain.catalog.model import Property
from shared.domain.resolver.cel import InvalidRule, rule
from shared.domain.resolver.cel_cost import TooCostly, bound_of, bound_of_value, cost, size_of
from shared.domain.resolver.cel_expression import Node

FEW = (Property("olm.package", {"packageName": "p", "version": "1.2.3"}),)
MANY = tuple(
    Property("olm.gvk", {"group": "g.example", "kind": f"Kind{number}", "version": "v1", "notes": ["x" * 1500]})
    for number in range(100)
)
_EIGHT = "x+x+x+x+x+x+x+x"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            "properties.map(x,'aaaaaaaa')" + f".map(x,{_EIGHT})" * 8 + ".exists(x,size(x)>9)", id="texts that double"
        ),
        pytest.param(
            "properties.map(x,b'aaaaaaaa')" + f".map(x,{_EIGHT})" * 8 + ".size() == 3", id="bytes that double"
        ),
        pytest.param("properties.map(x,[1])" + f".map(x,{_EIGHT})" * 8 + ".size() == 3", id="lists that double"),
        pytest.param(
            "properties" + ".map(x,[x,x,x,x])" * 12 + ".exists(x,x==x)",
            id="a list that holds itself many times, compared",
        ),
        pytest.param(
            "properties" + ".map(x,{'a':x,'b':x,'c':x,'d':x})" * 12 + ".size() == 3", id="the same with objects"
        ),
        pytest.param(
            "properties.map(x,string(x.type))" + f".map(x,{_EIGHT})" * 9 + ".size() == 3", id="made of numbers"
        ),
        pytest.param(
            "properties.map(x,x.value)" + f".map(x,true ? {_EIGHT} : x)" * 9 + ".size() == 3", id="in a condition"
        ),
        pytest.param(
            "properties.map(x,has(x.value),'a')" + f".filter(x,true).map(x,[{_EIGHT}][0])" * 9 + ".size() == 3",
            id="through filters and lists",
        ),
        pytest.param(
            "properties.map(a,properties.map(b,properties.map(c,properties.map(d,'xxxxxxxx')))).size() == 1",
            id="loops in loops",
        ),
    ],
)
def test_a_rule_that_may_cost_too_much_is_given_up(source: str) -> None:
    with pytest.raises(InvalidRule, match="was given up: it may write or compare more than 64 MB"):
        rule(source)(FEW * 100)


@pytest.mark.parametrize(
    ("source", "want"),
    [
        ("properties.exists(p, p.type == 'olm.gvk' && p.value.kind == 'Kind7')", True),
        ("properties.all(p, p.type.startsWith('olm.') && p.value.group.matches('^g[.].*'))", True),
        ("properties.exists_one(p, p.value.kind == 'Kind7')", True),
        ("properties.filter(p, p.type == 'olm.gvk').size() == 100", True),
        ("properties.filter(p, p.type == 'olm.gvk').map(p, p.value.kind).exists(k, k == 'Kind3')", True),
        ("properties.map(p, p.type == 'olm.gvk', p.value.kind + '/' + p.value.version)[3] == 'Kind3/v1'", True),
        ("properties.exists(p, p.value.notes.exists(n, size(n) > 1000 && n.contains('x')))", True),
        ("properties.exists(p, p.value.notes.map(n, n + n).exists(n, size(n) == 3000))", True),
        ("properties.exists(p, properties.exists(q, p.value.kind == 'Kind1' && q.value.kind == 'Kind2'))", True),
        ("properties.exists(p, has(p.value.notes) && [p.value.kind, 'other'].exists(k, k in ['Kind5']))", True),
        ("properties.exists(p, {'a': p.type}['a'] == 'olm.gvk' && p.type != 'x' && !(1.5 > 2.5))", True),
        ("properties.exists(p, (p.type == 'x' ? [1] : [2, 3]).size() == 2 && dyn(p.type) == 'olm.gvk')", True),
        ("properties.exists(p, ([1] + [2]).map(n, string(n)) == ['1', '2'])", True),
        ("properties.exists(p, timestamp('2024-01-01T00:00:00Z').getFullYear() == 2024 && -size(p.type) < 0)", True),
        ("properties.map(p, p.value)[0].kind == 'Kind0'", True),
    ],
)
def test_a_rule_of_the_usual_kind_is_evaluated_over_many_properties(source: str, want: bool) -> None:
    assert rule(source)(MANY) is want


def test_what_is_not_known_is_not_bounded() -> None:
    nothing, total = Node("const"), Node("ident", "@result")
    with pytest.raises(TooCostly, match="calls 'explode', of which nothing is known"):
        cost(Node("call", "explode", (nothing,)), bound_of(1, 1, 1))
    odd = Node("call", "_-_", (total, nothing))
    with pytest.raises(TooCostly, match="a loop of an unknown kind"):
        cost(Node("loop", "", (Node("ident", "properties"), nothing, nothing, odd, total), variables=("x", "@result")),
             bound_of(1, 1, 1))  # fmt: skip


def test_sizes_are_those_of_the_whole_value() -> None:
    assert size_of("a") < size_of(["a"]) < size_of(["a", "a"]) < size_of({"a": ["a", "a"]})
    assert size_of("é") == size_of("ab")


def test_a_property_that_cannot_be_measured_is_not_given_to_a_rule() -> None:
    deep: object = 1.0
    for _ in range(300):
        deep = [deep]
    for value in (deep, "\ud800"):
        with pytest.raises(InvalidRule, match="was given up: a property cannot be measured"):
            rule("properties.size() == 1")((Property("x", value),))


def test_a_value_costs_what_its_text_does() -> None:
    small, large = (bound_of_value({"a": ["x" * length]}) for length in (1, 1000))
    assert large.size - small.size == 999
