"""Checks whether the parts of a bundle agree, and its size (fbc.md §11.6, Bundle)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from shared.domain.authoring.validation.finding import ERROR, WARNING, Finding
from shared.domain.authoring.validation.subject import Subject
from shared.domain.bundle.annotations import PACKAGE
from shared.domain.bundle.apis import Api, ApiError, defined
from shared.domain.bundle.model import CRD
from shared.domain.bundle.payload import LIMIT, packed
from shared.domain.bundle.shape import as_list, name_in
from shared.domain.catalog.image_reference import why_not
from shared.domain.go.text import quoted

_NEAR: Final = 0.85
_UNITS: Final = ("B", "kB", "MB")


def whole(subject: Subject) -> Iterator[Finding]:
    """The findings of the rules `bundle`."""
    if not subject.csv:
        return
    for path in sorted(subject.files):
        if path.startswith("manifests/."):
            yield Finding(ERROR, f"bundle manifests dir has hidden file: {path.partition('/')[2]}", path, value=path)
    yield from _definitions(subject)
    yield from _accounts(subject)
    yield from size(subject)
    yield from _release_name(subject)
    yield from _related_images(subject)


def _definitions(subject: Subject) -> Iterator[Finding]:
    name = quoted(subject.csv_name)
    found: list[tuple[str, Api]] = []
    for path, manifest in subject.of_kind(CRD):
        try:
            found += [(path, replace(api, plural="")) for api in defined(manifest)]
        except ApiError as error:
            yield Finding(ERROR, str(error), path, value=name_in(manifest))
    counted = Counter(api for _, api in found)
    for api in sorted(api for api, count in counted.items() if count > 1):
        yield Finding(ERROR, f"duplicate CRD {quoted(api.gvk_text())} in bundle {name}", value=api.gvk_text())
    owned = Counter(map(_owned, subject.described("owned")))
    for api, count in owned.items():
        if api not in counted or count > 1:
            what = f"owned CRD {quoted(api.gvk_text())} not found in bundle {name}"
            yield Finding(ERROR, what, value=api.gvk_text())
    kinds = {(api.group, api.kind) for api in owned if api in counted}
    for api, path in {api: path for path, api in found}.items():
        if (api.group, api.kind) not in kinds:
            what = f"CRD {quoted(api.gvk_text())} is present in bundle {name} but not defined in CSV"
            yield Finding(ERROR, what, path, value=api.gvk_text())


def _owned(one: dict[str, str]) -> Api:
    _, dot, group = one["name"].partition(".")
    return Api(group if dot else one["name"], one["version"], one["kind"])


def _accounts(subject: Subject) -> Iterator[Finding]:
    used = {pod.get("serviceAccountName") for pod in subject.pods()}
    for path, manifest in subject.of_kind("ServiceAccount"):
        name = name_in(manifest)
        if manifest.get("apiVersion") == "v1" and name and name in used:
            what = f"invalid service account found in bundle. This service account {name} in your bundle is not valid"
            yield Finding(
                ERROR, f"{what}: it is made from the ClusterServiceVersion, remove the file", path, value=name
            )


def size(subject: Subject) -> Iterator[Finding]:
    """Whether the bundle fits into a ConfigMap, compressed and encoded as it is there."""
    plain = sum(map(len, subject.files.values()))
    compressed = sum(len(packed(content)) for content in subject.files.values())
    if plain == 0:
        yield Finding(WARNING, "unable to check the bundle size", value="")
        return
    sizes = f"size=~{_size_text(compressed)} , max={_size_text(LIMIT)}. Bundle uncompressed size is {_size_text(plain)}"
    if compressed > LIMIT:
        yield Finding(ERROR, f"maximum bundle compressed size with gzip size exceeded: {sizes}", value="")
    elif compressed > LIMIT * _NEAR:
        yield Finding(WARNING, f"nearing maximum bundle compressed size with gzip: {sizes}", value="")


def _size_text(count: float) -> str:
    """A number of bytes in powers of 1000, with one decimal."""
    for unit in _UNITS[:-1]:
        if count < 1000:
            return f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} {_UNITS[-1]}"


def _release_name(subject: Subject) -> Iterator[Finding]:
    release, package = subject.spec.get("release"), subject.annotations.get(PACKAGE)
    if not release:
        return
    desired = f"{package or ''}-v{subject.spec['version']}-{release}"
    if subject.csv_name != desired:
        detail = f"bundle name with release versioning {quoted(subject.csv_name)} does not match expected name"
        yield Finding(ERROR, f"{detail} {quoted(desired)}", value=subject.csv_name)


def _related_images(subject: Subject) -> Iterator[Finding]:
    for index, one in enumerate(as_list(subject.spec.get("relatedImages"))):
        image, where = one["image"], f"spec.relatedImages[{index}].image"
        if not image:
            yield Finding(ERROR, f"relatedImages[{index}] has an empty image field", value=where)
        elif why := why_not(image):
            what = f"relatedImages[{index}] has an invalid image pullspec {quoted(image)}: {why}"
            yield Finding(ERROR, what, value=where)
