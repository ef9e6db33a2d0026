"""Whether existing objects fit a new definition, in the API server's words."""

from __future__ import annotations

import pytest

from shared.api.manifest import Manifest
from shared.domain.plan import validation
from shared.kinds import Kind

KIND = Kind("example.com/v1", "A", "as")


def a_crd(schema: Manifest, *, served: bool = True, version: str = "v1", **spec: object) -> Manifest:
    whole = {"type": "object", "properties": {"spec": schema}}
    versions = [{"name": version, "served": served, "schema": {"openAPIV3Schema": whole}}]
    names = {"kind": "A", "plural": "as"}
    return {"metadata": {"name": "as"}, "spec": {"group": "example.com", "names": names, "versions": versions, **spec}}


@pytest.mark.parametrize(
    ("schema", "spec", "want"),
    [
        pytest.param({"type": "integer", "maximum": 9}, 10,
                     "[].spec: Invalid value: 10: spec in body should be less than or equal to 9",
                     id="catalog.md 8.11.133: replicas at most 9"),
        pytest.param({"type": "object", "required": ["a", "b"]}, {"c": 1},
                     "[[].spec.a: Required value, [].spec.b: Required value]",
                     id="catalog.md 8.11.133: required fields are listed"),
        pytest.param({"enum": ["x", "y"]}, "z",
                     '[].spec: Unsupported value: "z": supported values: "x", "y"', id="enum"),
        pytest.param({"type": "string"}, 1,
                     "[].spec: Invalid value: 1: spec in body must be of type string", id="type"),
        pytest.param({"uniqueItems": True}, [1, 1], "[].spec: Invalid value: [1, 1]: [1, 1] has non-unique elements",
                     id="a rule without a sentence of its own"),
        pytest.param({"type": "string", "nullable": True}, None, "", id="null where it is allowed"),
        pytest.param({"type": "string", "nullable": True, "enum": ["x"]}, None, "", id="null beside an enum"),
        pytest.param({"x-kubernetes-int-or-string": True, "nullable": True}, "5%", "", id="8.11.134: a percentage"),
        pytest.param({"allOf": [{"minimum": 3}], "not": {"enum": [7]}}, 5, "", id="compound rules that hold"),
        pytest.param({"additionalProperties": {"type": "string"}}, {"a": "b"}, "", id="8.11.134: a label map"),
        pytest.param({"additionalProperties": True}, {"a": 1}, "", id="anything goes"),
        pytest.param({"type": "array", "items": {"type": "integer"}}, [1], "", id="a list"),
    ],
)  # fmt: skip
def test_an_object_against_a_schema(schema: Manifest, spec: object, want: str) -> None:
    told = validation.violation(a_crd(schema), KIND, [{"metadata": {"name": "one"}, "spec": spec}])
    prefix = (
        'error validating existing CRs against new CRD\'s schema for "as": error validating example.com/v1, Kind=A '
        '"one": updated validation is too restrictive: '
    )
    assert told == (prefix + want if want else "")


@pytest.mark.parametrize(
    ("old", "new", "want"),
    [
        pytest.param(a_crd({}), a_crd({"type": "string"}), [KIND], id="catalog.md 4.8: served in both, other schema"),
        pytest.param(a_crd({}), a_crd({}), [], id="the same schema needs no look"),
        pytest.param(a_crd({}, served=False), a_crd({"type": "string"}), [], id="8.11.131: not served in old"),
        pytest.param(a_crd({}), a_crd({"type": "string"}, served=False), [], id="8.11.131: not served in new"),
        pytest.param(a_crd({}), a_crd({}, version="v2"), [], id="catalog.md 8.11.130: a new version"),
        pytest.param(
            a_crd({}), a_crd({"type": "string"}, scope="Cluster"),
            [Kind("example.com/v1", "A", "as", is_namespaced=False)], id="cluster-scoped",
        ),
    ],
)  # fmt: skip
def test_which_versions_are_looked_at(old: Manifest, new: Manifest, want: list[Kind]) -> None:
    assert list(validation.to_check(old, new)) == want
