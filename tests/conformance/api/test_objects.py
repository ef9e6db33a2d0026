"""Create, get, list, update: what every object goes through."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.conformance.api.objects import a_config_map, a_deployment, apps, core
from tests.conformance.http import Api
from tests.kit.waiting import wait_for

Json = Any


def test_a_created_object_comes_back_with_identity(http: Api, namespace: str) -> None:
    answer = http.post(core(namespace, "configmaps"), a_config_map())
    meta = answer.body["metadata"]
    assert answer.status == 201
    assert re.fullmatch(r"[0-9a-f-]{36}", meta["uid"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", meta["creationTimestamp"])
    assert meta["resourceVersion"].isdigit()
    assert meta["namespace"] == namespace


def test_a_second_create_of_a_name_is_refused(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    answer = http.post(core(namespace, "configmaps"), a_config_map())
    assert (answer.status, answer.body["reason"]) == (409, "AlreadyExists")
    assert answer.body["message"] == 'configmaps "a" already exists'
    assert answer.body["details"] == {"name": "a", "kind": "configmaps"}


def test_an_absent_object_is_not_found(http: Api, namespace: str) -> None:
    answer = http.get(apps(namespace, "none"))
    assert answer.status == 404
    assert answer.body == {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "NotFound", "code": 404,
        "message": 'deployments.apps "none" not found',
        "details": {"name": "none", "group": "apps", "kind": "deployments"},
    }  # fmt: skip


def test_a_generated_name_is_unique_and_begins_as_asked(http: Api, namespace: str) -> None:
    made = [
        http.post(core(namespace, "configmaps"), {"metadata": {"generateName": "x-"}}).body["metadata"]["name"]
        for _ in range(3)
    ]
    assert len(set(made)) == 3
    assert all(re.fullmatch(r"x-[a-z0-9]{5}", name) for name in made)


def test_an_object_without_a_name_is_invalid(http: Api, namespace: str) -> None:
    answer = http.post(core(namespace, "configmaps"), {"data": {"a": "b"}})
    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    assert "name or generateName is required" in answer.body["message"]


def test_an_update_with_an_old_resource_version_is_a_conflict(http: Api, namespace: str) -> None:
    first = http.post(core(namespace, "configmaps"), a_config_map()).body
    http.put(core(namespace, "configmaps", "a"), {**first, "data": {"k": "2"}})
    answer = http.put(core(namespace, "configmaps", "a"), {**first, "data": {"k": "3"}})
    assert (answer.status, answer.body["reason"]) == (409, "Conflict")
    assert answer.body["message"] == (
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to '
        "the latest version and try again"
    )


def test_an_update_without_a_resource_version_overwrites(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    answer = http.put(core(namespace, "configmaps", "a"), a_config_map(data={"k": "2"}))
    assert (answer.status, answer.body["data"]) == (200, {"k": "2"})


def test_an_update_that_changes_nothing_makes_no_new_version(http: Api, namespace: str) -> None:
    first = http.post(core(namespace, "configmaps"), a_config_map()).body
    answer = http.put(core(namespace, "configmaps", "a"), first)
    assert answer.body["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_an_update_keeps_what_only_the_server_decides(http: Api, namespace: str) -> None:
    first = http.post(core(namespace, "configmaps"), a_config_map()).body
    changed = a_config_map(data={"k": "2"}, creationTimestamp="2001-01-01T00:00:00Z")
    answer = http.put(core(namespace, "configmaps", "a"), changed)
    kept = ("uid", "creationTimestamp")
    assert [answer.body["metadata"][name] for name in kept] == [first["metadata"][name] for name in kept]


def test_an_update_with_another_uid_is_a_conflict(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    answer = http.put(core(namespace, "configmaps", "a"), a_config_map(uid="00000000-0000-0000-0000-000000000000"))
    assert (answer.status, answer.body["reason"]) == (409, "Conflict")
    assert "UID in precondition" in answer.body["message"]


def test_a_name_in_the_body_must_be_the_name_in_the_path(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    answer = http.put(core(namespace, "configmaps", "a"), a_config_map("b"))
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert answer.body["message"] == "the name of the object (b) does not match the name on the URL (a)"


def test_a_namespace_in_the_body_must_be_that_of_the_path(http: Api, namespace: str) -> None:
    answer = http.post(core(namespace, "configmaps"), a_config_map(namespace="other"))
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert "does not match the namespace" in answer.body["message"]


def test_nothing_is_created_in_a_namespace_that_is_not_there(http: Api, word: str) -> None:
    answer = http.post(core(f"{word}-none", "configmaps"), a_config_map())
    assert (answer.status, answer.body["reason"]) == (404, "NotFound")
    assert answer.body["message"] == f'namespaces "{word}-none" not found'


def test_a_list_is_in_name_order_and_has_a_version(http: Api, namespace: str) -> None:
    for name in ("c", "a", "b"):
        http.post(core(namespace, "configmaps"), a_config_map(name))
    body = http.get(core(namespace, "configmaps")).body
    assert (body["kind"], body["apiVersion"]) == ("ConfigMapList", "v1")
    assert [item["metadata"]["name"] for item in body["items"] if item["metadata"]["name"] in "abc"] == ["a", "b", "c"]
    assert int(body["metadata"]["resourceVersion"]) >= int(body["items"][-1]["metadata"]["resourceVersion"])


def test_a_list_comes_in_pages(http: Api, namespace: str) -> None:
    for number in range(5):
        http.post(core(namespace, "secrets"), {"metadata": {"name": f"s{number}"}})
    path, seen, pages, more = core(namespace, "secrets"), [], 0, ""
    while pages == 0 or more:
        body = http.get(f"{path}?limit=2&continue={more}").body
        seen += [item["metadata"]["name"] for item in body["items"]]
        more, pages = body["metadata"].get("continue", ""), pages + 1
    assert (seen, pages) == ([f"s{number}" for number in range(5)], 3)


def test_a_page_reports_how_many_remain(http: Api, namespace: str) -> None:
    for number in range(3):
        http.post(core(namespace, "secrets"), {"metadata": {"name": f"s{number}"}})
    assert http.get(f"{core(namespace, 'secrets')}?limit=1").body["metadata"]["remainingItemCount"] == 2


def test_label_selectors_choose(http: Api, namespace: str) -> None:
    for name, labels in (("a", {"x": "1", "y": "1"}), ("b", {"x": "2"}), ("c", {})):
        http.post(core(namespace, "secrets"), {"metadata": {"name": name, "labels": labels}})
    chosen = {
        selector: [item["metadata"]["name"] for item in http.get(f"{path}?labelSelector={selector}").body["items"]]
        for path in [core(namespace, "secrets")]
        for selector in ("x=1", "x==2", "x!=1", "x", "!x", "x in (1,2),y", "x notin (1)", "x=1,y=2")
    }
    assert chosen == {
        "x=1": ["a"], "x==2": ["b"], "x!=1": ["b", "c"], "x": ["a", "b"], "!x": ["c"], "x in (1,2),y": ["a"],
        "x notin (1)": ["b", "c"], "x=1,y=2": [],
    }  # fmt: skip


@pytest.mark.parametrize("value", ["x" * 64, "-x"], ids=["too long", "no letter in front"])
def test_a_label_that_no_object_can_have_is_refused_in_a_selector(http: Api, namespace: str, value: str) -> None:
    answer = http.get(f"{core(namespace, 'configmaps')}?labelSelector=a={value}")
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    where = f'unable to parse requirement: values[0][a]: Invalid value: "{value}": '
    assert answer.body["message"].startswith(where)


def test_field_selectors_choose_by_name(http: Api, namespace: str) -> None:
    for name in ("a", "b"):
        http.post(core(namespace, "secrets"), {"metadata": {"name": name}})
    body = http.get(f"{core(namespace, 'secrets')}?fieldSelector=metadata.name=b").body
    assert [item["metadata"]["name"] for item in body["items"]] == ["b"]


def test_an_unknown_field_in_a_selector_is_refused(http: Api, namespace: str) -> None:
    answer = http.get(f"{core(namespace, 'configmaps')}?fieldSelector=data.k=v")
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert "data.k" in answer.body["message"]


def test_a_dry_run_answers_and_stores_nothing(http: Api, namespace: str) -> None:
    answer = http.post(f"{core(namespace, 'configmaps')}?dryRun=All", a_config_map())
    assert answer.status == 201
    assert answer.body["metadata"]["uid"]
    assert http.get(core(namespace, "configmaps", "a")).status == 404


def test_the_generation_counts_changes_of_the_spec_only(http: Api, namespace: str) -> None:
    first = http.post(apps(namespace), a_deployment()).body["metadata"]["generation"]
    patches = ({"metadata": {"labels": {"a": "b"}}}, {"spec": {"replicas": 2}}, {"spec": {"replicas": 2}})
    seen = [first, *(http.patch(apps(namespace, "d"), patch).body["metadata"]["generation"] for patch in patches)]
    assert seen == [1, 1, 2, 2]


def test_a_write_to_status_changes_the_status_only(http: Api, namespace: str) -> None:
    first = http.post(apps(namespace), a_deployment()).body
    first["spec"]["replicas"], first["status"] = 7, {"observedGeneration": 1, "replicas": 5}
    del first["metadata"]["resourceVersion"]  # the controllers write, too
    answer = http.put(f"{apps(namespace, 'd')}/status", first)
    assert (answer.body["spec"]["replicas"], answer.body["status"]["replicas"]) == (1, 5)
    assert answer.body["metadata"]["generation"] == 1


def test_a_write_to_the_object_changes_no_status(http: Api, namespace: str) -> None:
    http.post(apps(namespace), {**a_deployment(), "status": {"replicas": 5}})
    answer = http.patch(apps(namespace, "d"), {"spec": {"replicas": 2}, "status": {"replicas": 9}})
    assert answer.body["spec"]["replicas"] == 2
    assert "replicas" not in answer.body["status"]


def test_the_scale_of_a_deployment_is_read_and_written(http: Api, namespace: str) -> None:
    http.post(apps(namespace), a_deployment())
    path = f"{apps(namespace, 'd')}/scale"
    scale = http.get(path).body
    assert (scale["kind"], scale["apiVersion"], scale["spec"]) == ("Scale", "autoscaling/v1", {"replicas": 1})
    assert scale["status"]["selector"] == "app=d"
    unconditional = {key: value for key, value in scale["metadata"].items() if key != "resourceVersion"}
    http.put(path, {**scale, "metadata": unconditional, "spec": {"replicas": 4}})
    assert http.get(apps(namespace, "d")).body["spec"]["replicas"] == 4


def test_plain_texts_of_a_secret_become_data(http: Api, namespace: str) -> None:
    body = http.post(core(namespace, "secrets"), {"metadata": {"name": "a"}, "stringData": {"k": "v"}}).body
    assert (body["data"], body["type"]) == ({"k": "dg=="}, "Opaque")
    assert "stringData" not in body


def test_a_deployment_gets_its_defaults(http: Api, namespace: str) -> None:
    spec = http.post(apps(namespace), a_deployment()).body["spec"]
    container = spec["template"]["spec"]["containers"][0]
    assert (spec["replicas"], spec["revisionHistoryLimit"], spec["progressDeadlineSeconds"]) == (1, 10, 600)
    assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
    assert spec["template"]["spec"] == {
        "containers": [container], "dnsPolicy": "ClusterFirst", "restartPolicy": "Always",
        "schedulerName": "default-scheduler", "securityContext": {}, "terminationGracePeriodSeconds": 30,
    }  # fmt: skip
    assert container == {
        "name": "c", "image": "i:1", "imagePullPolicy": "IfNotPresent", "resources": {},
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
    }  # fmt: skip


def test_a_service_gets_an_address_and_defaults(http: Api, namespace: str) -> None:
    body = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], "selector": {"a": "b"}}}
    spec = http.post(core(namespace, "services"), body).body["spec"]
    assert re.fullmatch(r"10\.0\.\d+\.\d+", spec.pop("clusterIP"))
    assert len(spec.pop("clusterIPs")) == 1
    assert spec == {
        "internalTrafficPolicy": "Cluster", "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}], "selector": {"a": "b"},
        "sessionAffinity": "None", "type": "ClusterIP",
    }  # fmt: skip


def test_a_job_gets_its_selector_and_labels(http: Api, namespace: str) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    body = http.post(
        f"/apis/batch/v1/namespaces/{namespace}/jobs", {"metadata": {"name": "j"}, "spec": {"template": template}}
    ).body
    uid, spec = body["metadata"]["uid"], body["spec"]
    assert spec["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert spec["template"]["metadata"]["labels"] == {
        "batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": "j", "controller-uid": uid,
        "job-name": "j",
    }  # fmt: skip
    chosen = ("backoffLimit", "completions", "parallelism", "completionMode", "suspend")
    assert [spec[name] for name in chosen] == [6, 1, 1, "NonIndexed", False]


def test_empty_optional_fields_of_builtin_kinds_are_not_kept(http: Api, namespace: str) -> None:
    body = http.post(
        core(namespace, "configmaps"), {"metadata": {"name": "a", "labels": {}, "annotations": None}, "data": {}}
    ).body
    assert "data" not in body
    assert {"labels", "annotations"}.isdisjoint(body["metadata"])


def test_a_new_namespace_is_active_and_has_a_service_account(http: Api, namespace: str) -> None:
    body = http.get(f"/api/v1/namespaces/{namespace}").body
    assert (body["status"], body["spec"]) == ({"phase": "Active"}, {"finalizers": ["kubernetes"]})
    assert body["metadata"]["labels"] == {"kubernetes.io/metadata.name": namespace}
    wait_for(lambda: http.get(core(namespace, "serviceaccounts", "default")).status == 200)


def test_a_template_gets_the_defaults_of_volumes_probes_and_accounts(http: Api, namespace: str) -> None:
    spec = {
        "serviceAccountName": "s",
        "volumes": [{"name": "a"}, {"name": "b", "secret": {"secretName": "x"}}],
        "containers": [{
            "name": "c", "image": "i", "livenessProbe": {"httpGet": {"port": 80}},
            "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        }],
    }  # fmt: skip
    made = http.post(apps(namespace), a_deployment(template={"metadata": {"labels": {"app": "d"}}, "spec": spec}))
    pod = made.body["spec"]["template"]["spec"]
    assert pod["serviceAccount"] == "s"
    secret = {"name": "b", "secret": {"secretName": "x", "defaultMode": 420}}
    assert pod["volumes"] == [{"name": "a", "emptyDir": {}}, secret]
    (container,) = pod["containers"]
    assert container["imagePullPolicy"] == "Always"
    assert container["livenessProbe"] == {
        "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"}, "timeoutSeconds": 1, "periodSeconds": 10,
        "successThreshold": 1, "failureThreshold": 3,
    }  # fmt: skip
    assert container["env"][0]["valueFrom"]["fieldRef"] == {"apiVersion": "v1", "fieldPath": "metadata.name"}


@pytest.mark.parametrize("kind", ["Validating", "Mutating"])
def test_webhook_configurations_get_their_defaults(http: Api, word: str, kind: str) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["widgets"]}
    hook = {
        "name": "a.example.com", "clientConfig": {"service": {"namespace": "default", "name": "s"}}, "rules": [rule],
        "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore",
    }  # fmt: skip
    path = f"/apis/admissionregistration.k8s.io/v1/{kind.lower()}webhookconfigurations"
    (made,) = http.post(path, {"metadata": {"name": word}, "webhooks": [hook]}).body["webhooks"]
    assert made["clientConfig"]["service"] == {"namespace": "default", "name": "s", "port": 443}
    assert (made["matchPolicy"], made["timeoutSeconds"], made["namespaceSelector"]) == ("Equivalent", 10, {})
    assert made["rules"] == [{**rule, "scope": "*"}]
    assert made.get("reinvocationPolicy") == ("Never" if kind == "Mutating" else None)
    http.delete(f"{path}/{word}")


def test_the_service_of_an_aggregated_api_gets_its_port(http: Api, word: str) -> None:
    group = f"{word}.example.com"
    spec = {
        "group": group, "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1,
        "service": {"namespace": "default", "name": "s"}, "insecureSkipTLSVerify": True,
    }  # fmt: skip
    path = "/apis/apiregistration.k8s.io/v1/apiservices"
    made = http.post(path, {"metadata": {"name": f"v1.{group}"}, "spec": spec}).body
    http.delete(f"{path}/v1.{group}")
    assert made["spec"]["service"] == {"namespace": "default", "name": "s", "port": 443}


def _a_lease(**meta: Json) -> Json:
    return {"metadata": {"name": "l", **meta}, "spec": {"holderIdentity": "me"}}


def test_an_update_creates_an_object_of_some_kinds(http: Api, namespace: str) -> None:
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/l"
    made = http.put(path, _a_lease())
    assert (made.status, http.get(path).body["metadata"]["uid"]) == (201, made.body["metadata"]["uid"])
    assert http.put(core(namespace, "configmaps", "a"), a_config_map()).status == 404


def test_an_update_of_some_kinds_needs_a_version(http: Api, namespace: str) -> None:
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
    version = http.post(path, _a_lease()).body["metadata"]["resourceVersion"]
    answer = http.put(f"{path}/l", _a_lease())
    assert (answer.status, answer.body["details"]["kind"]) == (422, "leases")
    assert "metadata.resourceVersion: Invalid value: 0: must be specified for an update" in answer.body["message"]
    assert http.put(f"{path}/l", _a_lease(resourceVersion=version)).status == 200


def test_an_update_reports_the_name(http: Api, namespace: str) -> None:
    answer = http.put(core(namespace, "configmaps", "absent"), {"data": {}})
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert answer.body["message"].endswith("(absent based on URL) was undeterminable: name must be provided")
    assert http.put(core(namespace, "configmaps", "absent"), a_config_map("other")).status == 400


def test_a_version_is_a_number(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    answer = http.put(core(namespace, "configmaps", "a"), a_config_map(resourceVersion="abc"))
    assert (answer.status, answer.body["message"]) == (500, 'strconv.ParseUint: parsing "abc": invalid syntax')


def test_a_job_has_the_labels_of_its_template(http: Api, namespace: str) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    made = http.post(path, {"metadata": {"name": "j"}, "spec": {"template": template}}).body
    assert made["metadata"]["labels"] == made["spec"]["template"]["metadata"]["labels"]
    assert made["metadata"]["labels"]["job-name"] == "j"


def test_a_null_in_a_map_of_texts_is_an_empty_text(http: Api, namespace: str) -> None:
    made = http.post(core(namespace, "configmaps"), a_config_map(data={"k": None}, labels={"a": None})).body
    assert (made["data"], made["metadata"]["labels"]) == ({"k": ""}, {"a": ""})


def test_a_service_leads_to_its_own_port_when_it_names_none(http: Api, namespace: str) -> None:
    body = {"metadata": {"name": "s"}, "spec": {"clusterIP": "None", "ports": [{"port": 7, "targetPort": 0}]}}
    assert http.post(core(namespace, "services"), body).body["spec"]["ports"][0]["targetPort"] == 7
