"""Small bundles, and questions about what OLM v1 makes of them."""

from __future__ import annotations

import json
from typing import Any

from shared.domain.extension.render.request import options_of, response_to

Json = dict[str, Any]

CSV = "manifests/csv.yaml"
MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
GATES = {"SingleOwnNamespaceInstallSupport": True, "DeploymentConfig": True}
PACKAGE = "operators.operatorframework.io.bundle.package.v1"
ANNOTATIONS = json.dumps({"annotations": {PACKAGE: "demo"}})


def a_deployment(name: str = "manager", **pod: Any) -> Json:
    containers = pod.pop("containers", [{"name": "main", "image": "demo:1"}])
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers, **pod}}
    return {"name": name, "spec": {"selector": {"matchLabels": {"app": name}}, "template": template}}


def a_permission(account: str = "robot", *rules: Json) -> Json:
    return {"serviceAccountName": account, "rules": list(rules) or [{"verbs": ["get"], "resources": ["pods"]}]}


def a_webhook(kind: str = "Validating", **more: Any) -> Json:
    declared = {
        "type": "ConversionWebhook" if kind == "Conversion" else f"{kind}AdmissionWebhook",
        "generateName": f"{kind.lower()}.demo.io",
        "deploymentName": "manager",
        "containerPort": 443,
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return {key: value for key, value in (declared | more).items() if value is not None}


def a_definition(name: str = "things.demo.io", **spec: Any) -> Json:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {"group": "demo.io", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"}, **spec},
    }


def a_csv(*modes: str, **changes: Any) -> Json:
    """`strategy` changes the strategy, `metadata` the metadata, everything else the spec."""
    strategy = {"deployments": [a_deployment()], **changes.pop("strategy", {})}
    meta = {"name": "demo.v1.0.0", **changes.pop("metadata", {})}
    supported = modes or ("AllNamespaces",)
    spec = {
        "version": "1.0.0",
        "install": {"strategy": "deployment", "spec": strategy},
        "installModes": [{"type": mode, "supported": mode in supported} for mode in MODES],
        **changes,
    }
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": meta,
        "spec": spec,
    }


def files(csv: Json | None = None, *others: Json, **texts: str | None) -> dict[str, bytes]:
    """The files of a bundle; `annotations` and `properties` are those of the metadata, None leaves one out."""
    found: dict[str, str | None] = {CSV: json.dumps(a_csv() if csv is None else csv)}
    found |= {f"manifests/{number}.yaml": json.dumps(one) for number, one in enumerate(others)}
    found["metadata/annotations.yaml"] = ANNOTATIONS
    found |= {f"metadata/{name}.yaml": text for name, text in texts.items()}
    return {path: text.encode() for path, text in found.items() if text is not None}


def ask(csv: Json | None = None, *others: Json, **request: Any) -> Json:
    """The answer of OLM v1 about a bundle that is installed in `ops`."""
    return about(files(csv, *others), **request)


def about(content: dict[str, bytes], **request: Any) -> Json:
    """The answer about these files."""
    return response_to(content, options_of({"installNamespace": "ops", "gates": GATES, **request}))


def objects(csv: Json | None = None, *others: Json, kind: str = "", **request: Any) -> list[Json]:
    """The manifests, of one kind or all."""
    response = ask(csv, *others, **request)
    assert "error" not in response, response["error"]
    return [one["manifest"] for one in response["objects"] if not kind or one["kind"] == kind]


def only(csv: Json | None = None, *others: Json, kind: str, **request: Any) -> Json:
    """The manifest of a kind of which there is one."""
    (found,) = objects(csv, *others, kind=kind, **request)
    return found


def error(csv: Json | None = None, *others: Json, **request: Any) -> str:
    """Why there are no objects."""
    return str(ask(csv, *others, **request)["error"])
