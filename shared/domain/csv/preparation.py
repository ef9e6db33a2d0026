"""From a new version to InstallReady, and back when a requirement is lost (csv.md §4.1, §4.2, §4.6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from shared.api.manifest import Manifest, ReadOnly, instant, metadata, name_of, namespace_of
from shared.domain.csv import chain
from shared.domain.csv.blockage import blockage
from shared.domain.csv.phases import Status, pause_left
from shared.domain.csv.requirements import Facts, Undecidable, evaluate, malformed_definition, owned_definitions
from shared.domain.csv.transition import Transition
from shared.domain.objects.csv import GROUP_REASONS, is_copied, phase_of
from shared.domain.objects.install_plan import planned_csvs
from shared.domain.unsupported import VERSION, unsupported
from shared.kinds import OPERATOR_CONDITION, Ref

HEALTH_REASONS: Final = frozenset({"ComponentUnhealthy", "InstallCheckFailed"})
"""Reasons of failures that end when the Deployments are healthy."""
SLOWLY: Final = timedelta(minutes=5)
"""Interval of retries, as a fallback for events."""
_PLAN_GRACE: Final = timedelta(minutes=1)
_PLAN_PAUSE: Final = timedelta(seconds=2)
_RECOVERED: Final = {
    **dict.fromkeys(GROUP_REASONS, "InstallModes now support target namespaces"),
    "InterOperatorGroupOwnerConflict": "OperatorGroup no longer intersecting with conflicting owner",
    "CannotModifyStaticOperatorGroupProvidedAPIs": (
        "static OperatorGroup and intersecting groups now support providedAPIs"
    ),
}


def is_young(csv: ReadOnly, now: datetime) -> bool:
    """Whether the InstallPlan that created the version may still be creating its requirements."""
    created = instant(metadata(csv).get("creationTimestamp"))
    return phase_of(csv) in ("", "Pending") and created is not None and now - created <= _PLAN_GRACE


def applied_by(csv: ReadOnly, plans: Iterable[ReadOnly], status: Status) -> Transition | None:
    """The transition to wait while an InstallPlan is still creating the requirements of the version; else None.

    A plan with a message is tried again after an error: until then the version says what it lacks. The end of the plan
    rings; to check earlier would read all requirements for each object that the plan creates.
    """
    found = (
        name_of(plan)
        for plan in plans
        if phase_of(plan) == "Installing" and not plan["status"].get("message") and name_of(csv) in planned_csvs(plan)
    )
    if (plan := next(found, None)) is None:
        return None
    waits_for = f"InstallPlan {plan} to be carried out"
    return Transition(status, f"waits for {waits_for}", waits_for=waits_for, again_in=_PLAN_PAUSE)


def try_again(status: Status, witnesses: Iterable[ReadOnly]) -> Transition:
    """The transition of an installation that was forbidden: try again when roles have changed, or after a pause."""
    changed = any(moment > status.since for item in witnesses for moment in _moments(item))
    rest = status.since + SLOWLY - status.now
    if changed or rest <= timedelta():
        message = "Cluster resources changed state"
        return Transition(status.to("Pending", "DetectedClusterChange", message), message)
    return Transition(status, "waits for permissions", waits_for=f"permissions: {status.message}", again_in=rest)


def _moments(manifest: ReadOnly) -> list[datetime]:
    meta = metadata(manifest)
    texts = [meta.get("creationTimestamp"), *(entry.get("time") for entry in meta.get("managedFields") or ())]
    return [moment for moment in map(instant, texts) if moment]


def decide(csv: Manifest, facts: Facts, status: Status) -> Transition:
    """The phase that follows from the present state of the requirements."""
    if status.phase == "Succeeded":
        return _still_met(csv, facts, status)
    if status.phase == "Failed":
        transition = _recover(csv, facts, status)
        if transition.status.phase == "Failed":
            return transition
        status = transition.status
    if status.phase == "":
        status = status.to("Pending", "RequirementsUnknown", "requirements not yet checked")
    return _pending(csv, facts, status)


def unserved(csv: ReadOnly, status: Status) -> Transition | None:
    """Pending, in whatever phase it was, for a version with parts that are not supported; None for any other.

    Nothing of it is written or deleted: an operator that OLM installed keeps the certificates that OLM gave it.
    """
    message = unsupported(VERSION, csv)
    return _unmet(status, message) if message else None


def _unmet(status: Status, message: str) -> Transition:
    return Transition(status.to("Pending", "RequirementsNotMet", message), message, waits_for=message)


def _still_met(csv: Manifest, facts: Facts, status: Status) -> Transition:
    found = evaluate(csv, facts)
    if isinstance(found, Undecidable):
        return unrecognized(status, found.message)
    status = status.requiring(found.statuses)
    if found.are_met:
        return Transition(status, "all requirements are still met")
    message = "requirements no longer met"
    return Transition(status.to("Failed", "RequirementsNotMet", message), message)


def unrecognized(status: Status, message: str) -> Transition:
    """Failed, because the install strategy is not supported."""
    text = f"install strategy invalid: {message}"
    return Transition(status.to("Failed", "InvalidInstallStrategy", text), text, waits_for=text)


def _recover(csv: Manifest, facts: Facts, status: Status) -> Transition:
    """Pending, when the cause of the failure is gone; a failure that needs an edit stays."""
    if message := _RECOVERED.get(status.reason):
        return Transition(status.to("Pending", "RequirementsUnknown", message), message)
    found = evaluate(csv, facts)
    if isinstance(found, Undecidable):
        return unrecognized(status, found.message)
    if not found.are_met:
        message = "requirements not met"
        return Transition(status.requiring(found.statuses).to("Pending", "RequirementsNotMet", message), message)
    if status.reason in HEALTH_REASONS:
        return Transition(status, "all requirements are met; the Deployments decide")
    if status.reason == "OwnerConflict" and (rival := _rival(csv, facts.neighbours)):
        return Transition(status, status.message, waits_for=f"{rival} to give up a CustomResourceDefinition")
    if status.reason == "InstallComponentFailed":
        return _reinstall(status)
    message = "requirements not yet checked"
    return Transition(status.to("Pending", "RequirementsUnknown", message), message)


def _reinstall(status: Status) -> Transition:
    if rest := pause_left(status, free=0):
        waits_for = f"the next try: {status.message}"
        return Transition(status, "waits before it installs again", waits_for=waits_for, again_in=rest)
    message = f"installing again: {status.message}"
    return Transition(status.to("Pending", "NeedsReinstall", message), message)


def _pending(csv: Manifest, facts: Facts, status: Status) -> Transition:
    replaced = chain.predecessor(csv, facts.neighbours)
    # The predecessor must be informed that it is being replaced, even when its successor fails.
    rings = (Ref.of(replaced),) if replaced and phase_of(replaced) in ("Succeeded", "Failed") else ()
    if replaced and (gate := upgrade_refusal(replaced, facts.objects)):
        message = f"operator is not upgradeable: {gate}"
        held = status.to("Pending", "OperatorConditionNotUpgradeable", message)
        return Transition(held, message, rings, waits_for=message, again_in=SLOWLY)
    return replace(_required(csv, facts, status, replaced), rings=rings)


def _required(csv: Manifest, facts: Facts, status: Status, replaced: Manifest | None) -> Transition:
    if message := _malformed(csv):
        return _unmet(status, message)
    found = evaluate(csv, facts)
    if isinstance(found, Undecidable):
        return unrecognized(status, found.message)
    status = status.requiring(found.statuses)
    if found.are_met:
        return _met(csv, facts, status, replaced)
    message = "one or more requirements couldn't be found"
    unmet = status.to("Pending", "RequirementsNotMet", message)
    return Transition(unmet, message, waits_for=_listed(found.statuses), again_in=SLOWLY)


def _met(csv: Manifest, facts: Facts, status: Status, replaced: Manifest | None) -> Transition:
    if rival := _rival(csv, facts.neighbours):
        message = "conflicting CRD owner in namespace"
        return Transition(status.to("Failed", "OwnerConflict", message), f"{message}: {rival}", waits_for=message)
    if replaced and phase_of(replaced) != "Replacing":
        return _behind(csv, replaced, facts, status)
    message = "all requirements found, attempting install"
    return Transition(status.to("InstallReady", "AllRequirementsMet", message), message)


def _behind(csv: Manifest, replaced: Manifest, facts: Facts, status: Status) -> Transition:
    """The wait for the predecessor. The status names no more: what stops the chain may change again and again."""
    waits_for = f"{name_of(replaced)} to be Replacing"
    if phase_of(replaced) != "Succeeded" or is_copied(replaced):
        status = status.to("Pending", "InstallWaiting", f"waiting for {waits_for}")
    if found := blockage(csv, facts.neighbours):
        waits_for = f"{waits_for}: {found.says}"
    return Transition(status, f"waits for {waits_for}", waits_for=waits_for, again_in=SLOWLY)


def _malformed(csv: ReadOnly) -> str:
    malformed = malformed_definition(csv)
    return f"error parsing crd name: {malformed}" if malformed else ""


def _rival(csv: Manifest, neighbours: Sequence[Manifest]) -> str:
    """Another version of the namespace, outside the replacement chain, that owns one of the same CRDs."""
    related = chain.replacement_chain(csv, tuple(neighbours))
    owned = owned_definitions(csv)
    rivals = (
        name_of(other)
        for other in neighbours
        if name_of(other) not in related and owned & owned_definitions(other) and _is_here(other, csv)
    )
    return next(rivals, "")


def _is_here(other: ReadOnly, csv: ReadOnly) -> bool:
    return namespace_of(other) == namespace_of(csv) and not is_copied(other)


def _listed(statuses: Iterable[ReadOnly]) -> str:
    unmet = (f"{item['kind']} {item['name']}" for item in statuses if item["status"] != "Present")
    return ", ".join(unmet)


def upgrade_refusal(predecessor: ReadOnly, objects: Mapping[Ref, Manifest | None]) -> str:
    """Why the predecessor must not be replaced now (`Upgradeable`, csv.md §11.4); empty when it may."""
    condition = objects.get(OPERATOR_CONDITION.ref(name_of(predecessor), namespace_of(predecessor)))
    if condition is None:
        return ""
    override = _upgradeable((condition.get("spec") or {}).get("overrides"))
    if override is not None:
        return "" if override.get("status") == "True" else _refused(override)
    stated = _upgradeable((condition.get("status") or {}).get("conditions"))
    if stated is None:
        return ""
    if (stated.get("observedGeneration") or 0) != (metadata(condition).get("generation") or 0):
        return f'the operatorcondition status "Upgradeable"="{stated.get("status")}" is outdated'
    return _refused(stated) if stated.get("status") == "False" else ""


def _upgradeable(conditions: list[Manifest] | None) -> Manifest | None:
    return next((item for item in conditions or () if item.get("type") == "Upgradeable"), None)


def _refused(condition: ReadOnly) -> str:
    return f"the operator is not upgradeable: {condition.get('message') or ''}"
