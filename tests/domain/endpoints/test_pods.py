"""The certificate in the Pods."""

from __future__ import annotations

from shared.domain.endpoints.pods import serving

VOLUME, PATH = "webhook-cert", "/tmp/k8s-webhook-server/serving-certs"
APIS = "/apiserver.local.config/certificates"


def test_volumes_and_mounts_csv_md_7_3() -> None:
    mounts = [{"name": VOLUME, "mountPath": "/mine"}, {"name": "x", "mountPath": APIS}]
    containers = [{"name": "c", "volumeMounts": mounts}, {"name": "d"}]
    pod = {"containers": containers, "volumes": [{"name": VOLUME}, {"name": "y"}]}
    spec = {"template": {"metadata": {"annotations": {"a": "b"}}, "spec": pod}}
    made = serving(spec, "operator", "digest")["template"]
    assert made["metadata"]["annotations"] == {"a": "b", "olmcahash": "digest"}
    assert made["spec"]["serviceAccountName"] == "default"
    assert [one["name"] for one in made["spec"]["volumes"]] == ["y", "apiservice-cert", VOLUME]
    assert made["spec"]["volumes"][1]["secret"] == {
        "secretName": "operator-service-cert",
        "items": [{"key": "tls.crt", "path": "apiserver.crt"}, {"key": "tls.key", "path": "apiserver.key"}],
    }
    kept, added = (one["volumeMounts"] for one in made["spec"]["containers"])
    assert [(one["name"], one["mountPath"]) for one in kept] == [
        ("webhook-cert", "/mine"), ("apiservice-cert", APIS),
    ]  # fmt: skip
    assert [one["mountPath"] for one in added] == [APIS, PATH]


def test_an_account_stays() -> None:
    made = serving({"template": {"spec": {"serviceAccountName": "sa", "containers": []}}}, "operator", "d")
    assert made["template"]["spec"]["serviceAccountName"] == "sa"
