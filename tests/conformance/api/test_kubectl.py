"""What people type: the real kubectl against both servers."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from tests.conformance.api.objects import a_config_map, a_definition, a_deployment, a_widget, define
from tests.conformance.conftest import Kubectl
from tests.conformance.control_plane import program
from tests.conformance.http import Api
from tests.kit.waiting import PATIENCE_SECONDS, wait_for

pytestmark = pytest.mark.conformance
Json = Any


def _text(manifest: Json) -> str:
    return orjson.dumps(manifest).decode()


def _rows(table: str) -> list[list[str]]:
    return [line.split() for line in table.splitlines()]


def _get(kubectl: Kubectl, *words: str) -> Json:
    return orjson.loads(kubectl("get", *words, "-o", "json"))


def test_create_makes_config_maps_secrets_and_accounts(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "a", "--from-literal=k=v")
    kubectl("create", "secret", "generic", "b", "--from-literal=k=v")
    kubectl("create", "serviceaccount", "c")
    assert _get(kubectl, "configmap", "a")["data"] == {"k": "v"}
    assert _get(kubectl, "secret", "b")["data"] == {"k": "dg=="}
    assert _get(kubectl, "serviceaccount", "c")["metadata"]["name"] == "c"


def test_create_makes_a_deployment_with_all_its_fields(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "d", "--image=i:1", "--replicas=2", "--port=80", "--", "run", "me")
    spec = _get(kubectl, "deployment", "d")["spec"]
    container = spec["template"]["spec"]["containers"][0]
    assert (spec["replicas"], spec["selector"]) == (2, {"matchLabels": {"app": "d"}})
    assert (container["command"], container["ports"]) == (["run", "me"], [{"containerPort": 80, "protocol": "TCP"}])


def test_create_makes_jobs_services_roles_and_bindings(kubectl: Kubectl) -> None:
    kubectl("create", "job", "j", "--image=i")
    kubectl("create", "service", "clusterip", "s", "--tcp=80:8080")
    kubectl("create", "role", "r", "--verb=get,list", "--resource=pods,deployments.apps")
    kubectl("create", "rolebinding", "b", "--role=r", "--serviceaccount=default:x", "--user=jane")
    assert _get(kubectl, "job", "j")["spec"]["template"]["spec"]["restartPolicy"] == "Never"
    port = _get(kubectl, "service", "s")["spec"]["ports"][0]
    assert (port["port"], port["targetPort"], port["protocol"]) == (80, 8080, "TCP")
    assert _get(kubectl, "role", "r")["rules"] == [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list"]},
    ]
    assert [one["name"] for one in _get(kubectl, "rolebinding", "b")["subjects"]] == ["jane", "x"]


def test_create_of_a_name_that_is_there_fails(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "a")
    assert '(AlreadyExists): configmaps "a" already exists' in kubectl("create", "configmap", "a", fails=True).replace(
        "error: failed to create configmap: ", "(AlreadyExists): "
    )


def test_create_reads_a_file(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=yaml.safe_dump(a_deployment()))
    assert _get(kubectl, "deployment", "d")["spec"]["replicas"] == 1


def test_get_prints_tables(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "d", "--image=i:1")
    kubectl("create", "secret", "generic", "s", "--from-literal=k=v")
    deployments, secrets = _rows(kubectl("get", "deployments")), _rows(kubectl("get", "secrets"))
    assert deployments[0] == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert deployments[1][:2] == ["d", "0/1"]
    assert secrets[0] == ["NAME", "TYPE", "DATA", "AGE"]
    assert secrets[1][:3] == ["s", "Opaque", "1"]


def test_get_prints_wide_tables_and_labels(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "d", "--image=i:1")
    wide = _rows(kubectl("get", "deployments", "-o", "wide", "--show-labels"))
    assert wide[0][-4:] == ["CONTAINERS", "IMAGES", "SELECTOR", "LABELS"]
    assert wide[1][-4:] == ["i", "i:1", "app=d", "app=d"]


def test_get_all_and_short_names(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "d", "--image=i:1")
    kubectl("create", "job", "j", "--image=i")
    reported = kubectl("get", "all", "-o", "name")
    assert {"deployment.apps/d", "job.batch/j"} <= set(reported.split())
    assert kubectl("get", "deploy", "-o", "name") == "deployment.apps/d\n"


def test_get_prints_columns_of_a_new_kind(kubectl: Kubectl, http: Api, word: str) -> None:
    define(http, a_definition(word))
    kubectl("apply", "-f", "-", stdin=_text(a_widget(word)))
    assert _rows(kubectl("get", f"w{word}")) == [["NAME", "SIZE", "READY"], ["w", "3"]]


def test_get_watches(kubectl: Kubectl, api: Path, namespace: str) -> None:
    kubectl("create", "configmap", "first")
    command: list[str | Path] = [program("kubectl"), f"--kubeconfig={api}", "-n", namespace]
    command += ["get", "configmap", "-w", "--no-headers", "-o", "name"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        try:
            assert watching.stdout.readline().startswith("configmap/")
            kubectl("create", "configmap", "second")
            assert any("configmap/second" in line for line in iter(watching.stdout.readline, ""))
        finally:
            watching.terminate()


def test_get_all_pages_of_a_long_list(kubectl: Kubectl, http: Api, namespace: str) -> None:
    for number in range(12):
        http.post(f"/api/v1/namespaces/{namespace}/secrets", {"metadata": {"name": f"s{number:02}"}})
    reported = kubectl("get", "secrets", "--chunk-size=5", "-o", "name").split()
    assert reported == [f"secret/s{number:02}" for number in range(12)]


def test_apply_creates_changes_and_removes(kubectl: Kubectl) -> None:
    reported = [
        kubectl("apply", "-f", "-", stdin=_text(a_config_map(data=data)))
        for data in ({"a": "1", "b": "2"}, {"a": "1", "c": "3"}, {"a": "1", "c": "3"})
    ]
    assert reported == [f"configmap/a {word}\n" for word in ("created", "configured", "unchanged")]
    assert _get(kubectl, "configmap", "a")["data"] == {"a": "1", "c": "3"}


def test_apply_keeps_what_it_did_not_set(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=_text(a_deployment()))
    kubectl("scale", "deployment", "d", "--replicas=5")
    changed = a_deployment()
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "i:2"
    kubectl("apply", "-f", "-", stdin=_text(changed))
    spec = _get(kubectl, "deployment", "d")["spec"]
    assert (spec["replicas"], spec["template"]["spec"]["containers"][0]["image"]) == (5, "i:2")


def test_apply_of_a_new_kind(kubectl: Kubectl, http: Api, word: str) -> None:
    define(http, a_definition(word))
    reported = [kubectl("apply", "-f", "-", stdin=_text(a_widget(word, size=size))) for size in (3, 4, 4)]
    assert [line.split()[-1] for line in reported] == ["created", "configured", "unchanged"]


def test_apply_takes_a_list(kubectl: Kubectl) -> None:
    """What `kubectl get -o yaml` prints for several objects."""
    listed = _text({"apiVersion": "v1", "kind": "List", "items": [a_config_map(name) for name in ("one", "two")]})
    assert "configmap/two created" in kubectl("apply", "-f", "-", stdin=listed)
    assert _get(kubectl, "configmap", "one")["metadata"]["name"] == "one"


def test_apply_refuses_unknown_fields(kubectl: Kubectl) -> None:
    reported = kubectl("apply", "-f", "-", stdin=_text(a_deployment(alien=1)), fails=True)
    assert 'unknown field "spec.alien"' in reported


def test_apply_prunes_by_label(kubectl: Kubectl) -> None:
    for name in ("a", "b"):
        kubectl("apply", "-f", "-", stdin=_text(a_config_map(name, labels={"set": "x"})))
    words = ("apply", "--prune", "-l", "set=x", "--prune-allowlist=core/v1/ConfigMap", "-f", "-")
    kubectl(*words, stdin=_text(a_config_map("b", labels={"set": "x"})))
    assert kubectl("get", "configmap", "-l", "set=x", "-o", "name") == "configmap/b\n"


def test_diff_shows_what_would_change(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=_text(a_config_map()))
    reported = kubectl("diff", "-f", "-", stdin=_text(a_config_map(data={"k": "other"})), fails=True)
    assert "-  k: v" in reported
    assert "+  k: other" in reported


def test_server_side_apply_reports_conflicts(kubectl: Kubectl) -> None:
    kubectl("apply", "--server-side", "-f", "-", stdin=_text(a_config_map()))
    words = ("apply", "--server-side", "--field-manager=other", "-f", "-")
    reported = kubectl(*words, stdin=_text(a_config_map(data={"k": "w"})), fails=True)
    assert 'conflict with "kubectl": .data.k' in reported
    kubectl(*words, "--force-conflicts", stdin=_text(a_config_map(data={"k": "w"})))
    assert _get(kubectl, "configmap", "a")["data"] == {"k": "w"}


def test_server_side_apply_takes_over_from_client_side_apply(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=_text(a_config_map(data={"a": "1", "b": "2"})))
    kubectl("apply", "--server-side", "-f", "-", stdin=_text(a_config_map(data={"a": "2"})))
    assert _get(kubectl, "configmap", "a")["data"] == {"a": "2"}


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        pytest.param("merge", '{"data":{"k":"w"}}', id="merge"),
        pytest.param("json", '[{"op":"replace","path":"/data/k","value":"w"}]', id="json"),
        pytest.param("strategic", '{"data":{"k":"w"}}', id="strategic"),
    ],
)
def test_patch(kubectl: Kubectl, kind: str, patch: str) -> None:
    kubectl("create", "configmap", "a", "--from-literal=k=v")
    assert kubectl("patch", "configmap", "a", "--type", kind, "-p", patch) == "configmap/a patched\n"
    assert _get(kubectl, "configmap", "a")["data"] == {"k": "w"}


def test_patch_of_a_subresource(kubectl: Kubectl) -> None:
    kubectl("run", "p", "--image=i:1")
    kubectl("patch", "pod", "p", "--subresource=status", "--type=merge", "-p", '{"status":{"message":"three"}}')
    assert _get(kubectl, "pod", "p")["status"]["message"] == "three"


def test_edit(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "configmap", "a", "--from-literal=k=old")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/old/new/ "$1"\n')
    editor.chmod(0o755)
    assert kubectl("edit", "configmap", "a", env={"KUBE_EDITOR": str(editor)}) == "configmap/a edited\n"
    assert _get(kubectl, "configmap", "a")["data"] == {"k": "new"}


def test_label_annotate_set_image_and_scale(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "d", "--image=i:1")
    kubectl("label", "deployment", "d", "x=y")
    kubectl("annotate", "deployment", "d", "n=m")
    kubectl("set", "image", "deployment/d", "i=j:2")
    kubectl("scale", "deployment", "d", "--replicas=3")
    body = _get(kubectl, "deployment", "d")
    assert (body["metadata"]["labels"]["x"], body["metadata"]["annotations"]["n"]) == ("y", "m")
    assert (body["spec"]["template"]["spec"]["containers"][0]["image"], body["spec"]["replicas"]) == ("j:2", 3)


def test_replace(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "a", "--from-literal=k=v")
    kubectl("replace", "-f", "-", stdin=_text(a_config_map(data={"n": "m"})))
    assert _get(kubectl, "configmap", "a")["data"] == {"n": "m"}


def test_delete_by_name_label_and_all(kubectl: Kubectl) -> None:
    for name in ("a", "b", "c"):
        kubectl("create", "secret", "generic", name)
    kubectl("label", "secret", "b", "x=y")
    assert kubectl("delete", "secret", "a").startswith('secret "a" deleted')
    kubectl("delete", "secret", "-l", "x=y")
    assert kubectl("get", "secret", "-o", "name") == "secret/c\n"
    kubectl("delete", "secret", "--all")
    assert kubectl("get", "secret", "-o", "name") == ""


def test_delete_in_the_foreground_waits_for_dependents(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "d", "--image=i:1")
    kubectl("delete", "deployment", "d", "--cascade=foreground")
    assert kubectl("get", "deployment", "-o", "name") == ""


def test_delete_of_a_namespace_waits_until_it_is_gone(kubectl: Kubectl, namespace: str) -> None:
    kubectl("create", "configmap", "a")
    kubectl("delete", "namespace", namespace)
    assert "NotFound" in kubectl("get", "namespace", namespace, fails=True)


def test_wait_for_a_condition_a_value_and_the_end(kubectl: Kubectl, http: Api, word: str) -> None:
    define(http, a_definition(word))
    crd = f"crd/widgets.{word}.example.com"
    assert "condition met" in kubectl("wait", "--for=condition=Established", crd, "--timeout=60s")
    kubectl("create", "configmap", "a", "--from-literal=k=v")
    kubectl("wait", "--for=jsonpath={.data.k}=v", "configmap/a", "--timeout=60s")
    kubectl("delete", "configmap", "a", "--wait=false")
    kubectl("wait", "--for=delete", "configmap/a", "--timeout=60s")


def test_wait_ends_when_it_becomes_true(kubectl: Kubectl, api: Path, namespace: str) -> None:
    kubectl("create", "configmap", "a", "--from-literal=k=v")
    command: list[str | Path] = [program("kubectl"), f"--kubeconfig={api}", "-n", namespace, "wait"]
    command += ["--for=jsonpath={.data.k}=w", "configmap/a", f"--timeout={PATIENCE_SECONDS}s"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as waiting:
        kubectl("patch", "configmap", "a", "-p", '{"data":{"k":"w"}}')
        assert waiting.wait(PATIENCE_SECONDS) == 0


def test_describe(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "d", "--image=i:1")
    reported = " ".join(kubectl("describe", "deployment", "d").split())
    assert re.search(r"Replicas: 1 desired \| . updated \| . total \| 0 available \| . unavailable", reported)
    assert "Image: i:1" in reported


def test_describe_of_a_new_kind(kubectl: Kubectl, http: Api, word: str) -> None:
    define(http, a_definition(word))
    kubectl("create", "-f", "-", stdin=_text(a_widget(word)))
    reported = kubectl("describe", f"w{word}", "w")
    assert "Kind:         Widget" in reported
    assert "Size:  3" in reported


def test_explain_of_a_new_kind(kubectl: Kubectl, http: Api, word: str) -> None:
    define(http, a_definition(word))
    wait_for(lambda: f"apis/{word}.example.com/v1" in http.get("/openapi/v3").body["paths"])
    reported = kubectl("explain", "widgets.spec.mode", f"--api-version={word}.example.com/v1")
    assert "FIELD: mode <string>" in reported
    assert "fast" in reported
    assert "-required-" in kubectl("explain", "widgets.spec", f"--api-version={word}.example.com/v1")


def test_explain_of_a_builtin_kind(kubectl: Kubectl) -> None:
    assert "FIELD: containers <[]Container>" in kubectl("explain", "deployment.spec.template.spec.containers")


def test_api_resources_and_versions(kubectl: Kubectl) -> None:
    reported = [row for row in _rows(kubectl("api-resources", "--api-group=apps", "--no-headers")) if row]
    assert ["deployments", "deploy", "apps/v1", "true", "Deployment"] in reported
    assert {"v1", "apps/v1", "batch/v1", "rbac.authorization.k8s.io/v1"} <= set(kubectl("api-versions").split())


def test_dry_run_on_the_server(kubectl: Kubectl) -> None:
    words = ("apply", "--dry-run=server", "-o", "json", "-f", "-")
    body = orjson.loads(kubectl(*words, stdin=_text(a_deployment())))
    assert body["spec"]["template"]["spec"]["dnsPolicy"] == "ClusterFirst"
    assert "NotFound" in kubectl("get", "deployment", "d", fails=True)


def test_auth_can_i(kubectl: Kubectl, namespace: str) -> None:
    assert kubectl("auth", "can-i", "create", "deployments").strip() == "yes"
    kubectl("create", "role", "r", "--verb=get", "--resource=pods")
    kubectl("create", "rolebinding", "b", "--role=r", f"--serviceaccount={namespace}:x")


def test_create_token(kubectl: Kubectl) -> None:
    kubectl("create", "serviceaccount", "robot")
    assert kubectl("create", "token", "robot").count(".") == 2


def test_rollout_restart_changes_the_template(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "d", "--image=i:1")
    kubectl("rollout", "restart", "deployment", "d")
    annotations = _get(kubectl, "deployment", "d")["spec"]["template"]["metadata"]["annotations"]
    assert "kubectl.kubernetes.io/restartedAt" in annotations


def test_version_is_reported(kubectl: Kubectl) -> None:
    assert "Server Version: v1.35." in kubectl("version")
