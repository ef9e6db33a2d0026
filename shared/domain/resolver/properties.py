"""Properties as OLM stores them on a ClusterServiceVersion, read and written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from shared import names
from shared.api.manifest import ReadOnly, annotations_of, name_of
from shared.domain.catalog.model import Bundle, Property


def annotation(bundle: Bundle, package: str) -> str:
    """The text of `operatorframework.io/properties` for a bundle: its properties and always its package."""
    properties = list(bundle.properties)
    if not any(stated.type == "olm.package" for stated in properties):
        properties.append(Property("olm.package", {"packageName": package, "version": bundle.version}))
    stated = [{"type": one.type, "value": one.value} for one in properties]
    return json.dumps({"properties": stated}, separators=(",", ":"), ensure_ascii=False)


def of_csv(csv: ReadOnly, packages: Iterable[str]) -> tuple[Property, ...]:
    """What an installed CSV states; without the annotation, what its spec and its Subscriptions' packages imply.

    ValueError when the annotation cannot be read.
    """
    text = annotations_of(csv).get(names.PROPERTIES)
    if text is not None:
        try:
            listed = json.loads(text).get("properties") or []
            return tuple(Property(one["type"], one.get("value")) for one in listed)
        except (ValueError, AttributeError, TypeError, KeyError) as error:
            where = f'failed to retrieve properties of csv "{name_of(csv)}"'
            raise ValueError(f"{where}: failed to unmarshal properties annotation: {error}") from error
    return (*_apis(csv), *_package(csv, set(packages)))


def _apis(csv: ReadOnly) -> Iterator[Property]:
    spec = csv.get("spec") or {}
    for owned in (spec.get("customresourcedefinitions") or {}).get("owned") or ():
        group = str(owned.get("name") or "").partition(".")[2]
        yield Property("olm.gvk", {"group": group, "kind": owned.get("kind"), "version": owned.get("version")})
    for owned in (spec.get("apiservicedefinitions") or {}).get("owned") or ():
        yield Property("olm.gvk", {key: owned.get(key) for key in ("group", "kind", "version")})


def _package(csv: ReadOnly, packages: set[str]) -> Iterator[Property]:
    if len(packages) == 1:
        version = str((csv.get("spec") or {}).get("version") or "")
        shown = "" if version == "0.0.0" else version
        yield Property("olm.package", {"packageName": packages.pop(), "version": shown})
