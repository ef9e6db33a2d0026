"""Values as Go's types hold them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.domain.go.encode import json_text
from shared.domain.go_types.engine import MisfitError
from shared.domain.go_types.plain import PLAIN

MINIMAL: dict[str, Any] = {
    "metadata": {},
    "spec": {
        "install": {"strategy": "", "spec": {"deployments": None}},
        "version": "0.0.0",
        "customresourcedefinitions": {},
        "apiservicedefinitions": {},
        "displayName": "",
        "provider": {},
        "cleanup": {"enabled": False},
    },
    "status": {"cleanup": {}},
}


def test_an_empty_version_has_what_go_never_leaves_out_in_its_order() -> None:
    found = PLAIN.read({}, "ClusterServiceVersion")
    assert json_text(found, is_sorted=False) == json.dumps(MINIMAL, separators=(",", ":"))


def a_container(**fields: object) -> Any:
    template = {"spec": {"containers": [{"name": "c", **fields}]}}
    found = PLAIN.read({"selector": None, "template": template}, "DeploymentSpec")
    return found["template"]["spec"]["containers"][0]


@pytest.mark.parametrize(
    ("given", "desired"),
    [
        pytest.param({"image": "", "command": []}, {}, id="empty fields are left out"),
        pytest.param({"unknown": 1}, {}, id="unknown fields are dropped"),
        pytest.param({"IMAGE": "a", "image": "b"}, {"image": "b"}, id="the exact name counts most"),
        pytest.param({"IMAGE": "a"}, {"image": "a"}, id="names are the same in upper case"),
        pytest.param({"tty": True}, {"tty": True}, id="a boolean"),
        pytest.param({"env": [{"name": "A", "value": ""}]}, {"env": [{"name": "A"}]}, id="an empty value"),
        pytest.param({"env": [None]}, {"env": [{"name": ""}]}, id="null in a list is the empty object"),
        pytest.param({"args": [None]}, {"args": [""]}, id="null in a list is the empty text"),
        pytest.param(
            {"securityContext": {"runAsNonRoot": False, "procMount": ""}},
            {"securityContext": {"runAsNonRoot": False, "procMount": ""}},
            id="what may be absent is written when it is there",
        ),
        pytest.param({"securityContext": None}, {}, id="null is absent"),
        pytest.param(
            {"livenessProbe": {"httpGet": {"port": 8080}}},
            {"livenessProbe": {"httpGet": {"port": 8080}}},
            id="a port that is a number",
        ),
        pytest.param(
            {"livenessProbe": {"httpGet": {"port": "web"}}},
            {"livenessProbe": {"httpGet": {"port": "web"}}},
            id="a port that is text",
        ),
        pytest.param(
            {"livenessProbe": {"httpGet": {}}},
            {"livenessProbe": {"httpGet": {"port": 0}}},
            id="a port that is not there",
        ),
        pytest.param(
            {"env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]},
            {"env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}}]},
            id="a quantity is never empty",
        ),
        pytest.param(
            {"resources": {"limits": {"memory": "1024Mi", "cpu": 0.5}}},
            {"resources": {"limits": {"cpu": "500m", "memory": "1Gi"}}},
            id="quantities get their one text",
        ),
        pytest.param(
            {"resources": {"limits": {"memory": None}}}, {"resources": {"limits": {"memory": "0"}}}, id="no quantity"
        ),
    ],
)
def test_a_container_is_written_as_go_does(given: dict[str, object], desired: dict[str, object]) -> None:
    assert a_container(**given) == {"name": "c", "resources": {}} | desired


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param({"image": 3}, "image: wanted text, got a number", id="a number for text"),
        pytest.param({"tty": "yes"}, "tty: wanted boolean, got text", id="text for a boolean"),
        pytest.param({"ports": {}}, "ports: wanted a list, got an object", id="an object for a list"),
        pytest.param({"ports": [3]}, "ports[0]: wanted an object, got a number", id="a number for an object"),
        pytest.param(
            {"ports": [{"containerPort": True}]}, "ports[0].containerPort: wanted integer, got a boolean", id="boolean"
        ),
        pytest.param(
            {"ports": [{"containerPort": 2**31}]}, "ports[0].containerPort: 2147483648 does not fit", id="32 bits"
        ),
        pytest.param({"resources": []}, "resources: wanted an object, got a list", id="a list for an object"),
        pytest.param({"resources": {"limits": 3}}, "resources.limits: wanted an object", id="a number for a map"),
        pytest.param(
            {"resources": {"limits": {"cpu": "x"}}}, "resources.limits.cpu: 'x' is no quantity", id="no quantity"
        ),
        pytest.param(
            {"resources": {"limits": {"cpu": True}}}, "resources.limits.cpu: wanted a quantity", id="boolean quantity"
        ),
        pytest.param(
            {"livenessProbe": {"httpGet": {"port": []}}},
            "livenessProbe.httpGet.port: wanted integer, got a list",
            id="no port",
        ),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_with_its_place(given: dict[str, object], words: str) -> None:
    with pytest.raises(MisfitError) as refused:
        a_container(**given)
    assert f"template.spec.containers[0].{words}" in str(refused.value)


def a_spec(**fields: object) -> Any:
    return PLAIN.read(fields, "ClusterServiceVersionSpec", "spec")


@pytest.mark.parametrize(
    ("fields", "desired"),
    [
        pytest.param({"version": "v1.2"}, {"version": "1.2.0"}, id="a careless version"),
        pytest.param({"MinKubeVersion": "1.20.0"}, {"minKubeVersion": "1.20.0"}, id="another case"),
        pytest.param(
            {"skips": None, "SKIPS": ["a"], "maturity": None, "MATURITY": "a"}, {"maturity": "a"}, id="null last"
        ),
        pytest.param({"release": "1.alpha"}, {"release": "1.alpha"}, id="a release"),
        pytest.param({"labels": {"b": "1", "a": None}}, {"labels": {"a": "", "b": "1"}}, id="labels"),
    ],
)
def test_a_specification_is_written_as_go_does(fields: dict[str, object], desired: dict[str, object]) -> None:
    assert a_spec(**fields) == MINIMAL["spec"] | desired


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param({"version": 1.0}, "spec.version: wanted text, got a number", id="a number for a version"),
        pytest.param({"version": "one"}, "spec.version: 'one' is no version", id="a word for a version"),
        pytest.param({"version": ""}, "spec.version: '' is no version", id="an empty version"),
        pytest.param({"version": None}, "spec.version: wanted text, got nothing", id="null for a version"),
        pytest.param({"release": 7}, "spec.release: wanted text, got a number", id="a number for a release"),
        pytest.param({"release": ""}, "spec.release: '' is no release: Prerelease is empty", id="an empty release"),
        pytest.param({"keywords": "a"}, "spec.keywords: wanted a list, got text", id="text for a list"),
        pytest.param({"labels": {"a": {}}}, "spec.labels.a: wanted text, got an object", id="an object for a label"),
    ],
)
def test_a_specification_of_the_wrong_shape_is_refused(fields: dict[str, object], words: str) -> None:
    with pytest.raises(MisfitError, match=r"^spec") as refused:
        a_spec(**fields)
    assert words in str(refused.value)


def test_the_name_of_the_type_stands_for_a_place_at_the_top() -> None:
    with pytest.raises(MisfitError, match="ObjectMeta: wanted an object, got text"):
        PLAIN.read("x", "ObjectMeta")


@pytest.mark.parametrize("value", [None, "x"])
def test_any_json_stays_as_it_is(value: object) -> None:
    descriptor = {"path": "a", "value": {"b": [1.5, None], "a": value}}
    assert PLAIN.read(descriptor, "Descriptor") == descriptor


def test_a_time_is_written_in_universal_time() -> None:
    assert PLAIN.read({"creationTimestamp": "2020-01-01T01:00:00+01:00"}, "ObjectMeta") == {
        "creationTimestamp": "2020-01-01T00:00:00Z"
    }
    assert PLAIN.read({"creationTimestamp": None}, "ObjectMeta") == {}
    for text in ("x", "2020-01-01", "2020-13-01T00:00:00Z"):
        with pytest.raises(MisfitError, match=f"creationTimestamp: '{text}' is no time"):
            PLAIN.read({"creationTimestamp": text}, "ObjectMeta")
