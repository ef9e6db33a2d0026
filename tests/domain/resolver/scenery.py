"""Small namespaces for the resolver, written as briefly as the rows of the specification."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from shared.domain.resolution_inputs.request import inputs_of, response_of
from shared.domain.resolver.explain.fixes import explain
from shared.domain.resolver.model import Inputs
from shared.domain.resolver.resolve import resolve

NS, GLOBAL = "ns", "olm"
Blob = dict[str, Any]


def prop(kind: str, /, **value: object) -> Blob:
    return {"type": kind, "value": value}


def gives(kind: str) -> Blob:
    return prop("olm.gvk", group="g", version="v1", kind=kind)


def needs(kind: str) -> Blob:
    return prop("olm.gvk.required", group="g", version="v1", kind=kind)


def needs_package(name: str, versions: str) -> Blob:
    return prop("olm.package.required", packageName=name, versionRange=versions)


def constraint(**value: object) -> Blob:
    return prop("olm.constraint", **value)


DEPRECATED = prop("olm.deprecated")
NOT = "constraints not satisfiable: "


def two_chains(package: str) -> str:
    """What is said of a channel with two heads, `<package>.v2` and `<package>.v3`, that both replace `<package>.v1`."""
    return (
        "a unique replacement chain within a channel is required to determine the relative order between channel "
        f'entries, but 2 replacement chains were found in channel "stable" of package "{package}": '
        f"{package}.v2...{package}.v1, {package}.v3...{package}.v1"
    )


def entry(name: str, replaces: str = "", skips: Iterable[str] = (), skip_range: str = "") -> Blob:
    declared = {"name": name, "replaces": replaces, "skips": list(skips), "skipRange": skip_range}
    return {key: value for key, value in declared.items() if value}


def bundle(package: str, name: str, *properties: Blob, version: str = "") -> Blob:
    """`a.v2` has version 2.0.0 unless said otherwise."""
    identity = prop("olm.package", packageName=package, version=version or f"{name.rpartition('v')[2]}.0.0")
    return {
        "schema": "olm.bundle",
        "package": package,
        "name": name,
        "image": name,
        "properties": [identity, *properties],
    }


def package(
    name: str, entries: Iterable[Blob], *, channel: str = "stable", default: str = "stable", **properties: Any
) -> list[Blob]:
    """A package of one channel; `v2=[…]` are properties of bundle `<name>.v2`."""
    entries = list(entries)
    bundles = [
        bundle(name, one["name"], *properties.get(one["name"].partition(".")[2].replace(".", "_"), ()))
        for one in entries
    ]
    return [
        {"schema": "olm.package", "name": name, "defaultChannel": default},
        {"schema": "olm.channel", "package": name, "name": channel, "entries": entries},
        *bundles,
    ]


def channel(package_name: str, name: str, *entries: Blob) -> Blob:
    return {"schema": "olm.channel", "package": package_name, "name": name, "entries": list(entries)}


def line(name: str, count: int) -> list[Blob]:
    """`<name>.v<count>` replaces the one before, and so on down to `<name>.v1`."""
    return [entry(f"{name}.v{n}", f"{name}.v{n - 1}" if n > 1 else "") for n in range(count, 0, -1)]


def releases(name: str, count: int = 1, **properties: Any) -> list[Blob]:
    """A package whose only channel is the `line` of so many versions; `properties` as in `package`."""
    return package(name, line(name, count), **properties)


a, b = partial(releases, "a"), partial(releases, "b")


def catalog(
    *blobs: Iterable[Blob], name: str = "cat", namespace: str = NS, priority: int = 0, healthy: bool = True
) -> Blob:
    fbc = [blob for listed in blobs for blob in listed]
    return {"name": name, "namespace": namespace, "priority": priority, "fbc": fbc, "healthy": healthy}


def sub(
    name: str,
    *,
    package: str = "",
    channel: str = "stable",
    source: str = "cat",
    installed: str = "",
    namespace: str = NS,
    starting: str = "",
    **wishes: str,
) -> Blob:
    """A Subscription; further words are annotations of ours: `version="1.0.0"` is `olmf.io/version`."""
    spec = {
        "name": package or name,
        "channel": channel,
        "source": source,
        "sourceNamespace": namespace,
        "startingCSV": starting,
    }
    annotations = {f"olmf.io/{word.replace('_', '-')}": text for word, text in wishes.items()}
    metadata = {"name": name, "namespace": NS, **({"annotations": annotations} if annotations else {})}
    return {"metadata": metadata, "spec": spec, "status": {"installedCSV": installed}}


def csv(
    name: str,
    *properties: Blob,
    phase: str = "Succeeded",
    replaces: str = "",
    version: str = "",
    declared: bool = True,
    **spec: Any,
) -> Blob:
    """A ClusterServiceVersion whose annotation states its package and these properties (or has none)."""
    number = version or f"{name.rpartition('v')[2]}.0.0"
    identity = prop("olm.package", packageName=name.partition(".")[0], version=number)
    text = json.dumps({"properties": [identity, *properties]})
    annotations = {"operatorframework.io/properties": text} if declared else {}
    return {
        "metadata": {"name": name, "namespace": NS, "annotations": annotations},
        "spec": {"version": number, "replaces": replaces, **spec},
        "status": {"phase": phase},
    }


def ask(
    *catalogs: Blob, subs: Iterable[Blob] = (), csvs: Iterable[Blob] = (), whole: bool = True, **more: object
) -> Mapping[str, Any]:
    """The answer of a namespace; OLM's verdict unless `whole` is False."""
    inputs = seen(*catalogs, subs=subs, csvs=csvs, whole=whole, **more)
    resolution = resolve(inputs)
    return response_of(resolution, explain(inputs, resolution))


def seen(
    *catalogs: Blob, subs: Iterable[Blob] = (), csvs: Iterable[Blob] = (), whole: bool = True, **more: object
) -> Inputs:
    """What the resolver is asked about a namespace."""
    request = {
        "namespace": NS, "globalNamespace": GLOBAL, "catalogs": list(catalogs), "subscriptions": list(subs),
        "csvs": list(csvs), **more,
    }  # fmt: skip
    return inputs_of(request, {}, is_whole=whole)


def chosen(answer: Mapping[str, Any]) -> list[str]:
    """The names of what is newly chosen, sorted; the error instead when there is one."""
    return [answer["error"]] if answer["error"] else sorted(one["name"] for one in answer["operators"])
