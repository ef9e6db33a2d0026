"""A sound bundle, and ways to break it."""

from __future__ import annotations

from typing import Any

import orjson

from shared.domain.authoring.validation import Finding, Options, Subject, validate

PREFIX = "operators.operatorframework.io.bundle."
LABELS = {
    f"{PREFIX}mediatype.v1": "registry+v1",
    f"{PREFIX}manifests.v1": "manifests/",
    f"{PREFIX}metadata.v1": "metadata/",
    f"{PREFIX}package.v1": "tea",
    f"{PREFIX}channels.v1": "stable",
    f"{PREFIX}channel.default.v1": "stable",
}
MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")


def modes(*supported: str) -> list[dict[str, Any]]:
    return [{"type": mode, "supported": mode in supported} for mode in MODES]


def a_deployment(**pod: object) -> dict[str, Any]:
    container = {"name": "c", "image": "quay.io/acme/tea:1", "resources": {"requests": {"cpu": "1"}}}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container], **pod}}
    return {"name": "tea", "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}


def installing(*deployments: object) -> dict[str, Any]:
    return {"strategy": "deployment", "spec": {"deployments": list(deployments)}}


def a_csv(annotations: dict[str, str] | None = None, **spec: object) -> dict[str, Any]:
    whole = {
        "displayName": "Tea",
        "version": "1.0.0",
        "minKubeVersion": "1.27.0",
        "installModes": modes("OwnNamespace"),
        "install": {"strategy": "deployment", "spec": {"deployments": [a_deployment()]}},
        "customresourcedefinitions": {"owned": [owned()]},
        **spec,
    }
    examples = orjson.dumps([{"apiVersion": "tea.io/v1", "kind": "Pot"}]).decode()
    metadata = {"name": "tea.v1.0.0", "annotations": {"alm-examples": examples} | (annotations or {})}
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": metadata,
        "spec": {key: value for key, value in whole.items() if value is not None},
    }


def owned(**fields: str) -> dict[str, str]:
    return {"name": "pots.tea.io", "version": "v1", "kind": "Pot", "description": "a pot", **fields}


def a_crd(**spec: object) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "pots.tea.io"},
        "spec": {
            "group": "tea.io",
            "scope": "Namespaced",
            "names": {"kind": "Pot", "plural": "pots"},
            "versions": [{"name": "v1", "served": True, "storage": True}],
            **spec,
        },
    }


def an_object(kind: str, **fields: object) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": kind.lower()}, **fields}


def a_rule(group: str, resource: str, *verbs: str, **more: object) -> dict[str, object]:
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs), **more}


def with_permissions(*rules: object, side: str = "clusterPermissions") -> dict[str, Any]:
    permissions = {"permissions": [{"serviceAccountName": "s", "rules": []}]} | {
        side: [{"serviceAccountName": "sa", "rules": list(rules)}]
    }
    return {"strategy": "deployment", "spec": {"deployments": [a_deployment()], **permissions}}


def files(csv: object = None, labels: dict[str, str] | None = None, **others: object) -> dict[str, bytes]:
    """`a__b` is the file `a/b.yaml`; without a folder it is a manifest. None leaves a file out."""
    made: dict[str, object] = {"csv": csv or a_csv(), "crd": a_crd(), **others}
    made["metadata__annotations"] = {"annotations": LABELS if labels is None else labels}
    made |= {name: value for name, value in others.items() if name.startswith("metadata__")}
    named = {name if "__" in name else f"manifests__{name}": value for name, value in made.items()}
    return {
        f"{name.replace('__', '/')}.yaml": value if isinstance(value, bytes) else orjson.dumps(value)
        for name, value in named.items()
        if value is not None
    }


def found(
    *optional: str, options: Options | None = None, made: dict[str, bytes] | None = None, **others: Any
) -> list[Finding]:
    given = files(**others) if made is None else made
    return list(validate(Subject(given, "here", options or Options()), optional))


def errors(*optional: str, **others: Any) -> list[str]:
    return [str(one) for one in found(*optional, **others) if one.is_error]


def warnings(*optional: str, **others: Any) -> list[str]:
    return [str(one) for one in found(*optional, **others) if not one.is_error]
