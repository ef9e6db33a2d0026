"""The raw form of a Kubernetes object, as it came from JSON or YAML."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from shared.names import ANY, LAST_APPLIED, NONE

Manifest: TypeAlias = dict[str, Any]  # why: JSON is dynamic; this alias is the one place that says so
"""A decoded JSON object. Past a parser only typed values travel."""

ReadOnly: TypeAlias = Mapping[str, Any]
"""A manifest that the holder promises not to change."""


def metadata(manifest: ReadOnly) -> ReadOnly:
    """`metadata` of an object, empty when absent."""
    return manifest.get("metadata") or {}


def name_of(manifest: ReadOnly) -> str:
    """`metadata.name`, empty when absent."""
    return str(metadata(manifest).get("name") or "")


def namespace_of(manifest: ReadOnly) -> str:
    """`metadata.namespace`, empty for a cluster-scoped object."""
    return str(metadata(manifest).get("namespace") or "")


def uid_of(manifest: ReadOnly) -> str:
    """`metadata.uid`, empty before the object was stored."""
    return str(metadata(manifest).get("uid") or "")


def resource_version_of(manifest: ReadOnly) -> str:
    """`metadata.resourceVersion`, empty before the object was stored."""
    return str(metadata(manifest).get("resourceVersion") or "")


def is_deleted(manifest: ReadOnly) -> bool:
    """Whether the object is being deleted (`metadata.deletionTimestamp`)."""
    return bool(metadata(manifest).get("deletionTimestamp"))


def labels_of(manifest: ReadOnly) -> dict[str, str]:
    """`metadata.labels` as a new dict."""
    return dict(metadata(manifest).get("labels") or {})


def annotations_of(manifest: ReadOnly) -> dict[str, str]:
    """`metadata.annotations` as a new dict."""
    return dict(metadata(manifest).get("annotations") or {})


def without_content(manifest: ReadOnly) -> Manifest:
    """A Secret as it may be shown: who it is, not what it holds. Any other object as it is."""
    if manifest.get("kind") != "Secret":
        return dict(manifest)
    found = {key: manifest[key] for key in ("apiVersion", "kind", "type") if key in manifest}
    meta = dict(metadata(manifest))
    if annotations := annotations_of(manifest):
        annotations.pop(LAST_APPLIED, None)  # why: it repeats the whole object
        meta["annotations"] = annotations
    return {**found, "metadata": meta}


def timestamp(moment: datetime) -> str:
    """A time as Kubernetes writes it, in whole seconds."""
    return moment.astimezone(UTC).isoformat()[:19] + "Z"


def carries(manifest: ReadOnly, labels: Mapping[str, str]) -> bool:
    """Whether an object has all these labels; `*` stands for any value, `!` for an object without the label."""
    present = labels_of(manifest)
    return all(
        value in (ANY, present[key]) if key in present else value == NONE  # which is no value of a label
        for key, value in labels.items()
    )


def instant(text: object) -> datetime | None:
    """The time in a Kubernetes timestamp; None when it is absent or not valid, e.g. without a time zone."""
    try:
        moment = datetime.fromisoformat(str(text)) if text else None
    except ValueError:
        return None
    return moment if moment and moment.tzinfo else None
