"""The images that a bundle needs (fbc.md §10.4)."""

from __future__ import annotations

from typing import Final

from shared.api.manifest import Manifest, ReadOnly
from shared.domain.bundle.typed import images_of

_CONTAINERS: Final = ("containers", "initContainers")


def related_images(csv: ReadOnly, image: str = "") -> tuple[Manifest, ...]:
    """Name and image of what a version relates, of the bundle itself, and of its Deployments. MisfitError."""
    found = [{"name": one["name"], "image": one["image"]} for one in images_of(csv).get("relatedImages", ())]
    missing = {*filter(None, [image]), *operator_images(csv)} - {one["image"] for one in found}
    found += [{"name": "", "image": other} for other in missing]
    return tuple(sorted(found, key=lambda one: (one["image"], one["name"])))


def operator_images(csv: ReadOnly) -> tuple[str, ...]:
    """The images of all containers of the operator, each once, in their order. MisfitError."""
    install = images_of(csv)["install"]
    if install["strategy"] != "deployment":
        return ()
    pods = (one["spec"]["template"]["spec"] for one in install["spec"].get("deployments", ()))
    containers = (one for pod in pods for field in _CONTAINERS for one in pod.get(field) or ())
    return tuple(dict.fromkeys(one.get("image", "") for one in containers))
