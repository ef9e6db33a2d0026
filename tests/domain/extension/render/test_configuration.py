"""What may be configured about a bundle, and what is said of the rest (v1.md §17)."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from shared.domain.extension.render.schema import time_problem
from shared.domain.shape import InvalidRequest
from tests.domain.extension.render.bundles import GATES, MODES, Json, a_csv, ask, objects, only

PREFIX = "terminal error: invalid ClusterExtension configuration: invalid configuration: "
OWN, SINGLE, MULTI, ALL = MODES
MISSING = 'required field "watchNamespace" is missing'
UNKNOWN = 'unknown field "watchNamespace"'
PATTERN = '"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"'
NOT_OWN = (
    "invalid format for field \"watchNamespace\": 'other' is not valid ownNamespaceInstallMode: invalid value "
    '"other": must be "ops" (the namespace where the operator is installed) because this operator only supports '
    "OwnNamespace install mode"
)
NOT_OTHER = (
    "invalid format for field \"watchNamespace\": 'ops' is not valid singleNamespaceInstallMode: invalid value "
    '"ops": must be different from "ops" (the install namespace) because this operator uses SingleNamespace install '
    "mode to watch a different namespace"
)


def explained(modes: tuple[str, ...], config: Any, **request: Any) -> str:
    response = ask(a_csv(*modes), config=config, **request)
    assert response["terminal"] is True
    assert response["error"].startswith(PREFIX)
    return str(response["error"]).removeprefix(PREFIX)


def several(*lines: str) -> str:
    return "".join(("multiple errors found:", *(f"\n  - {line}" for line in lines)))


def alternatives(why: str) -> str:
    """An optional namespace is nothing or a good name, and this is neither."""
    field = '"watchNamespace"'
    return several(f"invalid value for field {field}", f"invalid type for field {field}: got string, want null", why)


@pytest.mark.parametrize("modes", [(ALL,), (ALL, MULTI)])
def test_v1_md_17_no_watch_namespace_where_only_all_are_watched(modes: tuple[str, ...]) -> None:
    assert explained(modes, {"watchNamespace": "other"}) == UNKNOWN
    assert objects(a_csv(*modes), config={})


@pytest.mark.parametrize(
    "modes", [(OWN,), (MULTI, OWN), (SINGLE,), (SINGLE, OWN), (SINGLE, MULTI), (SINGLE, OWN, MULTI)]
)
@pytest.mark.parametrize("config", [None, {}, {"watchNamespace": None}], ids=["no config", "empty", "null"])
def test_v1_md_17_a_namespace_is_required_where_not_all_can_be_watched(modes: tuple[str, ...], config: Any) -> None:
    assert explained(modes, config) == MISSING


@pytest.mark.parametrize(
    ("modes", "namespace"),
    [
        *product([(SINGLE,), (ALL, SINGLE), (MULTI, SINGLE), (OWN, SINGLE), (ALL, OWN, SINGLE)], ["other"]),
        *product([(OWN,), (ALL, OWN), (OWN, SINGLE), (ALL, OWN, SINGLE)], ["ops"]),
    ],
)
def test_v1_md_17_a_fitting_namespace_is_watched(modes: tuple[str, ...], namespace: str) -> None:
    deployment = only(a_csv(*modes), config={"watchNamespace": namespace}, kind="Deployment")
    assert deployment["spec"]["template"]["metadata"]["annotations"]["olm.targetNamespaces"] == namespace


@pytest.mark.parametrize(
    ("modes", "namespace", "want"),
    [
        ((SINGLE,), "ops", NOT_OTHER),
        ((MULTI, SINGLE), "ops", NOT_OTHER),
        ((ALL, SINGLE), "ops", alternatives(NOT_OTHER)),
        ((OWN,), "other", NOT_OWN),
        ((ALL, OWN), "other", alternatives(NOT_OWN)),
        ((OWN, SINGLE), "Bad_", f'field "watchNamespace" must match pattern {PATTERN}'),
        ((OWN, SINGLE), "x" * 64, 'field "watchNamespace" must have maximum length of 63 (len=64)'),
        ((OWN, SINGLE), "", several('field "watchNamespace" must have minimum length of 1 (len=0)',
                                    f'field "watchNamespace" must match pattern {PATTERN}')),
        ((OWN, SINGLE), {"a": 1}, 'invalid type for field "watchNamespace": got object, want string'),
        ((OWN, SINGLE), 1, 'invalid type for field "watchNamespace": got number, want string'),
        ((OWN, SINGLE, ALL), "", alternatives("validation failed") + "\n  - field \"watchNamespace\" must have minimum "
         f'length of 1 (len=0)\n  - field "watchNamespace" must match pattern {PATTERN}'),
    ],
)  # fmt: skip
def test_v1_md_17_any_other_namespace_is_refused(modes: tuple[str, ...], namespace: object, want: str) -> None:
    assert explained(modes, {"watchNamespace": namespace}) == want


@pytest.mark.parametrize("modes", [(ALL, OWN), (ALL, OWN, MULTI), (ALL, SINGLE)])
@pytest.mark.parametrize("config", [None, {}, {"watchNamespace": None}])
def test_v1_md_17_an_optional_namespace_may_be_absent_or_null(modes: tuple[str, ...], config: Any) -> None:
    deployment = only(a_csv(*modes), config=config, kind="Deployment")
    assert deployment["spec"]["template"]["metadata"]["annotations"]["olm.targetNamespaces"] == ""


@pytest.mark.parametrize("mode", [OWN, SINGLE])
def test_v1_md_17_without_install_namespace_nothing_is_compared(mode: str) -> None:
    response = ask(a_csv(mode), config={"watchNamespace": "any"}, installNamespace="")
    assert "terminal error" not in str(response.get("error"))


@pytest.mark.parametrize(
    ("config", "kind"), [(True, "boolean"), ([], "array"), ("x", "string"), (1, "number"), (1.5, "number")]
)
def test_v1_md_17_a_configuration_is_an_object(config: object, kind: str) -> None:
    assert explained((ALL,), config) == f"invalid type: got {kind}, want object"


def test_v1_md_30_all_unknown_fields_are_told_sorted() -> None:
    assert explained((ALL,), {"b": 1, "a": 1}) == several('unknown field "a"', 'unknown field "b"')


def test_v1_md_17_without_its_gate_deployment_config_is_unknown() -> None:
    gates = {**GATES, "DeploymentConfig": False}
    assert explained((ALL,), {"deploymentConfig": {}}, gates=gates) == 'unknown field "deploymentConfig"'


def test_v1_md_17_quirk_without_gate_and_config_nothing_is_checked() -> None:
    assert objects(a_csv(*MODES), gates={})
    assert explained((ALL,), {"x": 1}, gates={}) == 'unknown field "x"'


WRONG: list[tuple[Json | None, str]] = [
    (None, 'required field "deploymentConfig" is missing'),
    ({"selector": {}}, 'unknown field "selector"'),
    ({"env": "x"}, 'invalid type for field "deploymentConfig.env": got string, want array'),
    ({"env": [{"value": "1"}]}, "validation failed"),
    ({"env": [{"value": 1}]}, several(
        "validation failed", 'required field "name" is missing',
        'invalid type for field "deploymentConfig.env.0.value": got number, want string')),
    ({"env": [{"value": "1"}], "x/y~": 1}, several("validation failed", 'unknown field "x/y~"')),
    ({"annotations": {"a/b": 1}},
     'invalid type for field "deploymentConfig.annotations.a~1b": got number, want string'),
    ({"annotations": None}, 'required field "deploymentConfig.annotations" is missing'),
    ({"tolerations": [{"tolerationSeconds": 1.5}]}, "validation failed"),
    ({"env": [{"name": "A", "valueFrom": {"fieldRef": {}}}]}, "validation failed"),
    ({"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": "1"}]}}},
     "validation failed"),
    ({"resources": {"limits": {"cpu": True}}}, "validation failed"),
    ({"resources": 5, "nodeSelector": 5}, several(
        'invalid type for field "deploymentConfig.nodeSelector": got number, want object', "validation failed")),
]  # fmt: skip


@pytest.mark.parametrize(("config", "want"), WRONG)
def test_v1_md_17_a_wrong_deployment_config_is_reported_by_its_place(config: Json | None, want: str) -> None:
    assert explained((ALL,), {"deploymentConfig": config}) == want


def volume(**source: Any) -> Json:
    return {"deploymentConfig": {"volumes": [{"name": "v", **source}]}}


def claim(**spec: Any) -> Json:
    return volume(ephemeral={"volumeClaimTemplate": {"spec": spec}})


@pytest.mark.parametrize(
    "config",
    [
        volume(projected={}),
        claim(dataSource={"kind": "Snapshot", "name": "s"}),
        claim(dataSourceRef={"kind": "Snapshot", "name": "s"}),
    ],
)
def test_fields_that_go_always_writes_need_not_be_stated(config: Json) -> None:
    assert objects(config=config)


def test_fields_that_go_leaves_out_when_empty_may_have_to_be_stated() -> None:
    assert explained((ALL,), volume(projected={"sources": [{"podCertificate": {}}]})) == "validation failed"


NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"resources": {"limits": {"cpu": "abc"}}}, NO_QUANTITY),
        ({"resources": {"limits": {"cpu": ""}}}, NO_QUANTITY),
        ({"resources": {"limits": {"cpu": "1KK"}}}, "unable to parse quantity's suffix"),
        ({"tolerations": [{"tolerationSeconds": 99999999999999999999}]},
         ("json: cannot unmarshal number 100000000000000000000 into Go struct field "
         "Toleration.tolerations.tolerationSeconds of type int64")),
    ],
)  # fmt: skip
def test_v1_md_17_what_only_go_refuses_is_reported_in_its_words(config: Json, why: str) -> None:
    response = ask(config={"deploymentConfig": config})
    want = f"terminal error: invalid deploymentConfig: failed to unmarshal deploymentConfig: {why}"
    assert response == {"error": want, "terminal": True}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2026-01-02T03:04:05Z", ""),
        ("2026-01-02t23:59:60.5+01:00", ""),
        ("2026", "less than 20 characters long"),
        ("2026-01-02 03:04:05Z", "11th character must be t or T"),
        ("2026-13-02T03:04:05Z", 'invalid date element: parsing time "2026-13-02" as "2006-01-02"'),
        ("2026-01-02T03-04-05Z", "invalid time element: missing colon in correct place"),
        ("2026-01-02T24:04:05Z", "invalid time element: hour/min/sec out of range"),
    ],
)
def test_points_in_time_have_a_form(text: str, why: str) -> None:
    assert time_problem(text) == why


def test_a_wrong_time_deep_inside_is_reported_by_the_schema_around_it() -> None:
    claim = {"metadata": {"creationTimestamp": "2020"}, "spec": {}}
    volume = {"name": "v", "ephemeral": {"volumeClaimTemplate": claim}}
    assert explained((ALL,), {"deploymentConfig": {"volumes": [volume]}}) == "validation failed"


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({"gates": []}, "gates: wanted an object, got a list"),
        ({"certProvider": "magic"}, ("certProvider 'magic' is not known; known are none, cert-manager, "
         "openshift-service-ca")),
    ],
)  # fmt: skip
def test_a_request_that_cannot_be_understood_states_why(document: Json, why: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        ask(**document)
    assert str(caught.value) == why
