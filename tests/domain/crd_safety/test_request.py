"""What may not change in a CustomResourceDefinition (v1.md §19, §30)."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.crd_safety.request import response_to
from shared.domain.crd_safety.upgrade import problems
from shared.domain.shape import InvalidRequest

Schema = dict[str, Any]


def version(name: str, spec: Schema | None = None, *, served: bool = True, **of_spec: object) -> Schema:
    root = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec or {}, **of_spec}}}
    return {"name": name, "served": served, "schema": {"openAPIV3Schema": root}}


def crd(*versions: Schema, scope: str = "Namespaced", stored: tuple[str, ...] = (), conversion: str = "") -> Schema:
    spec = {"scope": scope, "versions": list(versions)} | (
        {"conversion": {"strategy": conversion}} if conversion else {}
    )
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "as.g"},
        "spec": spec,
        "status": {"storedVersions": list(stored)},
    }


def spec_of(declared: Schema) -> Schema:
    found: Schema = declared["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    return found


def lines(old: Schema, new: Schema) -> list[str]:
    return [problem.line for problem in problems(old, new)]


def of_property(old: Schema, new: Schema) -> list[str]:
    """What is said about property `a` of two editions."""
    found = lines(crd(version("v1", {"a": old})), crd(version("v1", {"a": new})))
    assert all(line.startswith("v1: ^.spec.a: ") for line in found)
    return [line.removeprefix("v1: ^.spec.a: ") for line in found]


TEXT = {"type": "string"}
MANY = [
    'Ref nil -> &"x"', "ExclusiveMaximum false -> true", "MultipleOf &0.5 -> &1e+06", "AnyOf nil -> <complex value>",
    "XIntOrString true -> false", 'XListMapKeys nil -> []string{"a", "b"}',
]  # fmt: skip
CEL = "AdditionalProperties <complex value> -> nil; XValidations nil -> <complex value>"
LIMITS = ("maximum", "maxItems", "maxLength", "maxProperties"), ("minimum", "minItems", "minLength", "minProperties")


@pytest.mark.parametrize(
    ("old", "new", "want"),
    [
        pytest.param(TEXT, TEXT, [], id="v1.md 19: nothing changed"),
        pytest.param(TEXT, TEXT | {"description": "x"}, [], id="v1.md 19: a description"),
        pytest.param({"type": "boolean"}, TEXT, ['type: type changed : "boolean" -> "string"'], id="v1.md 19: type"),
        pytest.param({}, {"required": ["foo"]}, ["required: new required fields: [foo]"], id="v1.md 19: required"),
        pytest.param({"required": ["foo"]}, {}, [], id="v1.md 19: required to optional"),
        pytest.param(
            {},
            {"default": "x"},
            ['default: default added when there was none previously : "\\"x\\""'],
            id="v1.md 19: default",
        ),
        pytest.param(
            {"default": "x"}, {}, ['default: default value removed : "\\"x\\""'], id="v1.md 19: default removed"
        ),
        pytest.param(
            {"default": "a"},
            {"default": "b"},
            ['default: default value changed : "\\"a\\"" -> "\\"b\\""'],
            id="v1.md 19: default changed",
        ),
        pytest.param(
            {},
            {"enum": ["a"]},
            ['enum: enum constraint added when there was none previously : ["a"]'],
            id="v1.md 19: enum",
        ),
        pytest.param(
            {"enum": ["a", "b"]},
            {"enum": ["a"]},
            ['enum: allowed enum values removed : ["b"]'],
            id="v1.md 19: values removed",
        ),
        pytest.param({"enum": ["a"]}, {"enum": ["a", "b"]}, [], id="v1.md 19: enum additions"),
        pytest.param(
            {"enum": ["a"]},
            {},
            ['enum: allowed enum values removed : ["a"]'],
            id="v1.md 30: an enum removed altogether",
        ),
        pytest.param({}, {"pattern": "^a"}, ['pattern: pattern added : "" -> "^a"'], id="v1.md 19: pattern"),
        pytest.param(
            {"pattern": "^a"}, {}, ['pattern: pattern removed : "^a" -> ""'], id="v1.md 30: a pattern removed"
        ),
        pytest.param(
            {"pattern": "a"},
            {"pattern": "b"},
            ['pattern: pattern changed : "a" -> "b"'],
            id="v1.md 19: pattern changed",
        ),
        pytest.param({}, {"nullable": True}, ["nullable: nullable added : false -> true"], id="v1.md 19: nullable"),
        pytest.param(
            {"nullable": True}, {}, ["nullable: nullable removed : true -> false"], id="v1.md 19: nullable removed"
        ),
        pytest.param(
            {},
            {"oneOf": [{"required": ["a"]}]},
            ['oneOf: oneOf constraint added when there was none previously: [{"required":["a"]}]'],
            id="v1.md 19: oneOf added, neither unhandled nor type",
        ),
        pytest.param(
            {"oneOf": [{}]},
            {"oneOf": [{}, {"minimum": 0}]},
            ['oneOf: allowed oneOf schemas added: [{"minimum":0}]'],
            id="one more",
        ),
        pytest.param({"oneOf": [{}]}, {"oneOf": [{}]}, [], id="the same alternatives"),
        pytest.param(
            {},
            {"format": "email"},
            ['unhandled: unhandled changes found (Format "" -> "email")'],
            id="v1.md 19: unhandled format",
        ),
        pytest.param(
            {"x-kubernetes-int-or-string": True, "title": "t", "multipleOf": 0.5},
            {"title": "t", "anyOf": [{}], "$ref": "x", "exclusiveMaximum": True, "multipleOf": 1000000}
            | {"x-kubernetes-list-map-keys": ["a", "b"]},
            ["unhandled: unhandled changes found (" + "; ".join(MANY) + ")"],
            id="v1.md 30: no validators for these",
        ),
        pytest.param({"x-kubernetes-embedded-resource": False, "x": 1}, {}, [], id="v1.md 19: what says nothing"),
        pytest.param(
            {"x-kubernetes-preserve-unknown-fields": False},
            {},
            ["unhandled: unhandled changes found (XPreserveUnknownFields &false -> nil)"],
            id="v1.md 19: unhandled, what may be false or absent",
        ),
        pytest.param(
            {"additionalProperties": True},
            {"x-kubernetes-validations": [{"rule": "self", "message": ""}], "example": None},
            [f"unhandled: unhandled changes found ({CEL})"],
            id="v1.md 30: CEL rules",
        ),
        pytest.param(
            {"patternProperties": {"^a": {"title": "x"}}, "items": [TEXT]},
            {"patternProperties": {"^a": {"title": "x", "required": []}}, "items": [TEXT]},
            [],
            id="v1.md 19: an empty list says nothing at any depth",
        ),
        pytest.param(
            {"properties": None, "anyOf": [None], "patternProperties": {"a": None}},
            {"anyOf": [{}], "patternProperties": {"a": {}}},
            [],
            id="v1.md 19: a null says nothing at any depth",
        ),
        pytest.param(
            {"default": 1},
            {"default": True},
            ['default: default value changed : "1" -> "true"'],
            id="v1.md 19: one and true are two defaults",
        ),
        pytest.param(
            {"enum": [1.0, None, "<"]},
            {"enum": [1]},
            ['enum: allowed enum values removed : [ "\\u003c"]'],
            id="v1.md 19: values as Kubernetes keeps them",
        ),
        pytest.param(
            {"oneOf": [{"description": "a"}]}, {"oneOf": [{"description": "b"}]}, [], id="remarks on alternatives"
        ),
        pytest.param(
            {"oneOf": [{"properties": {"a": {"minimum": 1}}}]},
            {"oneOf": [{"properties": {"a": {"minimum": 1}}}], "description": "x"},
            ['oneOf: allowed oneOf schemas removed: [{"properties":{"a":{"minimum":1}}}]'],
            id="v1.md 19: oneOf (orig), limits of an alternative's properties are told by their addresses",
        ),
        pytest.param(
            {"oneOf": [{"items": {"minimum": 1}, "anyOf": [{"minimum": 2}], "not": {}}]},
            {"oneOf": [{"items": {"minimum": 1}, "anyOf": [{"minimum": 2}], "not": {}}], "description": "x"},
            [],
            id="v1.md 19: oneOf, other limits are told by their values",
        ),
        pytest.param(
            {"additionalProperties": {"type": "string", "description": "a"}},
            {"additionalProperties": {"type": "string", "description": "b"}},
            ["unhandled: unhandled changes found (AdditionalProperties <complex value> -> <complex value>)"],
            id="v1.md 30: a description below additionalProperties",
        ),
    ],
)
def test_a_property(old: Schema, new: Schema, want: list[str]) -> None:
    assert of_property(old, new) == want


@pytest.mark.parametrize(("keys", "tighter", "word"), [(LIMITS[0], 5, "decreased"), (LIMITS[1], 15, "increased")])
def test_limits(keys: tuple[str, ...], tighter: int, word: str) -> None:
    """v1.md 19: introduced or tightened; loosened and removed ones are safe (30)."""
    for key in keys:
        limit = "maximum" if word == "decreased" else "minimum"
        added = f"{key}: {limit} constraint added when there was none previously : 10"
        assert of_property({}, {key: 10}) == [added]
        assert of_property({key: 10}, {key: tighter}) == [f"{key}: {limit} {word} : 10 -> {tighter}"]
        assert of_property({key: tighter}, {key: 10}) == []
        assert of_property({key: 10}, {}) == []


def test_a_removed_alternative_is_a_removed_path() -> None:
    """v1.md 19: oneOf removed."""
    old, new = crd(version("v1", {"a": {"oneOf": [{"required": ["a"]}]}})), crd(version("v1", {"a": {}}))
    assert lines(old, new) == [
        "existingFieldRemoval: removed field : v1.^.spec.a.oneOf[0]",
        'v1: ^.spec.a: oneOf: allowed oneOf schemas removed: [{"required":["a"]}]',
    ]


def test_every_schema_inside_has_its_own_path() -> None:
    """v1.md 19: property paths; a schema of combinations, maps and lists is compared like a property."""

    def combined(kind: str) -> Schema:
        inner = {"type": kind}
        alone = dict.fromkeys(("not", "additionalProperties", "additionalItems"), inner)
        named = {key: {"x": inner} for key in ("patternProperties", "definitions")}
        listed = {key: [inner] for key in ("items", "allOf", "anyOf", "oneOf")}
        return {**alone, **named, **listed, "dependencies": {"x": inner, "y": ["z"]}}

    found = problems(crd(version("v1", {"a": combined("string")})), crd(version("v1", {"a": combined("integer")})))
    paths = {one.path.removeprefix("^.spec.a") for one in found if one.finding.check == "type"}
    assert paths == {
        ".items[0]", ".allOf[0]", ".anyOf[0]", ".oneOf[0]", ".not", ".additionalProperties", ".patternProperties[x]",
        ".additionalItems", ".definitions[x]", ".dependencies[x]",
    }  # fmt: skip


def test_numbers_are_reported_as_go_prints_them() -> None:
    """v1.md 19: maximum and minimum are floating point numbers, lengths are whole."""
    want = "{0}: {1} constraint added when there was none previously : {2}"
    for key, number, written in (
        ("maximum", 1000000, "1e+06"),
        ("minimum", 2.0, "2"),
        ("minLength", 1000000, "1000000"),
    ):
        assert of_property({}, {key: number}) == [want.format(key, key[:3] + "imum", written)]


def test_a_property_without_a_schema_is_one_that_says_nothing() -> None:
    """v1.md 19: what Kubernetes decodes a null into."""
    assert lines(crd(version("v1", {"a": None})), crd(version("v1", {"a": {}}))) == []


def test_a_list_has_its_own_path() -> None:
    old, new = ({"type": "array", "items": {"type": kind}} for kind in ("string", "integer"))
    found = lines(crd(version("v1", {"a": old})), crd(version("v1", {"a": new})))
    assert found == ['v1: ^.spec.a.items: type: type changed : "string" -> "integer"']


def test_the_definition_as_a_whole() -> None:
    """v1.md 19: scope, storedVersionRemoval, existingFieldRemoval; 30: a removed property is a changed type, too."""
    old = crd(version("v1", {"a": TEXT}), version("v1alpha1"), stored=("v1alpha1", "v1"))
    assert lines(old, crd(version("v1"), scope="Cluster", stored=("v1",))) == [
        'scope: scope changed : "Namespaced" -> "Cluster"',
        "storedVersionRemoval: stored versions removed : [v1alpha1]",
        "existingFieldRemoval: removed field : v1.^.spec.a",
        'v1: ^.spec.a: type: type changed : "string" -> ""',
    ]


def test_what_is_safe() -> None:
    """v1.md 19 and 30: optional fields, new versions with a compatible schema, unserved versions, other names."""
    old = crd(version("v1", {"a": TEXT}))
    assert lines(old, crd(version("v1", {"a": TEXT, "b": TEXT}))) == []
    assert lines(old, crd(version("v1", {"a": TEXT}), version("v2", {"a": TEXT}))) == []
    assert lines(old, crd(version("v1", {"a": TEXT}, served=False))) == []
    assert lines(old, crd(version("v1")) | {"apiVersion": "apiextensions.k8s.io/v1beta1"}) == []
    assert lines(old, crd(version("v1")) | {"kind": "Other"}) == []
    assert lines(crd({"name": "v1"}), old) == []


def test_between_served_versions() -> None:
    """v1.md 19: each pair, ascending; a webhook that converts makes it nobody's business."""
    enum = {"type": "string", "enum": ["a", "b"]}
    new = (version("v1", {"foobarbaz": enum}), version("v2", {"foobarbaz": enum | {"enum": ["a"]}}))
    want = ['v1 -> v2: ^.spec.foobarbaz: enum: allowed enum values removed : ["b"]']
    assert lines(crd(new[0]), crd(*reversed(new))) == want
    assert lines(crd(new[0]), crd(*new, conversion="Webhook")) == []
    assert lines(crd(*new), crd(*new)) == [], "the same pre-existing issues"
    kinds = {"v1": "boolean", "v2": "string"}
    extra = [
        version(name, {**spec_of(one), "extraField": {"type": kinds[name]}}) for one in new for name in [one["name"]]
    ]
    assert lines(crd(*new), crd(*extra)) == ['v1 -> v2: ^.spec.extraField: type: type changed : "boolean" -> "string"']


