"""A namespace as JSON: what `olmf resolve --batch` is asked and answers, one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from shared import names
from shared.api.manifest import ReadOnly, annotations_of, name_of, namespace_of
from shared.domain.catalog.model import Bundle, Channel, Entry, Package, Property
from shared.domain.resolver.existing import existing
from shared.domain.resolver.explain import Finding, conflict_of, fixes_of
from shared.domain.resolver.model import Catalog, CatalogKey, Inputs, Resolution, Shelf, Subscriber
from shared.domain.resolver.opt_in import AVAILABLE, STRICT, opt_in_of, policy_of, policy_problem
from shared.domain.resolver.shelves import LoadedShelf

Load = Callable[[str], Shelf]
"""The content of a catalog by path."""
_READ = "as asked"
"""Stands for the digest of a catalog that came with the question."""


class InvalidQuestion(ValueError):
    """A line is no question; the message says what is wrong with it."""


def inputs_of(question: Mapping[str, Any], load: Load, *, is_whole: bool) -> Inputs:
    """What a question asks. InvalidQuestion."""
    try:
        return _inputs(question, load, is_whole=is_whole)
    except (AttributeError, KeyError, TypeError) as error:
        raise InvalidQuestion(f"the question has not the expected shape: {type(error).__name__}: {error}") from error


def _inputs(question: Mapping[str, Any], load: Load, *, is_whole: bool) -> Inputs:
    namespace = str(question["namespace"])
    groups = question.get("operatorGroups")
    problem = ""
    if groups is not None and len(groups) != 1:
        problem = f"expected 1 OperatorGroup in the namespace, found {len(groups)}"
    places = {namespace, str(question.get("globalNamespace") or namespace)}
    if groups and annotations_of(groups[0]).get(names.EXCLUDE_GLOBAL_CATALOGS) == "true":
        places = {namespace}
    stated = [one for one in question.get("catalogs") or () if one["namespace"] in places]
    catalogs = {catalog.key: catalog for catalog in map(_catalog, stated)}
    shelves = {_key(one): _shelf(one, load) for one in stated if catalogs[_key(one)].reference}
    subscriptions = [one for one in question.get("subscriptions") or () if _is_in(one, namespace)]
    csvs = [one for one in question.get("csvs") or () if _is_in(one, namespace)]
    try:
        installed = existing(csvs, subscriptions, groups or (), is_strict=is_whole)
    except ValueError as error:
        installed = ()
        key = CatalogKey(namespace, "@existing")
        catalogs[key] = Catalog(key, problem=str(error))
    subscribers = tuple(map(_subscriber, subscriptions))
    policy = policy_of(groups or (), AVAILABLE)
    problem = problem or policy_problem(policy)
    return Inputs(namespace, subscribers, installed, catalogs, shelves, problem, is_whole, policy == STRICT)


def answer_of(resolution: Resolution, findings: Iterable[Finding] = ()) -> dict[str, Any]:
    """The answer: what is newly chosen, or why nothing is, and what would help."""
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
        "unsatisfiable": any(one.reason == "ConstraintsNotSatisfiable" for one in refusals),
        "error": "; ".join(one.message for one in refusals) or None,
        "conflict": [fact for one in found for fact in conflict_of(one)],
        "fixes": [fix for one in found for fix in fixes_of(one)],
    }


def _is_in(manifest: ReadOnly, namespace: str) -> bool:
    return namespace_of(manifest) in ("", namespace)


def _key(stated: Mapping[str, Any]) -> CatalogKey:
    return CatalogKey(str(stated["namespace"]), str(stated["name"]))


def _catalog(stated: Mapping[str, Any]) -> Catalog:
    is_healthy = stated.get("healthy", True)
    problem = "" if is_healthy else "failed to list bundles: it is not healthy"
    return Catalog(
        _key(stated),
        reference=_READ if is_healthy else "",
        priority=int(stated.get("priority") or 0),
        problem=problem,
    )


def _shelf(stated: Mapping[str, Any], load: Load) -> Shelf:
    return load(stated["path"]) if "path" in stated else shelf_of(stated.get("fbc") or ())


def _subscriber(subscription: ReadOnly) -> Subscriber:
    spec, status = subscription.get("spec") or {}, subscription.get("status") or {}
    return Subscriber(
        name_of(subscription),
        str(spec.get("name") or ""),
        str(spec.get("channel") or ""),
        CatalogKey(str(spec.get("sourceNamespace") or ""), str(spec.get("source") or "")),
        starting_csv=str(spec.get("startingCSV") or ""),
        installed_csv=str(status.get("installedCSV") or ""),
        is_manual=spec.get("installPlanApproval") == "Manual",
        opt_in=opt_in_of(subscription),
    )


def shelf_of(blobs: Iterable[Mapping[str, Any]]) -> LoadedShelf:
    """A catalog of blobs, taken as they are: whether it is sound is for `olmf catalog validate` to say."""
    sorted_out: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for blob in blobs:
        schema = str(blob.get("schema") or "")
        package = str(blob.get("name" if schema == "olm.package" else "package") or "")
        if schema in ("olm.package", "olm.channel", "olm.bundle"):
            sorted_out.setdefault(package, {}).setdefault(schema, []).append(blob)
    return LoadedShelf({name: _package(name, found) for name, found in sorted_out.items()})


def _package(name: str, found: Mapping[str, Sequence[Mapping[str, Any]]]) -> Package:
    default = next((str(blob.get("defaultChannel") or "") for blob in found.get("olm.package", ())), "")
    channels = tuple(
        Channel(str(blob.get("name") or ""), tuple(map(_entry, blob.get("entries") or ())))
        for blob in found.get("olm.channel", ())
    )
    bundles = {bundle.name: bundle for bundle in map(_bundle, found.get("olm.bundle", ()))}
    return Package(name, default, channels, bundles)


def _entry(stated: Mapping[str, Any]) -> Entry:
    return Entry(
        str(stated.get("name") or ""),
        str(stated.get("replaces") or ""),
        tuple(stated.get("skips") or ()),
        str(stated.get("skipRange") or ""),
    )


def _bundle(blob: Mapping[str, Any]) -> Bundle:
    properties = tuple(Property(str(one["type"]), one.get("value")) for one in blob.get("properties") or ())
    version = next((one.value.get("version") for one in properties if one.type == "olm.package"), "")
    return Bundle(str(blob.get("name") or ""), str(version or ""), str(blob.get("image") or ""), properties)
