"""Whether objects are ready (v1.md §21.5)."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.extension.phases.probes import DEFAULT_PROBES, Result, UnknownProbe, probe

Object = dict[str, Any]


def an_object(kind: str = "ConfigMap", api: str = "v1", **more: Any) -> Object:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "a", "generation": 2, "labels": {"a": "b"}}, **more}


def condition(kind: str, status: str = "True", **more: Any) -> Object:
    return {"conditions": [{"type": "Other", "status": "False"}, {"type": kind, "status": status, **more}]}


def asserting(**declared: Any) -> list[Object]:
    [(name, body)] = declared.items()
    assertion = {"type": name[0].upper() + name[1:], name: body}
    return [{"selector": {"type": "GroupKind", "groupKind": {"kind": "ConfigMap"}}, "assertions": [assertion]}]


READY = asserting(conditionEqual={"type": "Ready", "status": "True"})
EQUAL = asserting(fieldsEqual={"fieldA": "status.a", "fieldB": ".status.b"})
VALUE = asserting(fieldValue={"fieldPath": "data.foo", "value": "bar"})


def blocked(by: str) -> Result:
    what = f'error locating key "data.foo"; .data.foo accessor error: {by}, expected map[string]interface{{}}'
    return Result("False", (what,))


DONE = {"updatedReplicas": 2, "replicas": 2}


@pytest.mark.parametrize(
    ("manifest", "want"),
    [
        (an_object("CustomResourceDefinition", "apiextensions.k8s.io/v1", status=condition("Established")), "True"),
        (an_object("CustomResourceDefinition", "apiextensions.k8s.io/v1"), "Unknown"),
        (an_object("Certificate", "cert-manager.io/v1", status=condition("Ready")), "True"),
        (an_object("Issuer", "cert-manager.io/v1", status=condition("Ready", "False")), "False"),
        (an_object("Namespace", status={"phase": "Active"}), "True"),
        (an_object("Namespace", status={"phase": "Terminating"}), "False"),
        (an_object("PersistentVolumeClaim", status={"phase": "Bound"}), "True"),
        (an_object("PersistentVolumeClaim", status={"phase": "Pending"}), "False"),
        (an_object("Deployment", "apps/v1", status={**DONE, **condition("Available")}), "True"),
        (an_object("Deployment", "apps/v1", status={**DONE, "replicas": 3, **condition("Available")}), "False"),
        (an_object("StatefulSet", "apps/v1", status=DONE), "Unknown"),
        (an_object("DaemonSet", "apps/v1"), "True"),
    ],
    ids=lambda value: f"v1.md 21.5: {value['kind']}" if isinstance(value, dict) else None,
)
def test_default_probes(manifest: Object, want: str) -> None:
    assert probe(manifest, DEFAULT_PROBES).status == want


@pytest.mark.parametrize(
    ("manifest", "probes", "want"),
    [
        pytest.param(
            an_object(), READY, Result("Unknown", ("missing .status.conditions",)), id="ConditionEqual: no conditions"
        ),
        pytest.param(
            an_object(status={"conditions": {}}), READY, Result("Unknown", ("malformed .status.conditions",)),
            id="ConditionEqual: conditions that are no list",
        ),
        pytest.param(
            an_object(status={"conditions": ["x"]}), READY, Result("Unknown", ("malformed .status.conditions",)),
            id="ConditionEqual: a condition that is none",
        ),
        pytest.param(
            an_object(status=condition("Else")), READY, Result("Unknown", ('missing .status.condition["Ready"]',)),
            id="ConditionEqual: another condition",
        ),
        pytest.param(
            an_object(status=condition("Ready", observedGeneration=1)), READY,
            Result("Unknown", ('.status.condition["Ready"] outdated',)), id="ConditionEqual: an old condition",
        ),
        pytest.param(
            an_object(status=condition("Ready", observedGeneration=2)), READY,
            Result("True", ('.status.condition["Ready"] is True',)), id="ConditionEqual: as wanted",
        ),
        pytest.param(
            an_object(status=condition("Ready", "Unknown")), READY,
            Result("False", ('.status.condition["Ready"] is Unknown',)), id="ConditionEqual: another status",
        ),
        pytest.param(an_object(), EQUAL, Result("False", ('"status.a" missing',)), id="FieldsEqual: the first"),
        pytest.param(
            an_object(status={"a": 1}), EQUAL, Result("False", ('".status.b" missing',)), id="FieldsEqual: the second"
        ),
        pytest.param(
            an_object(status={"a": 1, "b": {"c": "<"}}), EQUAL,
            Result("False", ('"status.a" != ".status.b" expected: 1 got: {"c":"\\u003c"}',)),
            id="FieldsEqual: different",
        ),
        pytest.param(
            an_object(status={"a": 1, "b": 1}), EQUAL, Result("True", ('"status.a" == ".status.b"',)),
            id="FieldsEqual: the same",
        ),
        pytest.param(
            an_object(status={"a": 1, "b": True}), EQUAL,
            Result("False", ('"status.a" != ".status.b" expected: 1 got: true',)), id="FieldsEqual: 1 is not true",
        ),
        pytest.param(an_object(), VALUE, Result("False", ('missing key: "data.foo"',)), id="FieldValue: missing"),
        pytest.param(
            an_object(data=None), VALUE, Result("False", ('missing key: "data.foo"',)), id="FieldValue: nothing above"
        ),
        pytest.param(
            an_object(data=["x"]), VALUE,
            blocked('["x"] is of the type []interface {}'),
            id="FieldValue: a list above",
        ),
        pytest.param(
            an_object(data="x"), VALUE,
            blocked('x is of the type string'),
            id="FieldValue: a text above",
        ),
        pytest.param(
            an_object(data={"foo": "foo"}), VALUE,
            Result("False", ('value at key "data.foo" != "bar"; expected: "bar" got: "foo"',)),
            id="v1.md 26.9 V3: FieldValue: another value",
        ),
        pytest.param(
            an_object(data={"foo": 5}), asserting(fieldValue={"fieldPath": "data.foo", "value": "5"}),
            Result("False", ('value at key "data.foo" != "5"; expected: "5" got: 5',)),
            id="FieldValue: a number never equals",
        ),
        pytest.param(
            an_object(data={"foo": "bar"}), VALUE, Result("True", ('value at key "data.foo" == "bar"',)),
            id="FieldValue: as wanted",
        ),
        pytest.param(
            an_object(status={"observedGeneration": 1}), VALUE, Result("Unknown", (".status outdated",)),
            id="an old status",
        ),
        pytest.param(
            an_object(status={"observedGeneration": "1"}, data={"foo": "bar"}), VALUE,
            Result("True", ('value at key "data.foo" == "bar"',)), id="a generation that is no number",
        ),
        pytest.param(
            an_object("Secret"), VALUE, Result("True"), id="a selector that does not match: skipped"
        ),
        pytest.param(
            an_object(), [*READY, *EQUAL], Result("Unknown", ("missing .status.conditions",)),
            id="AND: Unknown wins, with its messages only",
        ),
        pytest.param(
            an_object(data={"foo": "bar"}), [*VALUE, *EQUAL], Result("False", ('"status.a" missing',)),
            id="AND: then False",
        ),
        pytest.param(an_object(), [], Result("True"), id="no probes"),
    ],
)  # fmt: skip
def test_v1_md_21_5_assertions(manifest: Object, probes: list[Object], want: Result) -> None:
    assert probe(manifest, probes) == want


@pytest.mark.parametrize(("value", "want"), [("b", "False"), ("c", "True")])
def test_v1_md_26_9_v4_a_label_selector(value: str, want: str) -> None:
    selector = {"type": "Label", "label": {"matchLabels": {"a": value}}}
    assert probe(an_object(), [{**VALUE[0], "selector": selector}]).status == want


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ({"selector": {"type": "Else"}}, "unknown progressionProbe selector type: Else"),
        (
            {**VALUE[0], "assertions": [{"type": "Else"}]},
            "unknown progressionProbe assertion probe type: Else",
        ),
    ],
)
def test_probes_of_unknown_types(declared: Object, why: str) -> None:
    with pytest.raises(UnknownProbe, match=why):
        probe(an_object(), [declared])