def test_known_problems_between_versions_are_known_by_all_that_they_say() -> None:
    """v1.md 19: subtracted only when the same; 30 (orig): what is told by addresses never is."""

    def between(schema: Schema) -> Schema:
        return crd(version("v1", {"a": TEXT}), version("v2", {"a": TEXT | schema}))

    either, other = ({"anyOf": [{"pattern": pattern}]} for pattern in "ab")
    assert lines(between(either), between(either)) == []
    found = problems(between(either), between(other))
    assert ("v1 -> v2", "unhandled") in {(one.version, one.finding.check) for one in found}
    addressed = {"oneOf": [{"properties": {"a": {"minimum": 1}}}]}
    assert [one.split(": ")[:3] for one in lines(between(addressed), between(addressed))] == [
        ["v1 -> v2", "^.spec.a", "oneOf"]
    ]


def test_versions_are_ranked_as_kubernetes_does() -> None:
    names = ["v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "odd"]
    changed = [version(name, {"a": {"type": name}}) for name in names]
    pairs = {line.partition(":")[0] for line in lines(crd(version("v0")), crd(*changed))}
    ascending = ["odd", "v1alpha1", "v1beta1", "v1beta2", "v1", "v2"]
    assert pairs == {f"{older} -> {newer}" for index, older in enumerate(ascending) for newer in ascending[index + 1 :]}


def test_a_field_in_the_older_version_only_is_a_problem() -> None:
    """v1.md 30: so adding an optional field to one older version is unsafe."""
    found = lines(crd(version("v1"), version("v2")), crd(version("v1", {"a": TEXT}), version("v2")))
    assert found == ['v1 -> v2: ^.spec.a: type: type changed : "string" -> ""']


def test_a_widened_definition_is_safe_and_its_reverse_is_not() -> None:
    narrow = crd(version("v1", {"a": {"type": "string", "enum": ["x"], "maxLength": 3}}, required=["a"]))
    wide = crd(version("v1", {"a": {"type": "string", "enum": ["x", "y"], "maxLength": 9}, "b": TEXT}))
    assert (lines(narrow, wide), bool(lines(wide, narrow))) == ([], True)


def test_answers() -> None:
    asked = {"old": crd(version("v1", {"a": TEXT})), "new": crd(version("v1", {"a": TEXT | {"format": "email"}}))}
    response = response_to(asked)
    [finding] = response.pop("findings")
    assert (finding["version"], finding["path"], finding["check"]) == ("v1", "^.spec.a", "unhandled")
    assert response == {
        "safe": False,
        "checks": [["v1", "^.spec.a", "unhandled"]],
        "messages": [
            'validating upgrade for CRD "as.g": v1: ^.spec.a: unhandled: unhandled changes found (Format "" -> "email")'
        ],
    }
    assert response_to({"old": asked["old"], "new": asked["old"]}) == {
        "safe": True, "checks": [], "messages": [], "findings": [],
    }  # fmt: skip


def test_what_is_null_or_of_no_use_to_go_says_nothing() -> None:
    odd = crd(version("v1", {"a": {"dependencies": {"x": 5, "y": None}}}))
    odd["spec"]["versions"].append(None)
    plain = crd(version("v1", {"a": {"dependencies": {"x": {}, "y": {}}}}))
    assert response_to({"old": odd, "new": plain})["safe"] is True


def nested(depth: int) -> Schema:
    schema: Schema = {}
    for _ in range(depth):
        schema = {"properties": {"a": schema, "b": {}}}
    return schema


@pytest.mark.parametrize(
    ("document", "want"),
    [
        ({}, 'a request needs a CustomResourceDefinition in "old" and one in "new"'),
        ({"old": 5, "new": {}}, "old: wanted an object, got a whole number"),
        ({"old": {"spec": 5}, "new": {}}, "old: json: cannot unmarshal number into Go struct field CustomResource"),
        ({"old": {}, "new": {"spec": {"versions": [5]}}}, "new: json: cannot unmarshal number into Go struct field"),
        ({"old": crd({}), "new": crd(version("v1", {"a": 5}))}, "new: json: cannot unmarshal number into Go struct"),
        (
            {"old": crd({}), "new": crd(version("v1", {"a": {"additionalProperties": [[{"a": 1}]]}}))},
            "new: boolean or JSON schema expected",
        ),
        ({"old": crd(version("v1", {"a": {"enum": 5}})), "new": crd(version("v1", {"a": {}}))}, r"type \[\]v1.JSON"),
        (
            {"old": crd(version("v1", {"a": {"dependencies": 5}})), "new": crd(version("v1", {"a": {}}))},
            "number into Go struct field JSONSchemaProps.* of type v1.JSONSchemaDependencies",
        ),
        (
            {"old": crd(version("v1", {"a": {"items": [5]}})), "new": crd(version("v1", {"a": {}}))},
            "number into Go struct field JSONSchemaProps.* of type v1.JSONSchemaProps",
        ),
        ({"old": {}, "new": {}, "objects": [{"metadata": 5}]}, r"objects\[0\].metadata: wanted an object"),
        (
            {"old": crd(version("v1", {"a": {}})), "new": crd(version("v1", {"a": {"maxLength": float("inf")}}))},
            "new: json: cannot unmarshal number Infinity into Go struct field",
        ),
        ({"old": {}, "new": {}, "objects": [{"metadata": {}}], "waive": ["typo"]}, "there is no check 'typo'"),
        ({"old": {}, "new": crd(version("v1", {"a": nested(500)}))}, "nested more than 400 deep"),
    ],
)
def test_requests_that_are_none(document: Schema, want: str) -> None:
    with pytest.raises(InvalidRequest, match=want):
        response_to(document)
