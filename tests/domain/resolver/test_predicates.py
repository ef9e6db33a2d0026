"""Facts and requirements as properties state them, in any shape (resolver.md §4.1–4.3)."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.catalog.model import Property
from shared.domain.resolver.facts import Facts, Gvk, Reader
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.operators import Operator
from shared.domain.resolver.predicates import InvalidConstraint, requirements

K = {"group": "g", "version": "v1", "kind": "K"}
P = {"packageName": "p", "versionRange": ">=1.0.0"}


def facts(kind: str, *values: Any) -> Facts:
    return Reader().facts(tuple(Property(kind, value) for value in values))


@pytest.mark.parametrize(
    "value", [5, "x", True, ["x"], {"packageName": 5}, {"label": []}, {"group": {}}, {"kind": 1.5}]
)
def test_a_fact_that_cannot_be_read_is_none(value: object) -> None:
    """resolver.md 4.1: any decodable property counts."""
    assert len(facts("olm.package", value).packages) == (
        1 if isinstance(value, dict) and "packageName" not in value else 0
    )
    assert facts("olm.gvk", 5, ["x"], {"group": 1}, {"group": {}}).apis == ()
    assert facts("olm.label", 5, {"label": 1}).labels == frozenset()


def test_facts_are_read_as_go_does() -> None:
    """resolver.md 4.2: keys in any case, null and absent are empty."""
    assert facts("olm.gvk", {"GROUP": "g", "Version": "v1", "kind": None}, None).apis == (
        Gvk("g", "v1", ""),
        Gvk("", "", ""),
    )
    [package] = facts("olm.package", {"packageName": "p", "version": "latest"}).packages
    assert (package.name, package.version) == ("p", None)


def constraint(value: Any) -> Property:
    return Property("olm.constraint", value)


@pytest.mark.parametrize(
    ("declared", "want"),
    [
        pytest.param(Property("olm.gvk.required", 5), "json: cannot unmarshal number", id="an API that is a number"),
        pytest.param(Property("olm.label.required", []), "json: cannot unmarshal array", id="a label that is a list"),
        pytest.param(
            Property("olm.package.required", {}), "Last element in range is '||'", id="resolver.md 4.2: no range"
        ),
        pytest.param(
            Property("olm.package.required", True), "json: cannot unmarshal bool", id="a package that is a flag"
        ),
        pytest.param(
            constraint({}), "convert olm.constraint to resolver predicate: constraint is empty", id="resolver.md 4.3"
        ),
        pytest.param(constraint(None), "constraint is empty", id="resolver.md 4.3: null"),
        pytest.param(constraint({"all": None}), "constraint is empty", id="resolver.md 4.3: a null kind"),
        pytest.param(constraint({"failureMessage": "x"}), "constraint is empty", id="resolver.md 4.3: only a message"),
        pytest.param(
            constraint({"all": {"constraints": [{}]}}), "constraint is empty", id="resolver.md 4.3: an empty element"
        ),
        pytest.param(constraint("x"), "parse olm.constraint: json: cannot unmarshal", id="no object"),
        pytest.param(constraint({"gvk": 5}), "struct field Constraint.gvk", id="a kind that is no object"),
        pytest.param(constraint({"gvk": {"plural": "x"}}), 'json: unknown field "plural"', id="an unknown key inside"),
        pytest.param(constraint({"none": {}}), 'json: unknown field "none"', id="resolver.md 4.3: none is not known"),
        pytest.param(
            constraint({"failureMe\u00dfage": "x"}),
            "json: unknown field",
            id="resolver.md 4.3: Go does not fold ß to ss",
        ),
        pytest.param(
            constraint({"package": {"name": "x"}}), 'json: unknown field "name"', id="resolver.md 13 D2: package.name"
        ),
        pytest.param(
            constraint({"any": {"constraints": {}}}), "Constraint.any.constraints", id="elements that are no list"
        ),
        pytest.param(constraint({"cel": {"rule": "1"}}), "cel expressions must have type Bool", id="resolver.md 4.4"),
        pytest.param(
            constraint({"failureMessage": "x" * 131072}),
            "greater than max constraint size 131072 bytes",
            id="resolver.md 4.3: size",
        ),
    ],
)
def test_a_requirement_that_cannot_be_read_is_an_error(declared: Property, want: str) -> None:
    with pytest.raises(InvalidConstraint) as error:
        requirements([declared])
    assert want in str(error.value)


def test_nesting_has_a_limit() -> None:
    """resolver.md 4.3: Go takes 3332 compounds inside each other."""
    value: dict[str, Any] = {"gvk": {}}
    for _ in range(100):
        value = {"all": {"constraints": [value]}}
    assert len(requirements([constraint(value)])) == 1
    for _ in range(3333):
        value = {"all": {"constraints": [value]}}
    with pytest.raises(InvalidConstraint, match="exceeded max depth"):
        requirements([constraint(value)])


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param(
            {"gvk": {"group": "g", "version": "v1", "kind": "K"}, "cel": {"rule": "true"}},
            "providing an API with group: g, version: v1, kind: K",
            id="resolver.md 4.3: the first kind counts",
        ),
        pytest.param({"ALL": {"Constraints": []}}, "", id="resolver.md 4.3: keys in any case"),
        pytest.param(
            {"not": {"constraints": [{"package": {"packageName": "p", "versionRange": "1.0.0"}}, {"gvk": {}}]}},
            "with package: p and with version in range: 1.0.0 and not providing an API with group: , version: , kind: ",
            id="resolver.md 4.1: how a negation is printed",
        ),
        pytest.param({"cel": {"rule": "true"}}, 'with constraint: "true" and message: ""', id="resolver.md 4.1: CEL"),
    ],
)
def test_requirements_are_read_aloud(value: Any, want: str) -> None:
    [one] = requirements([constraint(value)])
    assert one.text == want


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param({"gvk": K}, "kind K of g/v1", id="an API"),
        pytest.param({"all": {"constraints": [{"gvk": K}]}}, "kind K of g/v1", id="all of one"),
        pytest.param(
            {"any": {"constraints": [{"package": P}, {"gvk": K}]}},
            "an operator with package: p and with version in range: >=1.0.0 or providing an API with group: g, "
            "version: v1, kind: K", id="any of two",
        ),
        pytest.param({"package": P}, "package p in versions >=1.0.0", id="a range"),
        pytest.param({"package": {**P, "versionRange": "1.0.0"}}, "package p in version 1.0.0", id="a version"),
        pytest.param(
            {"not": {"constraints": [{"gvk": K}]}},
            "an operator not providing an API with group: g, version: v1, kind: K",
            id="resolver.md 4.2: OLM's text lacks this not",
        ),
    ],
)  # fmt: skip
def test_requirements_are_told_plainly(value: Any, want: str) -> None:
    [one] = requirements([constraint(value)])
    assert one.plain == want


def test_a_version_counts_wherever_it_is_stated() -> None:
    """resolver.md 4.1, 13 B8: an entry's own version, or one that any of its packages states."""
    [subscription] = requirements([Property("olm.package.required", {"packageName": "p", "versionRange": ">=2.0.0"})])
    declared = facts("olm.package", {"packageName": "q", "version": "2.0.0"})
    assert subscription.holds(Operator("p.v1", "p", "c", CatalogKey("ns", "cat"), None, declared))
    assert not subscription.holds(Operator("p.v1", "p", "c", CatalogKey("ns", "cat"), None, facts("olm.package", None)))
