"""Small catalogs for tests: a sound one, and ways to spoil it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from shared.domain.authoring.judging.judge import Reading
from shared.domain.catalog.documents import Document, PackageDocuments, light
from shared.domain.catalog.model import Package
from shared.domain.catalog.parse import SickPackage, parse_package
from shared.domain.catalog.validation_result import ValidationResult

Json = dict[str, Any]


def an_entry(name: str, replaces: str = "", skips: tuple[str, ...] = (), skip_range: str = "") -> Json:
    fields = {"replaces": replaces, "skips": list(skips), "skipRange": skip_range}
    return {"name": name} | {key: value for key, value in fields.items() if value}


def a_package(name: str = "foo", **fields: Any) -> Json:
    return {"schema": "olm.package", "name": name, "defaultChannel": "alpha", **fields}


def a_channel(name: str = "alpha", *entries: Json, package: str = "foo", **fields: Any) -> Json:
    listed = list(entries) or [an_entry("foo.v0.1.0")]
    return {"schema": "olm.channel", "package": package, "name": name, "entries": listed, **fields}


def a_property(type_: str, **value: Any) -> Json:
    return {"type": type_, "value": value}


def a_bundle(name: str = "foo.v0.1.0", version: str = "0.1.0", *more: Json, release: str = "", **fields: Any) -> Json:
    package = fields.get("package", "foo")
    identity = {"packageName": package, "version": version} | ({"release": release} if release else {})
    properties = [a_property("olm.package", **identity), *more]
    defaults = {"package": "foo", "image": f"quay.io/foo/{name.lower() or 'x'}", "properties": properties}
    return {"schema": "olm.bundle", "name": name, **defaults, **fields}


def a_deprecation(*entries: Json, package: str = "foo") -> Json:
    return {"schema": "olm.deprecations", "package": package, "entries": list(entries)}


def a_notice(schema: str = "olm.package", name: str = "", message: str = "old") -> Json:
    reference = {"schema": schema} | ({"name": name} if name else {})
    return {"reference": reference, "message": message}


def a_chain(*entries: Json) -> tuple[Json, ...]:
    """A package with one channel of these entries, and their bundles, each of a version of its own."""
    bundles = [a_bundle(entry["name"], f"0.0.{number}") for number, entry in enumerate(entries)]
    return a_package(), a_channel("alpha", *entries), *bundles


def without(document: Json, *names: str) -> Json:
    return {name: value for name, value in document.items() if name not in names}


def written(*documents: Mapping[str, Any]) -> bytes:
    return "\n".join(json.dumps(document, indent=2) for document in documents).encode()


def packages_of(documents: Iterable[Document]) -> tuple[Package | SickPackage, ...]:
    """The packages that documents make, by name, as the index of a catalog makes them."""
    by_package: dict[str, list[Document]] = {}
    for one in documents:
        by_package.setdefault(one.name if one.schema == "olm.package" else one.package, []).append(light(one))
    reported = ((name, PackageDocuments.of(by_package[name])) for name in sorted(by_package))
    return tuple(parse_package(name, found) for name, found in reported if not found.is_empty)


def reading(content: bytes, name: str = "catalog.json") -> Reading:
    found = Reading()
    found.add_file(name, content)
    return found


def judged(*documents: Mapping[str, Any]) -> ValidationResult:
    """The judgement of a catalog of one JSON file."""
    return reading(written(*documents)).result()


def messages(*documents: Mapping[str, Any]) -> list[str]:
    return [finding.message for finding in judged(*documents).findings]
