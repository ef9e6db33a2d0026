"""What the definitions of OLM v1 refuse, and in which words (v1.md §2.3, §10.3, §21.1)."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from shared.api import cluster_catalog, cluster_extension, cluster_object_set
from shared.api.expressions import V1
from shared.api.schema import custom_resource_definition
from tests.conformance.api.objects import DEFINITIONS, a_definition, a_widget, define
from tests.conformance.http import Answer, Api
from tests.kit.waiting import wait_for

Json = Any
BASE = f"/apis/{V1}/v1"
DIGEST = "sha256:" + "a1" * 32
DRY = "?dryRun=All"


@pytest.fixture(scope="session")
def v1(http: Api) -> Api:
    """The target with the definitions of OLM v1."""
    for one in (cluster_catalog, cluster_extension, cluster_object_set):
        if http.get(f"{DEFINITIONS}/{one.DEFINITION.name}").status == 404:
            define(http, custom_resource_definition(one.DEFINITION))
    return http


def _is_invalid(answer: Answer, *sentences: str) -> None:
    assert (answer.status, answer.body["reason"]) == (422, "Invalid"), answer.body
    for sentence in sentences:
        assert sentence in answer.body["message"]


def a_catalog(ref: str, name: str = "c", **image: Json) -> Json:
    source = {"type": "Image", "image": {"ref": ref, **image}}
    return {"apiVersion": f"{V1}/v1", "kind": "ClusterCatalog", "metadata": {"name": name}, "spec": {"source": source}}


def an_extension(**catalog: Json) -> Json:
    return {
        "apiVersion": f"{V1}/v1", "kind": "ClusterExtension", "metadata": {"name": "e"},
        "spec": {"namespace": "ns", "source": {"sourceType": "Catalog", "catalog": {"packageName": "p", **catalog}}},
    }  # fmt: skip


def an_object_set(**spec: Json) -> Json:
    whole = {"lifecycleState": "Active", "revision": 1, "collisionProtection": "Prevent", **spec}
    kept = {key: value for key, value in whole.items() if value is not None}
    return {"apiVersion": f"{V1}/v1", "kind": "ClusterObjectSet", "metadata": {"name": "s"}, "spec": kept}


def _try(v1: Api, body: Json) -> Answer:
    return v1.post(f"{BASE}/{body['kind'].lower()}s{DRY}", body)


def _with(body: Json, path: str, value: Json) -> Json:
    *way, last = path.split(".")
    inner = body["spec"]
    for name in way:
        inner = inner.setdefault(name, {})
    inner[last] = value
    return body


@pytest.mark.parametrize(
    ("ref", "why"),
    [
        (f"-quay+docker/foo/bar@{DIGEST}", "must start with a valid domain"),
        (f"docker.io/FOO/BAR@{DIGEST}", "a valid name is required"),
        ("docker.io:8080", "a valid name is required"),
        ("docker.io/foo/bar@99-problems:" + "a" * 40, "digest algorithm is not valid"),
        ("docker.io/foo/bar@sha256:abcd", "the encoded string must be at least 32 characters"),
        ("docker.io/foo/bar@sha256:" + "XYZ" * 20, "the encoded string must only contain hex characters"),
        ("docker.io/foo/bar", "must end with a digest or a tag"),
        ("docker.io/foo/bar:" + "x" * 128, "the tag must not be more than 127 characters"),
        ("docker.io/foo/bar:-foo_bar-", "valid tags must begin with a word character"),
        ("docker.io/foo/" + "b" * 1000 + ":v1", "Too long"),
    ],
)
def test_v1_md_2_3_a_reference_is_refused(v1: Api, ref: str, why: str) -> None:
    _is_invalid(_try(v1, a_catalog(ref)), "spec.source.image.ref: ", why)


def test_a_refusal_shows_the_value_and_the_whole_rule(v1: Api) -> None:
    answer = _try(v1, a_catalog("docker.io/foo/bar"))
    assert answer.body["message"] == (
        f'ClusterCatalog.{V1} "c" is invalid: spec.source.image.ref: Invalid value: "docker.io/foo/bar": '
        "must end with a digest or a tag"
    )
    assert [cause["reason"] for cause in answer.body["details"]["causes"]] == ["FieldValueInvalid"]


@pytest.mark.parametrize(
    "ref",
    [
        "docker.io/foo/bar:v1.0.0", f"docker.io/foo/bar@{DIGEST}", "docker.io/foo/bar:latest-",
        "my-subdomain.docker.io:8080/foo/bar:latest", "localhost:5000/a:b", "docker.io/a_b/c__d/e-f.g:1",
    ],
)  # fmt: skip
def test_v1_md_2_3_a_reference_is_taken(v1: Api, ref: str) -> None:
    answer = _try(v1, a_catalog(ref))
    assert answer.status == 201, answer.body
    assert (answer.body["spec"]["priority"], answer.body["spec"]["availabilityMode"]) == (0, "Available")


def test_v1_md_2_3_only_tags_are_polled(v1: Api) -> None:
    why = "cannot specify pollIntervalMinutes while using digest-based image"
    _is_invalid(_try(v1, a_catalog(f"docker.io/foo/bar@{DIGEST}", pollIntervalMinutes=5)), "spec.source.image: ", why)
    assert _try(v1, a_catalog("docker.io/foo/bar:v1.0.0", pollIntervalMinutes=5)).status == 201
    _is_invalid(_try(v1, a_catalog("docker.io/foo/bar:v1.0.0", pollIntervalMinutes=0)), "pollIntervalMinutes")


def test_v1_md_2_1_a_source_of_type_image_has_one(v1: Api) -> None:
    body = _with(a_catalog("a.b/c:d"), "source", {"type": "Image"})
    _is_invalid(_try(v1, body), "spec.source: ", "image is required when source type is Image, and forbidden otherwise")
    _is_invalid(_try(v1, _with(a_catalog("a.b/c:d"), "source.type", "Git")), "Unsupported value")
    _is_invalid(_try(v1, _with(a_catalog("a.b/c:d"), "priority", 2**31)), "spec.priority")
    _is_invalid(_try(v1, _with(a_catalog("a.b/c:d"), "availabilityMode", "Never")), "Unsupported value")


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ({"urls": {"base": "file://somefilepath"}}, "scheme must be either http or https"),
        ({"urls": {"base": "notevenarealURL"}}, "must be a valid URL"),
        ({"resolvedSource": {"type": "Image", "image": {"ref": "docker.io/a/b:v1"}}}, "must end with a digest"),
        ({"urls": {"base": "https://svc/catalogs/c"}}, ""),
        ({"resolvedSource": {"type": "Image", "image": {"ref": f"docker.io/a/b@{DIGEST}"}}}, ""),
    ],
    ids=["scheme", "no URL", "tag", "URL", "digest"],
)
def test_v1_md_2_3_a_status_is_checked(v1: Api, word: str, status: Json, why: str) -> None:
    made = v1.post(f"{BASE}/clustercatalogs", a_catalog("docker.io/a/b:v1", word))
    answer = v1.put(f"{BASE}/clustercatalogs/{word}/status{DRY}", {**made.body, "status": status})
    v1.delete(f"{BASE}/clustercatalogs/{word}")
    if why:
        _is_invalid(answer, "status.", why)
    else:
        assert answer.status == 200, answer.body


@pytest.mark.parametrize(
    "name", ["hyphen-ated", "some.package", "0my-1package-9name", "123", "a", "1", "a" * 253], ids=str
)
def test_v1_md_10_3_a_package_name_is_taken(v1: Api, name: str) -> None:
    assert _try(v1, an_extension(packageName=name)).status == 201


@pytest.mark.parametrize(
    "name", ["", "-", "-a", "a-", ".some.package", "a.-b", "UPPER", "camelCase", "a b", "$a", "a_b"], ids=repr
)
def test_v1_md_10_3_a_package_name_is_refused(v1: Api, name: str) -> None:
    _is_invalid(_try(v1, an_extension(packageName=name)), "packageName must be a valid DNS1123 subdomain.")


def test_v1_md_10_3_lengths(v1: Api) -> None:
    _is_invalid(_try(v1, an_extension(packageName="a" * 254)), "Too long: may not be more than 253")
    channels = _try(v1, an_extension(channels=["a" * 254]))
    _is_invalid(channels, "spec.source.catalog.channels[0]: Too long: may not be more than 253")
    _is_invalid(
        _try(v1, _with(an_extension(), "namespace", "a" * 64)), "spec.namespace: Too long: may not be more than 63"
    )
    _is_invalid(_try(v1, an_extension(version="1" * 65)), "spec.source.catalog.version: Too long")


@pytest.mark.parametrize("name", ["", "a b", "Caps", "camelCase", "many/invalid$characters+in_name", "-a", "a-", ".a"])
def test_v1_md_10_3_a_channel_is_refused(v1: Api, name: str) -> None:
    answer = _try(v1, an_extension(channels=["ok", name]))
    _is_invalid(answer, "spec.source.catalog.channels[1]: ", "channels entries must be valid DNS1123 subdomains")


@pytest.mark.parametrize("name", ["hyphenated-name", "dotted.name", "channel-has-version-1.0.1"])
def test_v1_md_10_3_a_channel_is_taken(v1: Api, name: str) -> None:
    assert _try(v1, an_extension(channels=[name])).status == 201


@pytest.mark.parametrize("name", ["", "dotted.name", "a b", "Caps", "a_b", "-a", "a-", ".a"])
def test_v1_md_10_3_a_namespace_is_refused(v1: Api, name: str) -> None:
    _is_invalid(_try(v1, _with(an_extension(), "namespace", name)), "namespace must be a valid DNS1123 label")


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("serviceAccount", {}, "spec.serviceAccount in body should have at least 1 properties"),
        ("serviceAccount.name", "", "should be at least 1 chars long"),
        ("serviceAccount.name", "a_b", "name must be a valid DNS1123 subdomain. It must contain only lowercase"),
        ("source.sourceType", "Other", "Unsupported value"),
        ("source", {"sourceType": "Catalog"}, "catalog is required when sourceType is Catalog, and"),
        ("install", {}, "at least one of [preflight] are required when install is specified"),
        ("install.preflight", {}, "Required value"),
        ("install.preflight.crdUpgradeSafety", {"enforcement": "Loose"}, "Unsupported value"),
        ("config", {"configType": "Inline"}, "inline is required when configType is Inline, and forbidden otherwise"),
        ("config", {"configType": "Inline", "inline": "text"}, "spec.config.inline in body must be of type object"),
        ("config", {"configType": "Inline", "inline": {}}, "spec.config.inline in body should have at least 1 "),
        ("progressDeadlineMinutes", 9, "spec.progressDeadlineMinutes"),
        ("progressDeadlineMinutes", 721, "spec.progressDeadlineMinutes"),
    ],
)  # fmt: skip
def test_v1_md_10_3_an_extension_is_refused(v1: Api, path: str, value: Json, why: str) -> None:
    _is_invalid(_try(v1, _with(an_extension(), path, value)), why)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("serviceAccount.name", "a.b"), ("install.preflight.crdUpgradeSafety.enforcement", "None"),
        ("config", {"configType": "Inline", "inline": {"a": 1}}),
        ("config", {"configType": "Inline", "inline": {"a": {"b": [1]}}}), ("progressDeadlineMinutes", 10),
        ("progressDeadlineMinutes", 360), ("progressDeadlineMinutes", 720),
    ],
    ids=str,
)  # fmt: skip
def test_v1_md_10_3_an_extension_is_taken(v1: Api, path: str, value: Json) -> None:
    answer = _try(v1, _with(an_extension(), path, value))
    assert answer.status == 201, answer.body


@pytest.mark.parametrize(
    "version",
    ["1.2.3", ">=1.0.0 <2.0.0", "1.x", "~1.2", "^2", "1.2.3 || 2.0.0", "v1.0.0-rc.1+build", ">=1.0.0, <3", ""],
)
def test_v1_md_15_7_a_range_is_taken(v1: Api, version: str) -> None:
    answer = _try(v1, an_extension(version=version))
    assert (answer.status == 201) is (version != ""), answer.body


@pytest.mark.parametrize("version", ["foobar", "1.2.3.4.5", "01.2.3", "1.2.3-", "1.0 - 2.0", "=>>1", "1..2"])
def test_v1_md_15_7_a_range_is_refused(v1: Api, version: str) -> None:
    _is_invalid(_try(v1, an_extension(version=version)), "invalid version expression")


def test_v1_md_10_1_some_fields_never_change(v1: Api, word: str) -> None:
    body = _with(_with(an_extension(), "serviceAccount.name", "one"), "namespace", "ns")
    body["metadata"]["name"] = word
    path = f"{BASE}/clusterextensions/{word}"
    assert v1.post(f"{BASE}/clusterextensions", body).status == 201
    for spec, why in (
        ({"namespace": "other"}, "namespace is immutable"),
        ({"source": {"catalog": {"packageName": "q"}}}, "packageName is immutable"),
        ({"serviceAccount": {"name": "two"}}, "name is immutable once set but may be cleared"),
    ):
        _is_invalid(v1.patch(path, {"spec": spec}), why)
    assert v1.patch(path, {"spec": {"serviceAccount": None}}).status == 200
    v1.delete(path)


PHASE = {"name": "deploy", "objects": []}
INLINE = {"object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}}
PACKED = {"ref": {"name": "s", "namespace": "ns", "key": "k"}}
PROBE = {
    "selector": {"type": "GroupKind", "groupKind": {"group": "apps", "kind": "Deployment"}},
    "assertions": [{"type": "ConditionEqual", "conditionEqual": {"type": "Available", "status": "True"}}],
}


def _phased(*objects: Json, **phase: Json) -> Json:
    return an_object_set(phases=[{**PHASE, "objects": list(objects), **phase}])


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (an_object_set(revision=0), "spec.revision"),
        (an_object_set(revision=-1), "spec.revision"),
        (an_object_set(lifecycleState=None), "spec.lifecycleState: Required value"),
        (an_object_set(collisionProtection=None), "spec.collisionProtection: Required value"),
        (an_object_set(collisionProtection="Never"), "Unsupported value"),
        (an_object_set(phases=[{**PHASE, "name": f"p{n}"} for n in range(21)]), "Too many"),
        (an_object_set(phases=[PHASE, PHASE]), "Duplicate value"),
        (_phased(*[INLINE] * 51), "Too many"),
        (_phased(name=""), "should be at least 1 chars long"),
        (_phased(name="-a"), "the value must consist of only lowercase alphanumeric characters and hyphens"),
        (_phased({}), "exactly one of the fields in [object ref] must be set"),
        (_phased({**INLINE, **PACKED}), "exactly one of the fields in [object ref] must be set"),
        (an_object_set(progressionProbes=[]), "spec.progressionProbes in body should have at least 1 items"),
        (
            an_object_set(progressionProbes=[{**PROBE, "selector": {"type": "Label"}}]),
            "label is required when type is Label, and forbidden otherwise",
        ),
        (
            an_object_set(progressionProbes=[{**PROBE, "selector": {"type": "Label", "label": {}}}]),
            "exactly one of matchLabels or matchExpressions must be set",
        ),
        (
            an_object_set(progressionProbes=[{**PROBE, "assertions": [{"type": "FieldValue"}]}]),
            "fieldValue is required when type is FieldValue, and forbidden otherwise",
        ),
        (
            an_object_set(
                progressionProbes=[
                    {**PROBE, "assertions": [{"type": "FieldValue", "fieldValue": {"fieldPath": ".a", "value": "x"}}]}
                ]
            ),
            "must contain a valid field path.",
        ),
        (an_object_set(progressDeadlineMinutes=9), "spec.progressDeadlineMinutes"),
    ],
)
def test_v1_md_21_1_an_object_set_is_refused(v1: Api, body: Json, why: str) -> None:
    _is_invalid(_try(v1, body), why)


@pytest.mark.parametrize(
    "body",
    [
        an_object_set(), an_object_set(phases=[]), _phased(INLINE), _phased(PACKED), _phased(name="1st"),
        an_object_set(progressionProbes=[PROBE]), an_object_set(collisionProtection="IfNoController"),
        _phased(INLINE, collisionProtection="None"), an_object_set(progressDeadlineMinutes=10),
    ],
)  # fmt: skip
def test_v1_md_21_1_an_object_set_is_taken(v1: Api, body: Json) -> None:
    answer = _try(v1, body)
    assert answer.status == 201, answer.body


def test_v1_md_21_1_a_revision_does_not_change(v1: Api, word: str) -> None:
    body, path = an_object_set(), f"{BASE}/clusterobjectsets/{word}"
    body["metadata"]["name"] = word
    assert v1.post(f"{BASE}/clusterobjectsets", body).status == 201
    _is_invalid(v1.patch(path, {"spec": {"revision": 2}}), "revision is immutable")
    _is_invalid(v1.patch(path, {"spec": {"collisionProtection": "None"}}), "collisionProtection is immutable")
    assert v1.patch(path, {"spec": {"phases": []}}).status == 200
    assert v1.patch(path, {"spec": {"phases": [PHASE]}}).status == 200
    _is_invalid(v1.patch(path, {"spec": {"phases": [{**PHASE, "name": "other"}]}}), "phases is immutable")
    assert v1.patch(path, {"spec": {"lifecycleState": "Archived"}}).status == 200
    _is_invalid(v1.patch(path, {"spec": {"lifecycleState": "Active"}}), "cannot un-archive")
    v1.delete(path)


def test_what_did_not_change_is_not_refused_for_a_later_rule(http: Api, word: str) -> None:
    definition = deepcopy(a_definition(word, scope="Cluster"))
    base = define(http, definition)
    assert http.post(f"{base}/widgets", a_widget(word)).status == 201
    sizes = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["size"]
    sizes["x-kubernetes-validations"] = [{"rule": "self > 5"}]
    assert http.patch(f"{DEFINITIONS}/widgets.{word}.example.com", {"spec": definition["spec"]}).status == 200
    other = f"{base}/widgets{DRY}"
    wait_for(lambda: http.post(other, a_widget(word, "other")).status == 422)
    _is_invalid(http.post(other, a_widget(word, "other")), "spec.size: Invalid value: 3: failed rule: self > 5")
    assert http.patch(f"{base}/widgets/w", {"metadata": {"labels": {"a": "b"}}}).status == 200
    _is_invalid(http.patch(f"{base}/widgets/w", {"spec": {"size": 4}}), "failed rule: self > 5")
    assert http.patch(f"{base}/widgets/w", {"spec": {"size": 6}}).status == 200
