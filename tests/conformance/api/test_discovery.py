"""What the server says about itself."""

from __future__ import annotations

import re
from typing import Any

from tests.conformance.api.objects import AGGREGATED, a_definition, a_widget, core, define
from tests.conformance.http import Api
from tests.kit.waiting import wait_for

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def _resource(body: Any, group: str, plural: str) -> Any:
    (found,) = (one for one in body["items"] if one["metadata"].get("name", "") == group)
    return next(one for one in found["versions"][0]["resources"] if one["resource"] == plural)


def test_the_version_is_reported(http: Api) -> None:
    assert re.fullmatch(r"v1\.35\.\d+", http.get("/version").body["gitVersion"])


def test_health_is_reported(http: Api) -> None:
    assert [http.get(path).body for path in ("/healthz", "/livez", "/readyz")] == ["ok", "ok", "ok"]


def test_everything_served_is_reported_in_one_answer(http: Api) -> None:
    deployments = _resource(http.get("/apis", accept=AGGREGATED).body, "apps", "deployments")
    assert (deployments["scope"], deployments["singularResource"]) == ("Namespaced", "deployment")
    assert (deployments["shortNames"], deployments["categories"]) == (["deploy"], ["all"])
    assert deployments["responseKind"]["kind"] == "Deployment"
    assert {one["subresource"] for one in deployments["subresources"]} == {"scale", "status"}
    secrets = _resource(http.get("/api", accept=AGGREGATED).body, "", "secrets")
    assert sorted(secrets["verbs"]) == [
        "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch",
    ]  # fmt: skip


def test_a_group_reports_its_versions(http: Api) -> None:
    assert http.get("/apis/apps").body["preferredVersion"] == {"groupVersion": "apps/v1", "version": "v1"}
    assert "apps" in [group["name"] for group in http.get("/apis").body["groups"]]


def test_a_group_version_reports_its_resources(http: Api) -> None:
    reported = {one["name"]: one for one in http.get("/apis/apps/v1").body["resources"]}
    assert (reported["deployments"]["kind"], reported["deployments/scale"]["kind"]) == ("Deployment", "Scale")


def test_unknown_paths_are_not_found(http: Api) -> None:
    assert [http.get(path).status for path in ("/apis/none", "/apis/none/v1/x", "/nonsense")] == [404, 404, 404]
    answer = http.get("/api/v1/nonsense")
    assert answer.body["message"] == "the server could not find the requested resource"


def test_schemas_are_reported_by_group_version(http: Api) -> None:
    paths = http.get("/openapi/v3").body["paths"]
    document = http.get(paths["apis/apps/v1"]["serverRelativeURL"]).body
    spec = document["components"]["schemas"]["io.k8s.api.core.v1.PodSpec"]["properties"]
    assert spec["containers"]["x-kubernetes-patch-merge-key"] == "name"
    operation = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert "fieldValidation" in [parameter["name"] for parameter in operation["parameters"]]


def test_the_schema_of_a_new_kind_is_reported(http: Api, word: str) -> None:
    define(http, a_definition(word))
    place = f"apis/{word}.example.com/v1"
    wait_for(lambda: place in http.get("/openapi/v3").body["paths"])
    document = http.get(http.get("/openapi/v3").body["paths"][place]["serverRelativeURL"]).body
    schemas = document["components"]["schemas"].values()
    (schema,) = (one for one in schemas if "spec" in one.get("properties", {}))
    assert schema["properties"]["spec"]["properties"]["mode"]["enum"] == ["fast", "slow"]
    assert schema["x-kubernetes-group-version-kind"] == [
        {"group": f"{word}.example.com", "version": "v1", "kind": "Widget"}
    ]


def test_a_table_has_the_columns_of_the_kind(http: Api, namespace: str) -> None:
    http.post(core(namespace, "secrets"), {"metadata": {"name": "a"}, "data": {"k": "dg=="}})
    body = http.get(core(namespace, "secrets"), accept=TABLE).body
    assert (body["kind"], body["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert [one["name"] for one in body["columnDefinitions"]] == ["Name", "Type", "Data", "Age"]
    (row,) = body["rows"]
    assert row["cells"][:3] == ["a", "Opaque", 1]
    assert (row["object"]["kind"], row["object"]["metadata"]["name"]) == ("PartialObjectMetadata", "a")


def test_a_table_of_a_new_kind_has_its_columns(http: Api, namespace: str, word: str) -> None:
    path = f"{define(http, a_definition(word))}/namespaces/{namespace}/widgets"
    http.post(path, a_widget(word))
    http.patch(f"{path}/w/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    body = http.get(path, accept=TABLE).body
    assert [one["name"] for one in body["columnDefinitions"]] == ["Name", "Size", "Ready"]
    assert body["rows"][0]["cells"] == ["w", 3, "True"]


def test_a_watch_can_be_a_table(http: Api, namespace: str) -> None:
    http.post(core(namespace, "secrets"), {"metadata": {"name": "a"}})
    with http.watch(f"{core(namespace, 'secrets')}?watch=1", accept=TABLE) as events:
        event = next(events)
    assert (event["type"], event["object"]["kind"]) == ("ADDED", "Table")
    assert event["object"]["rows"][0]["cells"][0] == "a"


METADATA = "application/json;as=PartialObjectMetadata{};g=meta.k8s.io;v=v1,application/json"


def test_only_the_metadata_can_be_asked_for(http: Api, namespace: str) -> None:
    made = http.post(core(namespace, "secrets"), {"metadata": {"name": "a"}, "data": {"k": "dg=="}}).body
    body = http.get(core(namespace, "secrets", "a"), accept=METADATA.format("")).body
    assert body == {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": made["metadata"]}
    body = http.get(core(namespace, "secrets"), accept=METADATA.format("List")).body
    assert (body["kind"], body["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1")
    assert [(one["metadata"]["name"], "data" in one) for one in body["items"]] == [("a", False)]


def test_only_the_metadata_can_be_watched(http: Api, namespace: str) -> None:
    http.post(core(namespace, "secrets"), {"metadata": {"name": "a"}, "data": {"k": "dg=="}})
    with http.watch(f"{core(namespace, 'secrets')}?watch=1", accept=METADATA.format("")) as events:
        event = next(events)
    assert (event["object"]["kind"], event["object"]["metadata"]["name"]) == ("PartialObjectMetadata", "a")
    assert "data" not in event["object"]
