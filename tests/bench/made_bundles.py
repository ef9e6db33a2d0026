"""Bundles of as many objects as a measurement needs, as `olmf up --bundles` serves them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import yaml

from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_SERVICE_VERSION
from tests.functions.subscription.world import a_crd
from tests.kit.installation import SAMPLES

ALWAYS = 5
"""What each of them has: a definition, a ServiceAccount, its ClusterRole and binding, a Deployment."""
_GROUP = "samples.olmf.io"


def write(folder: Path, package: str, others: Sequence[Manifest]) -> None:
    """Version 1.0.0 of a package, with these objects besides."""
    base = folder / package / "1.0.0"
    manifests = (_version(package), a_crd(f"{package}s.{_GROUP}"), *others)
    mark = "operators.operatorframework.io.bundle"
    entry = {
        f"{mark}.mediatype.v1": "registry+v1", f"{mark}.manifests.v1": "manifests/",
        f"{mark}.metadata.v1": "metadata/", f"{mark}.package.v1": package, f"{mark}.channels.v1": "stable",
        f"{mark}.channel.default.v1": "stable",
    }  # fmt: skip
    files = {f"manifests/{number:04}.yaml": one for number, one in enumerate(manifests)}
    for name, content in {**files, "metadata/annotations.yaml": {"annotations": entry}}.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(yaml.dump(content, Dumper=yaml.CSafeDumper))


def many_packages(folder: Path, count: int) -> Path:
    """The newest sample of one package under so many names: copies of one name from two homes would be one copy."""
    sample = SAMPLES / "tide" / "1.0.0"
    for number in range(count):
        for path in filter(Path.is_file, sample.rglob("*")):
            made = folder / f"tide{number}" / "1.0.0" / path.relative_to(sample)
            made.parent.mkdir(parents=True, exist_ok=True)
            made.write_text(path.read_text().replace("tide", f"tide{number}"))
    return folder


def an_object(kind: str, name: str, api_version: str = "v1", **content: object) -> Manifest:
    """Any object without a namespace."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **content}


def _version(package: str) -> Manifest:
    account, labels = f"{package}-operator", {"app": package}
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    container = {"name": "main", "image": "registry.example.com/main:v1"}
    template = {"metadata": {"labels": labels}, "spec": {"serviceAccountName": account, "containers": [container]}}
    deployment = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    strategy = {
        "clusterPermissions": [{"serviceAccountName": account, "rules": rules}],
        "deployments": [{"name": f"{package}-controller", "spec": deployment}],
    }
    owned = [{"name": f"{package}s.{_GROUP}", "kind": f"{package.capitalize()}s", "version": "v1"}]
    spec = {
        "displayName": package, "version": "1.0.0", "installModes": [{"type": "AllNamespaces", "supported": True}],
        "install": {"strategy": "deployment", "spec": strategy}, "customresourcedefinitions": {"owned": owned},
    }  # fmt: skip
    return an_object("ClusterServiceVersion", f"{package}.v1.0.0", CLUSTER_SERVICE_VERSION.api_version, spec=spec)
