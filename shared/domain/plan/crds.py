"""The CustomResourceDefinitions of a plan: created, updated only when safe, never deleted (catalog.md §4.8)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from shared import kinds, names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, annotations_of, name_of
from shared.api.views import Csv, CustomResourceDefinition, Object
from shared.domain.crd_safety.upgrade import lost_versions
from shared.domain.merge_patch import patch_between
from shared.domain.objects.hashes import alongside_key
from shared.domain.plan.execution import Action, Rule, StepOwner, merged, prepared
from shared.kinds import Ref

RULE = Rule(kinds.CUSTOM_RESOURCE_DEFINITION)
_SUPPORTED = (RULE.kind.version, "v1beta1")


def version_of(manifest: ReadOnly) -> str:
    """The version of its kind that a definition states; the API group, which some leave out, says nothing."""
    return fields.text(manifest, "apiVersion").rpartition("/")[2]


def unsupported(manifest: ReadOnly) -> str:
    """Why the definition is not supported; empty when it is."""
    version = version_of(manifest)
    return "" if version in _SUPPORTED else f"CRD APIVersion from manifest not supported: {version}"


def apis(manifest: ReadOnly) -> tuple[tuple[str, str], ...]:
    """The apiVersion and kind of every API that the definition serves."""
    definition = CustomResourceDefinition(manifest)
    return tuple((f"{definition.group}/{version}", definition.resource_kind) for version in definition.served)


def establish(live: CustomResourceDefinition) -> Action:
    """The status of the step for a created definition: `Created` only when its APIs are served."""
    return Action("Created" if live.is_established else "WaitingForApi")


def rejected(live: CustomResourceDefinition) -> str:
    """Why the server does not accept the definition; empty otherwise."""
    accepted = live.condition("NamesAccepted")
    if accepted.status != "False":
        return ""
    return f"CustomResourceDefinition {live.name} is not served: {accepted.message} ({accepted.reason})"


def act(
    manifest: ReadOnly,
    live: CustomResourceDefinition | None,
    owner: StepOwner,
    csvs: Collection[str],
    *,
    is_converted: bool = False,
) -> Action:
    """Create the definition, or update it. `csvs` are the (not copied) CSVs of the namespace.

    With `is_converted` the version that brings it describes its conversion.
    """
    desired = prepared(manifest, RULE, owner)
    desired["metadata"]["annotations"] = _alongside(annotations_of(manifest), owner, csvs)
    if live is None:
        return Action("WaitingForApi", create=desired, is_ours=True)
    whole = merged(desired, live.raw)
    whole["metadata"]["annotations"] = {
        **{key: value for key, value in live.annotations.items() if not key.startswith(_PREFIX)},
        **_alongside(live.annotations, owner, csvs),
        **desired["metadata"]["annotations"],
    }
    return _change(with_what_works(whole, live, is_converted=is_converted), live)


def _change(whole: Manifest, live: CustomResourceDefinition) -> Action:
    """The write that makes the definition what it has to be.

    One that defines the same gets a patch of what is ours of its metadata, if that lacks anything: plans of many
    namespaces that bring it at once then never conflict, and none is carried out again for another one's annotation.
    """
    new = Object(whole)
    if changes(whole, live.raw) or new.owners != live.owners:
        return Action("Present", replace=whole, is_ours=True)
    old_texts, new_texts = ({"labels": one.labels, "annotations": one.annotations} for one in (live, new))
    patch = patch_between(old_texts, new_texts)
    return Action("Present", patch=(Ref.of(live.raw), {"metadata": patch}) if patch else None, is_ours=True)


def is_of(namespace: str, live: CustomResourceDefinition) -> bool:
    """Whether plans of this namespace, and of no other one, brought the definition."""
    return {installer.partition("/")[0] for installer in live.installers} == {namespace}


def as_a_guest(action: Action, live: ReadOnly) -> Action:
    """The same action with the rights of an account, on a definition of others; none where they define the same.

    The annotation that names a version is a claim on the definition, so it takes the right to write it, too.
    """
    if action.replace is None or not changes(action.replace, live):
        return replace(action, replace=None, patch=None)
    return replace(action, is_ours=False)


def changes(manifest: ReadOnly, live: ReadOnly) -> bool:
    """Whether a definition says something else than the one that exists."""
    return defined(manifest) != defined(live)


def defined(definition: ReadOnly) -> Manifest:
    """What a definition says, with what an API server fills in."""
    spec = fields.part(definition, "spec")
    names = fields.part(spec, "names")
    kind = fields.text(names, "kind")
    with_defaults = {"singular": kind.lower(), "listKind": f"{kind}List", **names}
    return {"conversion": {"strategy": "None"}, "preserveUnknownFields": False, **spec, "names": with_defaults}


def risk(manifest: ReadOnly, live: ReadOnly) -> str:
    """Why the update could lose stored objects; empty when it is safe."""
    for version in lost_versions(live, manifest):
        return (
            f'risk of data loss updating "{name_of(live)}": new CRD removes version {version} that is listed as a '
            "stored version on the existing CRD"
        )
    return ""


_PREFIX = names.INSTALLED_ALONGSIDE_PREFIX


def _alongside(annotations: Mapping[str, str], owner: StepOwner, csvs: Collection[str]) -> dict[str, str]:
    """The annotations with the versions that installed the definition: this one, and earlier ones that still exist."""
    kept = {
        key: value
        for key, value in annotations.items()
        if not key.startswith(_PREFIX) or _may_exist(value, owner, csvs)
    }
    if not (owner.namespace and owner.csv):
        return kept
    return {**kept, f"{_PREFIX}{alongside_key(owner.namespace, owner.csv)}": f"{owner.namespace}/{owner.csv}"}


def _may_exist(holder: str, owner: StepOwner, csvs: Collection[str]) -> bool:
    """False only for a CSV of this namespace that does not exist; CSVs of other namespaces are not known here."""
    namespace, _, csv = holder.partition("/")
    return namespace != owner.namespace or csv in csvs


def with_what_works(manifest: Manifest, live: CustomResourceDefinition, *, is_converted: bool) -> Manifest:
    """The definition as it is written: with what the live one has of an operator, and no bundle can know."""
    return _with_ca_bundle(_with_conversion(manifest, live, is_converted=is_converted), live.raw)


def _with_conversion(desired: Manifest, live: CustomResourceDefinition, *, is_converted: bool) -> Manifest:
    """The definition with the conversion that an operator's version brought.

    Bundles state none, or what the tool that made them filled in: a Service that is in no cluster. With that the stored
    objects of other versions could not be read until the operator is installed again.
    """
    is_own = CustomResourceDefinition(desired).converts_by_webhook and not is_converted
    if is_own or not live.converts_by_webhook:
        return desired
    return {**desired, "spec": {**desired["spec"], "conversion": dict(live.conversion)}}


def _with_ca_bundle(desired: Manifest, live: ReadOnly) -> Manifest:
    """The definition with the `caBundle` that somebody injected into the live one, unless it has its own."""
    path = ("spec", "conversion", "webhook", "clientConfig")
    old, new = fields.part(live, *path), fields.part(desired, *path)
    if not new or fields.text(new, "caBundle") or not fields.text(old, "caBundle"):
        return desired
    spec = desired["spec"]
    webhook = {**spec["conversion"]["webhook"], "clientConfig": {**new, "caBundle": old["caBundle"]}}
    return {**desired, "spec": {**spec, "conversion": {**spec["conversion"], "webhook": webhook}}}


def competing(csv: Csv, live: Iterable[Csv]) -> str:
    """Why not: another version of its namespace owns one of its CRDs already; empty when it may."""
    owners = {one.name: _owned(one) for one in live}
    for definition in _owned(csv):
        found = sorted(name for name, owned in owners.items() if definition in owned)
        if len(found) > 1:
            return (
                f"error checking crd owners for: {csv.name}: Existing CSVs [{' '.join(found)}] in namespace "
                f"{csv.namespace} all claim to own CRD {definition}"
            )
        if found and found != [csv.name]:
            return f"pre-existing CRD owners found for owned CRD(s) of dependent CSV {csv.name}"
    return ""


def _owned(csv: Csv) -> list[str]:
    return [entry.name for entry in csv.owned_definitions]
