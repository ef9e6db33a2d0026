"""What upstream's older engine leaves of an extension: objects of a release, and the Secrets that describe it."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping
from typing import Any

from shared import names
from shared.api.manifest import Manifest, ReadOnly, annotations_of, labels_of, metadata, name_of, uid_of

PLACE = names.V1_NAMESPACES[0]
ETCD = {
    names.V1_BUNDLE_NAME: "etcd.v1.0.0", names.V1_PACKAGE_NAME: "etcd", names.V1_BUNDLE_VERSION: "1.0.0",
    names.V1_BUNDLE_REFERENCE: "registry/etcd:v1.0.0",
}  # fmt: skip


def owner_of(manifest: ReadOnly) -> Manifest:
    """The reference of what an object controls."""
    values = {key: manifest[key] for key in ("apiVersion", "kind")}
    return {
        **values,
        "name": name_of(manifest),
        "uid": uid_of(manifest),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def a_release(
    extension: ReadOnly, objects: Iterable[Manifest], labels: Mapping[str, str] = ETCD, *, status: str = "deployed",
    **more: Any,
) -> Manifest:  # fmt: skip
    """The release as Helm keeps it."""
    lines = [
        json.dumps({**one, "metadata": {**metadata(one), "ownerReferences": [owner_of(extension)]}}) for one in objects
    ]
    chart = {"metadata": {"annotations": {names.V1_PROPERTIES: "[]", "other": "x"}}}
    return {
        "name": name_of(extension), "info": {"status": status}, "chart": chart, "manifest": "\n".join([*lines, ""]),
        "labels": dict(labels), **more,
    }  # fmt: skip


def secrets_of(
    release: Manifest, extension: ReadOnly, *, version: int = 1, chunk: int = 1 << 20, place: str = PLACE
) -> list[Manifest]:
    """Its Secrets, the index first. Give the others its uid with `owned` where the server chooses it."""
    packed = gzip.compress(json.dumps(release).encode(), mtime=0)
    key = f"sh.helm.release.v1.{release['name']}.v{version}"
    parts = [packed[start : start + chunk] for start in range(0, len(packed), chunk)]
    others = [f"{key}-{number}" for number in range(1, len(parts))]
    labels = {
        "name": release["name"], "owner": names.V1_HELM_MANAGER, "status": release["info"]["status"],
        "version": str(version), "key": key, "type": "index",
    }  # fmt: skip
    uid = f"uid-{key}"
    index = _secret(key, place, "index", {"extraChunks": json.dumps(others).encode(), "chunk": parts[0]})
    index["metadata"] |= {"labels": labels, "uid": uid, "ownerReferences": [owner_of(extension)]}
    rest = [_secret(name, place, "chunk", {"chunk": part}) for name, part in zip(others, parts[1:], strict=True)]
    return [index, *(owned(one, index) for one in rest)]


def owned(secret: Manifest, index: ReadOnly) -> Manifest:
    """A further Secret of a release, controlled by the first."""
    return {**secret, "metadata": {**secret["metadata"], "ownerReferences": [owner_of(index)]}}


def before_revisions(manifest: Manifest, extension: ReadOnly) -> Manifest:
    """An object of a revision as the older engine would have made it."""
    labels, annotations = labels_of(manifest), annotations_of(manifest)
    labels.pop(names.V1_MANAGED_BY, None)
    annotations.pop(names.V1_REVISION, None)
    meta = {
        **metadata(manifest),
        "labels": labels,
        "annotations": annotations,
        "ownerReferences": [owner_of(extension)],
    }
    entry = {"manager": names.V1_HELM_MANAGER, "operation": "Update"}
    meta["managedFields"] = [
        {**one, **entry} if one.get("manager") == names.V1_MANAGER else one for one in meta.get("managedFields") or ()
    ]
    return {**manifest, "metadata": meta}


def _secret(name: str, place: str, kind: str, data: Mapping[str, bytes]) -> Manifest:
    return {
        "apiVersion": "v1", "kind": "Secret", "type": f"operatorframework.io/{kind}.v1",
        "metadata": {"name": name, "namespace": place},
        "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
    }  # fmt: skip
