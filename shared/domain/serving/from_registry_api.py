"""Turns the answers of a server of the registry API into the documents of a catalog (fbc.md §15.6)."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import orjson

from shared.api.manifest import Manifest
from shared.domain.catalog.model import BUNDLE_OBJECT, GVK, GVK_REQUIRED, PACKAGE, PACKAGE_REQUIRED, Entry
from shared.domain.go import json as gojson
from shared.domain.go.encode import json_text

Message: TypeAlias = Mapping[str, Any]  # why: a message by field name
_REQUIRED: Final = {GVK: GVK_REQUIRED, PACKAGE: PACKAGE_REQUIRED}


class BadResponse(ValueError):
    """A property in the answer of a server cannot be read; the message names the bundle."""


def documents(packages: Iterable[Message], bundles: Iterable[Message]) -> Iterator[Manifest]:
    """The documents of a catalog: what `GetPackage` answers for each package, and what `ListBundles` answers."""
    listed: dict[str, list[Message]] = {}
    for bundle in bundles:
        listed.setdefault(bundle.get("packageName", ""), []).append(bundle)
    for package in packages:
        name = package.get("name", "")
        own = listed.get(name, [])
        yield {"schema": "olm.package", "name": name, "defaultChannel": package.get("defaultChannelName", "")}
        entries: dict[str, list[Manifest]] = {}
        for bundle in own:
            entries.setdefault(bundle.get("channelName", ""), []).append(_entry(bundle))
        for channel in sorted(entries):
            yield {"schema": "olm.channel", "package": name, "name": channel, "entries": entries[channel]}
        unique = {bundle.get("csvName", ""): bundle for bundle in own}
        yield from (_bundle(name, bundle) for bundle in unique.values())
        if notices := list(_notices(package, unique.values())):
            yield {"schema": "olm.deprecations", "package": name, "entries": notices}


def lines_of(found: Iterable[Manifest]) -> bytes:
    """The same as a file, a document each line. BadResponse when one cannot be written, as it is nested too deep."""
    pieces = []
    for one in found:
        try:
            pieces.append(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE))
        except orjson.JSONEncodeError as error:
            what = f"{one['schema']} {one['name']}" if "name" in one else str(one["schema"])
            raise BadResponse(f"{what} cannot be kept: {str(error).lower()}") from error
    return b"".join(pieces)


def _entry(bundle: Message) -> Manifest:
    return Entry.of({**bundle, "name": bundle.get("csvName")}).document()


def _bundle(package: str, bundle: Message) -> Manifest:
    name = bundle.get("csvName", "")
    try:
        properties = list(_properties(package, bundle))
    except gojson.JsonError as error:
        raise BadResponse(f"bundle {name} of package {package}: a property cannot be read: {error}") from error
    return {
        "schema": "olm.bundle",
        "package": package,
        "name": name,
        "image": bundle.get("bundlePath", ""),
        "properties": properties,
    }


def _properties(package: str, bundle: Message) -> Iterator[Manifest]:
    """The properties that the server states, in its order, and those that older servers state in other fields."""
    declared = [_property(one.get("type", ""), _value(one)) for one in bundle.get("properties") or ()]
    if all(one["type"] != PACKAGE for one in declared):
        declared.append(_property(PACKAGE, {"packageName": package, "version": bundle.get("version", "")}))
    elsewhere = [_property(GVK, _gvk(api)) for api in bundle.get("providedApis") or ()]
    elsewhere += [_property(GVK_REQUIRED, _gvk(api)) for api in bundle.get("requiredApis") or ()]
    elsewhere += [_needed(one) for one in bundle.get("dependencies") or () if one.get("type") in _REQUIRED]
    known = set(map(json_text, declared)) if elsewhere else set[str]()
    for one in elsewhere:
        if (text := json_text(one)) not in known:
            known.add(text)
            declared.append(one)
    yield from declared
    for text in bundle.get("object") or ():
        yield _property(BUNDLE_OBJECT, {"data": base64.b64encode(text.encode()).decode()})


def _value(message: Message) -> Any:  # why: any JSON value
    return gojson.loads(message.get("value", "").encode())


def _property(kind: str, value: Any) -> Manifest:  # why: any JSON value
    return {"type": kind, "value": value}


def _gvk(api: Message) -> Manifest:
    return {key: api.get(key, "") for key in ("group", "kind", "version")}


def _needed(dependency: Message) -> Manifest:
    value = _value(dependency)
    if dependency["type"] == PACKAGE and isinstance(value, dict):
        value = {"packageName": value.get("packageName"), "versionRange": value.get("version")}
    return _property(_REQUIRED[dependency["type"]], value)


def _notices(package: Message, bundles: Iterable[Message]) -> Iterator[Manifest]:
    if message := _message(package):
        yield {"reference": {"schema": "olm.package"}, "message": message}
    for schema, name, listed in (
        ("olm.channel", "name", package.get("channels") or ()),
        ("olm.bundle", "csvName", bundles),
    ):
        for one in listed:
            if message := _message(one):
                yield {"reference": {"schema": schema, "name": one.get(name, "")}, "message": message}


def _message(message: Message) -> str:
    return str((message.get("deprecation") or {}).get("message") or "")
