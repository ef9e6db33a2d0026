"""What users change about the Deployments of an operator: `deploymentConfig` (v1.md §18.4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from shared.api.manifest import Manifest, ReadOnly

_AFFINITIES: Final[tuple[str, ...]] = ("nodeAffinity", "podAffinity", "podAntiAffinity")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def overridden(manifest: Manifest, config: ReadOnly) -> Manifest:
    """A Deployment with the wishes of its users; containers are changed, init containers never."""
    spec = manifest["spec"]
    template = spec["template"]
    annotations = config.get("annotations") or {}
    changed = {
        **template,
        "metadata": _annotated(template["metadata"], annotations),
        "spec": _pod(template["spec"], config),
    }
    return {
        **manifest,
        "metadata": _annotated(manifest["metadata"], annotations),
        "spec": {**spec, "template": changed},
    }


def _annotated(meta: Manifest, annotations: ReadOnly) -> Manifest:
    """With the annotations that are not there yet."""
    if not annotations:
        return meta
    return {**meta, "annotations": {**annotations, **meta.get("annotations", {})}}


def _pod(pod: Manifest, config: ReadOnly) -> Manifest:
    changed = {**pod, "containers": pod["containers"] and [_container(one, config) for one in pod["containers"]]}
    _set(changed, "volumes", _by_name(pod.get("volumes"), config.get("volumes")))
    _set(changed, "tolerations", _added(pod.get("tolerations"), config.get("tolerations")))
    if config.get("nodeSelector") is not None:
        _set(changed, "nodeSelector", config["nodeSelector"])
    if config.get("affinity") is not None:
        _set(changed, "affinity", _affinity(pod.get("affinity") or {}, config["affinity"]))
    return changed


def _container(container: Manifest, config: ReadOnly) -> Manifest:
    changed = dict(container)
    _set(changed, "env", _by_name(container.get("env"), config.get("env")))
    _set(changed, "envFrom", _added(container.get("envFrom"), config.get("envFrom")))
    _set(changed, "volumeMounts", _by_name(container.get("volumeMounts"), config.get("volumeMounts")))
    if config.get("resources") is not None:
        changed["resources"] = config["resources"]
    return changed


def _set(manifest: Manifest, field: str, value: object) -> None:
    """Empty fields are not written."""
    if value:
        manifest[field] = value
    else:
        manifest.pop(field, None)


def _by_name(present: Iterable[Manifest] | None, desired: Iterable[Manifest] | None) -> list[Manifest]:
    """What is wanted takes the place of the last one of its name; new ones come behind, even twice."""
    merged = list(present or ())
    positions = {item["name"]: position for position, item in enumerate(merged)}
    for item in desired or ():
        if item["name"] in positions:
            merged[positions[item["name"]]] = item
        else:
            merged.append(item)
    return merged


def _added(present: Iterable[Manifest] | None, desired: Iterable[Manifest] | None) -> list[Manifest]:
    """What is wanted comes behind, unless it is there."""
    merged = list(present or ())
    for item in desired or ():
        if item not in merged:
            merged.append(item)
    return merged


def _affinity(present: ReadOnly, desired: ReadOnly) -> Manifest | None:
    """Each part that is wanted takes the place of what is there, an empty one removes it; None: there is none left."""
    parts = [part for part in _AFFINITIES if part in desired]
    if not parts:
        return None
    merged = {**present, **{part: desired[part] for part in parts}}
    left = {
        part: merged[part] for part in _AFFINITIES if part in merged and (part not in parts or _is_set(merged[part]))
    }
    return left if any(map(_is_set, left.values())) else None


def _is_set(affinity: ReadOnly) -> bool:
    required = affinity.get(_REQUIRED)
    if isinstance(required, dict):
        required = required["nodeSelectorTerms"]
    return bool(required or affinity.get(_PREFERRED))
