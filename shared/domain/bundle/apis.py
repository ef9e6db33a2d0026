"""The APIs that a bundle provides and requires (fbc.md §9.2, §9.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from shared.api.manifest import Manifest, ReadOnly
from shared.domain.bundle.model import CRD, ParsedBundle
from shared.domain.bundle.shape import as_list, as_object, name_in
from shared.domain.bundle.typed import apis_of, check, images_of
from shared.domain.go.text import quoted
from shared.domain.go_types.engine import MisfitError
from shared.domain.go_types.plain import what_is

_CRDS: Final = "customresourcedefinitions"
_SERVICES: Final = "apiservicedefinitions"
_OLD, _NEW = "v1beta1", "v1"


class ApiError(ValueError):
    """The description of an API in a bundle is not valid."""


@dataclass(frozen=True, slots=True, order=True)
class Api:
    """One version of one kind."""

    group: str
    version: str
    kind: str
    plural: str = ""

    def __str__(self) -> str:
        shown_plural = f" ({self.plural})" if self.plural else ""
        return f"{self.group}/{self.version}/{self.kind}{shown_plural}"

    def gvk_text(self) -> str:
        """As Go prints group, version and kind."""
        return f"{self.group}/{self.version}, Kind={self.kind}"

    def property(self) -> Manifest:
        """The value of an `olm.gvk` or `olm.gvk.required` property."""
        return {"group": self.group, "kind": self.kind, "version": self.version}


def check_owned(bundle: ParsedBundle) -> None:
    """ApiError when the bundle lacks a definition that its ClusterServiceVersion owns."""
    where = f"error checking provided apis in bundle {bundle.name}"
    defined_apis = {api for manifest in bundle.objects for api in defined(manifest)}
    try:
        owned = [_described_api(one) for one in described(bundle.csv, _CRDS, "owned")]
    except ApiError as error:
        raise ApiError(f"{where}: {error}") from error
    for desired in owned:
        if desired not in defined_apis:
            listed = " ".join(f"{api}:{{}}" for api in sorted(defined_apis))
            raise ApiError(f"{where}: couldn't find {desired} in bundle. found: map[{listed}]")


def check_types(bundle: ParsedBundle) -> None:
    """ApiError when its ClusterServiceVersion or a definition has another shape than `opm` reads."""
    where = ""
    try:
        for manifest in bundle.objects:
            check(manifest)
        where = f"get related images for bundle {quoted(bundle.name)}: "
        images_of(bundle.csv)
    except MisfitError as error:
        raise ApiError(f"{where}{error}") from error


def provided(bundle: ParsedBundle) -> tuple[Manifest, ...]:
    """Every version of every definition in the bundle, and the API services that it owns."""
    definitions = (api.property() for manifest in bundle.objects for api in defined(manifest))
    return (*definitions, *map(_service, described(bundle.csv, _SERVICES, "owned")))


def required(csv: ReadOnly) -> tuple[Manifest, ...]:
    """The definitions and the API services that a version requires. ApiError for a definition without a group."""
    definitions = (_described_api(one).property() for one in described(csv, _CRDS, "required"))
    return (*definitions, *map(_service, described(csv, _SERVICES, "required")))


def defined(manifest: ReadOnly) -> Iterator[Api]:
    """The APIs of one definition. A v1beta1 definition may name a single version beside the list. ApiError."""
    form = str(manifest.get("apiVersion") or "").rpartition("/")[2]
    if manifest.get("kind") != CRD or form not in (_OLD, _NEW):
        return
    spec = as_object(manifest.get("spec"))
    named = as_object(spec.get("names"))
    kind, plural = (_text(manifest, named.get(field), f"spec.names.{field}") for field in ("kind", "plural"))
    group = _text(manifest, spec.get("group"), "spec.group")
    listed = [as_object(version).get("name") for version in as_list(spec.get("versions"))]
    alone = [spec.get("version")] if form == _OLD else []
    versions = (_text(manifest, name, "spec.versions") for name in (*listed, *alone))
    for version in dict.fromkeys(filter(None, versions)):
        yield Api(group, version, kind, plural)


def described(csv: ReadOnly, field: str, side: str) -> Iterator[ReadOnly]:
    """The descriptions of APIs in a ClusterServiceVersion. ApiError when it has another shape."""
    try:
        yield from apis_of(csv)[field].get(side, ())
    except MisfitError as error:
        raise ApiError(str(error)) from error


def _described_api(entry: ReadOnly) -> Api:
    name = entry["name"]
    plural, dot, group = name.partition(".")
    if not dot:
        raise ApiError(f"couldn't parse plural.group from crd name: {name}")
    return Api(group, entry["version"], entry["kind"], plural)


def _service(entry: ReadOnly) -> Manifest:
    return {key: entry[key] for key in ("group", "kind", "version")}


def _text(manifest: ReadOnly, value: object, field: str) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    version = str(manifest.get("apiVersion") or "").rpartition("/")[2]
    raise ApiError(f"error decoding {version} CRD: {name_in(manifest)}: {field}: wanted text, got {what_is(value)}")
