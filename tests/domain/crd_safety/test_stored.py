"""Whether existing objects fit a new definition, in the words of OLM."""

from __future__ import annotations

import pytest

from shared.api.manifest import Manifest
from shared.domain.crd_safety import stored
from shared.kinds import Kind

KIND = Kind("example.com/v1", "A", "as")


def a_crd(schema: Manifest, *, served: bool = True, version: str = "v1", **spec: object) -> Manifest:
    whole = {"type": "object", "properties": {"spec": schema}}
    versions = [{"name": version, "served": served, "schema": {"openAPIV3Schema": whole}}]
    names = {"kind": "A", "plural": "as"}
    return {"metadata": {"name": "as"}, "spec": {"group": "example.com", "names": names, "versions": versions, **spec}}


OBJECT = {"apiVersion": "example.com/v1", "kind": "A", "metadata": {"name": "one", "namespace": "ns"}}


@pytest.mark.parametrize(
    ("schema", "spec", "want"),
    [
        pytest.param({"type": "integer", "maximum": 9}, 10,
                     "[].spec: Invalid value: 10: spec in body should be less than or equal to 9",
                     id="catalog.md 8.11.133: replicas at most 9"),
        pytest.param({"type": "object", "required": ["a", "b"]}, {"c": 1},
                     "[[].spec.a: Required value, [].spec.b: Required value]",
                     id="catalog.md 8.11.133: required fields are listed"),
    ],
)  # fmt: skip
def test_an_object_that_does_not_fit_is_reported_as_olm_does(schema: Manifest, spec: object, want: str) -> None:
    new = a_crd(schema)
    [misfit] = stored.misfits(new, KIND, [OBJECT | {"spec": spec}, OBJECT])
    assert misfit.sentence(new) == (
        'error validating existing CRs against new CRD\'s schema for "as": error validating example.com/v1, Kind=A '
        f'"ns/one": updated validation is too restrictive: {want}'
    )


@pytest.mark.parametrize(
    ("schema", "spec"),
    [
        pytest.param({"x-kubernetes-int-or-string": True}, "5%", id="catalog.md 8.11.134: a percentage"),
        pytest.param({"additionalProperties": {"type": "string"}}, {"a": "b"}, id="catalog.md 8.11.134: a label map"),
    ],
)
def test_an_object_that_fits(schema: Manifest, spec: object) -> None:
    assert list(stored.misfits(a_crd(schema), KIND, [OBJECT | {"spec": spec}])) == []


def test_of_any_objects_only_those_of_the_definition_count() -> None:
    old, new = a_crd({}), a_crd({"type": "integer"})
    others = [OBJECT | {"kind": "B"}, OBJECT | {"apiVersion": "example.com/v2"}]
    [misfit] = stored.stored_misfits(old, new, [OBJECT | {"spec": "x"}, *(one | {"spec": "x"} for one in others)])
    [problem] = misfit.problems
    assert (problem.version, problem.path) == ("v1", "^.spec")
    assert problem.line == (
        'v1: ^.spec: storedObject: ns/one: Invalid value: "string": spec in body must be of type integer: "string"'
    )


def test_what_is_about_a_whole_object_has_the_path_of_the_root() -> None:
    [misfit] = stored.misfits(a_crd({"not": {}}), KIND, [OBJECT | {"spec": 1}])
    assert [problem.path for problem in misfit.problems] == ["^"]


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
    assert list(stored.to_check(old, new)) == want
