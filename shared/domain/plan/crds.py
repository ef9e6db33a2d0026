"""The CustomResourceDefinitions of a plan: created, updated only when safe, never deleted (catalog.md §4.8)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly, annotations_of, name_of, namespace_of
from shared.domain.crd_safety.upgrade import lost_versions
from shared.domain.objects.hashes import alongside_key
from shared.domain.plan.execution import Action, Place, Rule, merged, prepared

RULE = Rule(kinds.CUSTOM_RESOURCE_DEFINITION)
_V1BETA1 = "apiextensions.k8s.io/v1beta1"


def unsupported(manifest: ReadOnly) -> str:
    """Why the definition is not supported; empty when it is."""
    version = manifest.get("apiVersion")
    return (
        "" if version in (RULE.kind.api_version, _V1BETA1) else f"CRD APIVersion from manifest not supported: {version}"
    )


def apis(manifest: ReadOnly) -> tuple[tuple[str, str], ...]:
    """The apiVersion and kind of every API that the definition serves."""
    spec = manifest.get("spec") or {}
    kind = str((spec.get("names") or {}).get("kind") or "")
    return tuple(
        (f"{spec.get('group')}/{one.get('name')}", kind) for one in spec.get("versions") or () if one.get("served")
    )


def establish(live: ReadOnly) -> Action:
    """The status of the step for a created definition: `Created` only when its APIs are served."""
    conditions = {one.get("type"): one.get("status") for one in (live.get("status") or {}).get("conditions") or ()}
    is_served = conditions.get("Established") == conditions.get("NamesAccepted") == "True"
    return Action("Created" if is_served else "WaitingForApi")


def rejected(live: ReadOnly) -> str:
    """Why the server does not accept the definition; empty otherwise."""
    conditions = (live.get("status") or {}).get("conditions") or ()
    return next(
        (
            f"CustomResourceDefinition {name_of(live)} is not served: {one.get('message')} ({one.get('reason')})"
            for one in conditions
            if one.get("type") == "NamesAccepted" and one.get("status") == "False"
        ),
        "",
    )


def act(manifest: ReadOnly, live: ReadOnly | None, place: Place, csvs: Collection[str]) -> Action:
    """Create the definition, or update it. `csvs` are the (not copied) CSVs of the namespace."""
    wanted = prepared(manifest, RULE, place)
    wanted["metadata"]["annotations"] = _alongside(manifest, place, csvs)
    if live is None:
        return Action("WaitingForApi", create=wanted)
    whole = merged(wanted, live)
    whole["metadata"]["annotations"] = {
        **{key: value for key, value in annotations_of(live).items() if not key.startswith(_PREFIX)},
        **_alongside(live, place, csvs),
        **wanted["metadata"]["annotations"],
    }
    return Action("Present", replace=_with_ca_bundle(whole, live))


def risk(manifest: ReadOnly, live: ReadOnly) -> str:
    """Why the update could lose stored objects; empty when it is safe."""
    for version in lost_versions(live, manifest):
        return (
            f'risk of data loss updating "{name_of(live)}": new CRD removes version {version} that is listed as a '
            "stored version on the existing CRD"
        )
    return ""


_PREFIX = names.INSTALLED_ALONGSIDE_PREFIX


def _alongside(source: ReadOnly, place: Place, csvs: Collection[str]) -> dict[str, str]:
    """The annotations with the versions that installed the definition: this one, and earlier ones that still exist."""
    kept = {
        key: value
        for key, value in annotations_of(source).items()
        if not key.startswith(_PREFIX) or _may_exist(value, place, csvs)
    }
    if not (place.namespace and place.csv):
        return kept
    return {**kept, f"{_PREFIX}{alongside_key(place.namespace, place.csv)}": f"{place.namespace}/{place.csv}"}


def _may_exist(owner: str, place: Place, csvs: Collection[str]) -> bool:
    """False only for a CSV of this namespace that does not exist; CSVs of other namespaces are not known here."""
    namespace, _, csv = owner.partition("/")
    return namespace != place.namespace or csv in csvs


def _with_ca_bundle(wanted: Manifest, live: ReadOnly) -> Manifest:
    """The definition with the `caBundle` that somebody injected into the live one, unless it has its own."""
    path = ("spec", "conversion", "webhook", "clientConfig")
    old, new = _at(live, path), _at(wanted, path)
    if not new or new.get("caBundle") or not old.get("caBundle"):
        return wanted
    spec = wanted["spec"]
    webhook = {**spec["conversion"]["webhook"], "clientConfig": {**new, "caBundle": old["caBundle"]}}
    return {**wanted, "spec": {**spec, "conversion": {**spec["conversion"], "webhook": webhook}}}


def _at(manifest: ReadOnly, path: tuple[str, ...]) -> ReadOnly:
    found: ReadOnly = manifest
    for key in path:
        found = found.get(key) or {}
    return found


def competing(csv: ReadOnly, live: Iterable[ReadOnly]) -> str:
    """Why not: another version of its namespace owns one of its CRDs already; empty when it may."""
    owners = {name_of(one): _owned(one) for one in live}
    for definition in _owned(csv):
        found = sorted(name for name, owned in owners.items() if definition in owned)
        if len(found) > 1:
            return (
                f"error checking crd owners for: {name_of(csv)}: Existing CSVs [{' '.join(found)}] in namespace "
                f"{namespace_of(csv)} all claim to own CRD {definition}"
            )
        if found and found != [name_of(csv)]:
            return f"pre-existing CRD owners found for owned CRD(s) of dependent CSV {name_of(csv)}"
    return ""


def _owned(csv: ReadOnly) -> list[str]:
    definitions = (csv.get("spec") or {}).get("customresourcedefinitions") or {}
    return [str(one.get("name")) for one in definitions.get("owned") or ()]
