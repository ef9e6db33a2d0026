"""The images that a bundle needs (fbc.md §10.4)."""

from __future__ import annotations

from collections.abc import Iterator

from shared.api.manifest import Manifest, ReadOnly
from shared.domain.bundle.shape import as_list, as_object, as_text


def related_images(csv: ReadOnly, image: str = "") -> tuple[Manifest, ...]:
    """Name and image of what the ClusterServiceVersion relates, of the bundle itself, and of its Deployments."""
    spec = as_object(csv.get("spec"))
    found = [
        {"name": as_text(one.get("name")), "image": as_text(one.get("image"))}
        for one in map(as_object, as_list(spec.get("relatedImages")))
    ]
    missing = {image, *operator_images(csv)} - {"", *(one["image"] for one in found)}
    found += [{"name": "", "image": other} for other in missing]
    return tuple(sorted(found, key=lambda one: (one["image"], one["name"])))


def operator_images(csv: ReadOnly) -> tuple[str, ...]:
    """The images of all containers of the operator, each once, in their order."""
    install = as_object(as_object(csv.get("spec")).get("install"))
    if install.get("strategy") != "deployment":
        return ()
    found = (as_text(container.get("image")) for pod in _pods(install) for container in _containers(pod))
    return tuple(dict.fromkeys(filter(None, found)))


def _pods(install: ReadOnly) -> Iterator[ReadOnly]:
    for deployment in as_list(as_object(install.get("spec")).get("deployments")):
        template = as_object(as_object(as_object(deployment).get("spec")).get("template"))
        yield as_object(template.get("spec"))


def _containers(pod: ReadOnly) -> Iterator[ReadOnly]:
    for field in ("containers", "initContainers"):
        yield from map(as_object, as_list(pod.get(field)))
