"""The discovery API in both forms: aggregated, or group by group."""

from __future__ import annotations

from typing import Any

from eventing.local.apiserver.failures import no_such_path
from eventing.local.apiserver.resources import Registry, Resource
from shared.api.manifest import Manifest

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_STATUS_VERBS = ["get", "patch", "update"]
_SCALE = ("autoscaling", "v1", "Scale")
_TOKEN = ("authentication.k8s.io", "v1", "TokenRequest")


def version(git_version: str) -> Manifest:
    """The body of `/version`."""
    major, minor = git_version.removeprefix("v").split(".")[:2]
    return {
        "major": major, "minor": minor, "gitVersion": git_version, "gitCommit": "sandbox", "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": "sandbox",
    }  # fmt: skip


def describe(path: str, registry: Registry, *, aggregated: bool) -> Manifest | None:
    """The body of a discovery path; None for any other path."""
    match path.strip("/").split("/"):
        case ["api"]:
            return _aggregated(registry, is_core=True) if aggregated else {"kind": "APIVersions", "versions": ["v1"]}
        case ["apis"]:
            return _aggregated(registry, is_core=False) if aggregated else _groups(registry)
        case ["apis", group]:
            found = next((one for one in registry.versions() if one[0] == group), None)
            if found is None:
                raise no_such_path()
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(*found)}
        case ["api", "v1"]:
            return _resources(registry, "", "v1")
        case ["apis", group, version]:
            return _resources(registry, group, version)
    return None


def _groups(registry: Registry) -> Manifest:
    groups = [_group(*found) for found in registry.versions() if found[0]]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def _group(name: str, versions: list[str]) -> Manifest:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _resources(registry: Registry, group: str, version: str) -> Manifest:
    found = registry.in_version(group, version)
    if not found:
        raise no_such_path()
    entries: list[Manifest] = []
    for one in found:
        entry: dict[str, Any] = {
            "name": one.plural, "singularName": one.singular, "namespaced": one.is_namespaced, "kind": one.kind,
            "verbs": list(one.verbs), "shortNames": list(one.short), "categories": list(one.categories),
        }  # fmt: skip
        entries.append({key: value for key, value in entry.items() if value != []})
        for name, (at_group, at_version, kind), verbs in _below(one):
            place = {"group": at_group, "version": at_version} if at_version else {}
            entries.append({
                "name": f"{one.plural}/{name}", "singularName": "", "namespaced": one.is_namespaced, **place,
                "kind": kind, "verbs": verbs,
            })  # fmt: skip
    listed = f"{group}/{version}" if group else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": listed, "resources": entries}


def _below(resource: Resource) -> list[tuple[str, tuple[str, str, str], list[str]]]:
    """The subresources: name, kind of the answer, verbs."""
    of = {
        "scale": (_SCALE, _STATUS_VERBS),
        "token": (_TOKEN, ["create"]),
    }
    return [(name, *of.get(name, (("", "", resource.kind), _STATUS_VERBS))) for name in sorted(resource.subresources)]


def _aggregated(registry: Registry, *, is_core: bool) -> Manifest:
    items = [
        {"metadata": {"name": group} if group else {}, "versions": [_version(registry, group, one) for one in versions]}
        for group, versions in registry.versions()
        if is_core is not bool(group)
    ]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _version(registry: Registry, group: str, version: str) -> Manifest:
    listed = [_entry_of(one) for one in registry.in_version(group, version)]
    return {"version": version, "resources": listed, "freshness": "Current"}


def _entry_of(one: Resource) -> Manifest:
    below = [
        {
            "subresource": name,
            "responseKind": dict(zip(("group", "version", "kind"), kind, strict=True)),
            "verbs": verbs,
        }
        for name, kind, verbs in _below(one)
    ]
    entry = {
        "resource": one.plural, "responseKind": {"group": one.group, "version": one.version, "kind": one.kind},
        "scope": "Namespaced" if one.is_namespaced else "Cluster", "singularResource": one.singular,
        "verbs": list(one.verbs), "shortNames": list(one.short), "categories": list(one.categories),
        "subresources": below,
    }  # fmt: skip
    return {key: value for key, value in entry.items() if value != []}
