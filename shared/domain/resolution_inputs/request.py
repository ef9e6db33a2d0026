"""The JSON lines of `olmf resolve --batch`: a namespace as a request, and the response."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, Final

from shared import names
from shared.api import fields
from shared.api.manifest import ReadOnly, namespace_of
from shared.api.views import Csv, OperatorGroup, Subscription
from shared.domain.catalog.model import Bundle, Channel, Entry, Package, Property
from shared.domain.resolution_inputs.namespace import completed, excludes_global, subscriber_of
from shared.domain.resolver.catalog_readers import LoadedCatalog
from shared.domain.resolver.explain.findings import Finding, conflict_of, fixes_of
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog, CatalogReader, Inputs, Resolution
from shared.domain.resolver.subscription_policy import ANNOTATIONS, AVAILABLE
from shared.domain.shape import InvalidRequest, Shape, check

_READ = "as asked"
"""The reference of a catalog whose content is in the request."""

_METADATA: Final[Shape] = {
    "name": str,
    "namespace": str,
    "labels": {names.COPIED_FROM: str},
    "annotations": dict.fromkeys((*ANNOTATIONS, names.PROPERTIES, names.OPERATOR_NAMESPACE), str),
}
_API: Final[Shape] = [dict.fromkeys(("name", "group", "version", "kind"), str)]
_APIS: Final[Shape] = {"owned": _API, "required": _API}
_REQUEST: Final[Shape] = {
    "namespace": str,
    "globalNamespace": str,
    "catalogs": [{"name": str, "namespace": str, "priority": int, "healthy": bool, "path": str, "fbc": [dict]}],
    "subscriptions": [
        {
            "metadata": _METADATA,
            "spec": dict.fromkeys(
                ("name", "channel", "source", "sourceNamespace", "startingCSV", "installPlanApproval"), str
            ),
            "status": {"installedCSV": str},
        }
    ],
    "csvs": [
        {
            "metadata": _METADATA,
            "spec": {
                "version": str,
                "replaces": str,
                "customresourcedefinitions": _APIS,
                "apiservicedefinitions": _APIS,
            },
            "status": {"phase": str, "reason": str},
        }
    ],
    "operatorGroups": [{"metadata": _METADATA, "spec": {"upgradeStrategy": str}}],
}
_NEEDED: Final = {
    "catalogs": ("name", "namespace"),
    "subscriptions": ("metadata.name",),
    "csvs": ("metadata.name",),
}
"""Fields that identify an object: without them an answer cannot name it."""
_BLOBS: Final[Mapping[str, Shape]] = {
    "olm.package": {"name": str, "defaultChannel": str},
    "olm.channel": {
        "name": str,
        "package": str,
        "entries": [{"name": str, "replaces": str, "skips": [str], "skipRange": str}],
    },
    "olm.bundle": {"name": str, "package": str, "image": str, "properties": [{"type": str}]},
}
"""By schema; documents of other schemas are not read."""


def paths_of(request: ReadOnly) -> Iterator[str]:
    """Where the catalogs are that a request names by path, even those that the namespace does not see.

    They are loaded before it is judged: a wrong path is an error wherever it is written.
    """
    found = (fields.value(one, "path") for one in fields.parts(request, "catalogs"))
    return (one for one in dict.fromkeys(found) if isinstance(one, str))


def inputs_of(request: Mapping[str, Any], loaded: Mapping[str, CatalogReader], *, is_whole: bool) -> Inputs:
    """The inputs in a request, with the catalogs of `paths_of`. InvalidRequest names the field that is wrong."""
    check(request, _REQUEST)
    for place in _missing(request):
        raise InvalidRequest(f"{place}: missing")
    namespace = request["namespace"]
    groups = None if request.get("operatorGroups") is None else OperatorGroup.each(request["operatorGroups"])
    unseen = _unseen(request, groups or ())
    read = {_key(one): (one, _reader(one, loaded, place)) for place, one in _numbered(request, "catalogs")}
    catalogs = {key: _catalog(one) for key, (one, _) in read.items() if key not in unseen}
    subscriptions = Subscription.each(_in(request, "subscriptions"))
    csvs = Csv.each(_in(request, "csvs"))
    inputs = Inputs(
        namespace,
        tuple(map(subscriber_of, subscriptions)),
        catalogs=catalogs,
        readers={key: read[key][1] for key, one in catalogs.items() if one.reference},
        is_whole=is_whole,
        unseen=unseen,
    )
    return completed(inputs, subscriptions, csvs, groups, policy=AVAILABLE)


def _numbered(request: ReadOnly, field: str) -> Iterator[tuple[str, ReadOnly]]:
    """The objects in a list of the request, each with its path."""
    return ((f"{field}[{index}]", one) for index, one in enumerate(request.get(field) or ()))


def _missing(request: ReadOnly) -> Iterator[str]:
    """The places where a field that identifies is absent or empty."""
    if not request.get("namespace"):
        yield "namespace"
    for field, paths in _NEEDED.items():
        for place, one in _numbered(request, field):
            for path in paths:
                if not reduce(lambda inner, key: inner.get(key) or {}, path.split("."), one):
                    yield f"{place}.{path}"


def _unseen(request: ReadOnly, groups: Sequence[OperatorGroup]) -> dict[CatalogKey, str]:
    """The stated catalogs that the namespace does not see, and why."""
    namespace, common = request["namespace"], request.get("globalNamespace")
    excludes = excludes_global(groups)
    others = [key for _, one in _numbered(request, "catalogs") if (key := _key(one)).namespace != namespace]
    if not common:
        why = "the request has no globalNamespace"
    elif excludes:
        why = f"its OperatorGroup has the annotation {names.EXCLUDE_GLOBAL_CATALOGS}"
    else:
        why = f"the globalNamespace is {common}"
    return {key: why for key in others if excludes or key.namespace != common}


def response_of(resolution: Resolution, findings: Iterable[Finding] = ()) -> dict[str, Any]:
    """The response as JSON: the operators that are newly chosen, or the conflict and its fixes."""
    found = tuple(findings)
    refusals = list({one.refusal.message: one.refusal for one in resolution.components if one.refusal}.values())
    return {
        "operators": [
            {
                "name": one.bundle.name,
                "package": one.package,
                "channel": one.channel,
                "catalog": one.catalog.key.name,
                "catalogNamespace": one.catalog.key.namespace,
                "replaces": one.replaces,
            }
            for one in resolution.chosen
        ],
        "unsatisfiable": any(not one.is_prevented for one in refusals),
        "error": "; ".join(one.message for one in refusals) or None,
        "conflict": [fact for one in found for fact in conflict_of(one)],
        "fixes": [fix for one in found for fix in fixes_of(one)],
    }


def _in(request: ReadOnly, field: str) -> Iterator[ReadOnly]:
    """The objects of a list that are in the namespace of the request, or in none."""
    return (one for one in request.get(field) or () if namespace_of(one) in ("", request["namespace"]))


def _key(catalog: Mapping[str, Any]) -> CatalogKey:
    return CatalogKey(catalog["namespace"], catalog["name"])


def _catalog(catalog: Mapping[str, Any]) -> Catalog:
    is_healthy = catalog.get("healthy") is not False
    problem = "" if is_healthy else "failed to list bundles: it is not healthy"
    return Catalog(
        _key(catalog),
        reference=_READ if is_healthy else "",
        priority=catalog.get("priority") or 0,
        problem=problem,
    )


def _reader(catalog: Mapping[str, Any], loaded: Mapping[str, CatalogReader], place: str) -> CatalogReader:
    path = catalog.get("path")
    return reader_of(catalog.get("fbc") or (), f"{place}.fbc") if path is None else loaded[path]


def reader_of(blobs: Iterable[Mapping[str, Any]], place: str = "catalog") -> LoadedCatalog:
    """A catalog of blobs, which are at that place. InvalidRequest for a field of the wrong type.

    Whether the catalog is sound is not asked here: that is `olmf catalog validate`.
    """
    found: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for blob in blobs:
        schema = str(blob.get("schema") or "")
        if schema in _BLOBS:
            check(blob, _BLOBS[schema], f"{place}: {schema} {blob.get('name') or 'without a name'}")
            package = str(blob.get("name" if schema == "olm.package" else "package") or "")
            found.setdefault(package, {}).setdefault(schema, []).append(blob)
    return LoadedCatalog({name: _package(name, of_name, place) for name, of_name in found.items()})


def _package(name: str, found: Mapping[str, Sequence[Mapping[str, Any]]], place: str) -> Package:
    default = next((str(blob.get("defaultChannel") or "") for blob in found.get("olm.package", ())), "")
    channels = tuple(
        Channel(str(blob.get("name") or ""), tuple(map(_entry, blob.get("entries") or ())))
        for blob in found.get("olm.channel", ())
    )
    read = (_bundle(blob, place) for blob in found.get("olm.bundle", ()))
    return Package(name, default, channels, {one.name: one for one in read})


def _entry(entry: Mapping[str, Any]) -> Entry:
    return Entry(
        str(entry.get("name") or ""),
        str(entry.get("replaces") or ""),
        tuple(entry.get("skips") or ()),
        str(entry.get("skipRange") or ""),
    )


def _bundle(blob: Mapping[str, Any], place: str) -> Bundle:
    name, properties = str(blob.get("name") or ""), []
    for at, one in _numbered(blob, "properties"):
        if one.get("type") is None:
            raise InvalidRequest(f"{place}: olm.bundle {name or 'without a name'}.{at}.type: missing")
        properties.append(Property(one["type"], one.get("value")))
    package = next((one.value for one in properties if one.type == "olm.package"), None)
    version = package.get("version") if isinstance(package, Mapping) else None
    return Bundle(name, str(version or ""), str(blob.get("image") or ""), tuple(properties))
