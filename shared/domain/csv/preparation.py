"""From a new version to InstallReady, and back when a requirement is lost (csv.md §4.1, §4.2, §4.6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import ABSENT, ApiService, Csv, InstallPlan, Object, OperatorCondition, StoredCondition
from shared.domain.csv import chain
from shared.domain.csv.blockage import blockage
from shared.domain.csv.phases import Status, pause_left
from shared.domain.csv.requirements import Facts, Undecidable, evaluate, malformed_definition, owned_definitions
from shared.domain.csv.transition import Transition
from shared.domain.endpoints.api_services import refusal
from shared.domain.endpoints.defects import invalid_description, unusable
from shared.domain.objects.csv import GROUP_REASONS
from shared.kinds import API_SERVICE, OPERATOR_CONDITION, Ref

HEALTH_REASONS: Final = frozenset({
    "ComponentUnhealthy", "InstallCheckFailed", "APIServiceResourceIssue", "APIServiceInstallFailed",
})  # fmt: skip
"""Reasons of failures that end when the Deployments are healthy."""
SLOWLY: Final = timedelta(minutes=5)
"""Interval of retries, as a fallback for events."""
_DOUBT: Final = timedelta(seconds=2)
"""A right given so shortly before a refusal was told may have come too late for it: times are whole seconds."""
_UPGRADEABLE: Final = "Upgradeable"
_PLAN_GRACE: Final = timedelta(minutes=1)
_PLAN_PAUSE: Final = timedelta(seconds=2)
_RECOVERED: Final = {
    **dict.fromkeys(GROUP_REASONS, "InstallModes now support target namespaces"),
    "InterOperatorGroupOwnerConflict": "OperatorGroup no longer intersecting with conflicting owner",
    "CannotModifyStaticOperatorGroupProvidedAPIs": (
        "static OperatorGroup and intersecting groups now support providedAPIs"
    ),
}


def is_young(csv: Csv, now: datetime) -> bool:
    """Whether the InstallPlan that created the version may still be creating its requirements."""
    return csv.phase in ("", "Pending") and csv.created is not None and now - csv.created <= _PLAN_GRACE


def applied_by(csv: Csv, plans: Iterable[InstallPlan], status: Status) -> Transition | None:
    """The transition to wait while an InstallPlan is still creating the requirements of the version; else None.

    A plan with a message is tried again after an error: until then the version says what it lacks. The end of the plan
    enqueues; to check earlier would read all requirements for each object that the plan creates.
    """
    found = (plan.name for plan in plans if plan.phase == "Installing" and not plan.message and csv.name in plan.csvs)
    if (plan := next(found, None)) is None:
        return None
    waits_for = f"InstallPlan {plan} to be carried out"
    return Transition(status, f"waits for {waits_for}", waits_for=waits_for, again_in=_PLAN_PAUSE)


def try_again(csv: Csv, status: Status, witnesses: Iterable[Object]) -> Transition:
    """The transition of an installation that was forbidden: try again when roles have changed, or after a pause."""
    refused_at = _written_at(csv) or status.since
    last = max((moment for item in witnesses for moment in _moments(item)), default=refused_at - SLOWLY)
    pause = timedelta() if last > refused_at else _DOUBT if last >= refused_at - _DOUBT else SLOWLY
    rest = status.since + pause - status.now
    if rest <= timedelta():
        message = "Cluster resources changed state"
        return Transition(status.to("Pending", "DetectedClusterChange", message), message)
    return Transition(status, "waits for permissions", waits_for=f"permissions: {status.message}", again_in=rest)


def _written_at(csv: Csv) -> datetime | None:
    """When its status was written, by the clock of the API server, which dates the changes of roles, too."""
    entries = [
        one for one in fields.parts(csv.metadata, "managedFields") if fields.text(one, "subresource") == "status"
    ]
    return max(filter(None, (fields.moment(one, "time") for one in entries)), default=None)


def _moments(witness: Object) -> list[datetime]:
    entries = fields.parts(witness.metadata, "managedFields")
    moments = (witness.created, *(fields.moment(entry, "time") for entry in entries))
    return [one for one in moments if one]


def decide(csv: Csv, facts: Facts, status: Status) -> Transition:
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


def _unmet(status: Status, message: str) -> Transition:
    return Transition(status.to("Pending", "RequirementsNotMet", message), message, waits_for=message)


def _still_met(csv: Csv, facts: Facts, status: Status) -> Transition:
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


def _recover(csv: Csv, facts: Facts, status: Status) -> Transition:
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
    if waits_for := _lasting(csv, facts, status):
        return Transition(status, status.message, waits_for=waits_for)
    if status.reason == "InstallComponentFailed":
        return _reinstall(status)
    message = "requirements not yet checked"
    return Transition(status.to("Pending", "RequirementsUnknown", message), message)


def _lasting(csv: Csv, facts: Facts, status: Status) -> str:
    """What a failure with an own reason waits for; empty when it is over."""
    match status.reason:
        case "OwnerConflict" if other_owner := _owner_conflict(csv, facts.namespace_csvs):
            return f"{other_owner} to give up a CustomResourceDefinition"
        case "OwnerConflict" if _foreign_service(csv, facts):
            return f"{_foreign_service(csv, facts)} to be given up by its owner"
        case "InvalidWebhookDescription" if defect := invalid_description(csv):
            return f"another description: {defect}"
        case "InstallComponentFailed" if defect := unusable(csv):
            return f"another description: {defect}"
    return ""


def _reinstall(status: Status) -> Transition:
    if rest := pause_left(status, free=0):
        waits_for = f"the next try: {status.message}"
        return Transition(status, "waits before it installs again", waits_for=waits_for, again_in=rest)
    message = f"installing again: {status.message}"
    return Transition(status.to("Pending", "NeedsReinstall", message), message)


def _pending(csv: Csv, facts: Facts, status: Status) -> Transition:
    replaced = chain.predecessor(csv, facts.namespace_csvs)
    # The predecessor must be informed that it is being replaced, even when its successor fails.
    enqueues = (Ref.of(replaced),) if replaced and replaced.phase in ("Succeeded", "Failed") else ()
    if replaced and (gate := upgrade_refusal(replaced, facts.objects)):
        message = f"operator is not upgradeable: {gate}"
        pending = status.to("Pending", "OperatorConditionNotUpgradeable", message)
        return Transition(pending, message, enqueues, waits_for=message, again_in=SLOWLY)
    return replace(_required(csv, facts, status, replaced), enqueues=enqueues)


def _required(csv: Csv, facts: Facts, status: Status, replaced: Csv | None) -> Transition:
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


def _met(csv: Csv, facts: Facts, status: Status, replaced: Csv | None) -> Transition:
    if defect := invalid_description(csv):
        return Transition(status.to("Failed", "InvalidWebhookDescription", defect), defect, waits_for=defect)
    if other_owner := _owner_conflict(csv, facts.namespace_csvs):
        message = "conflicting CRD owner in namespace"
        return Transition(status.to("Failed", "OwnerConflict", message), f"{message}: {other_owner}", waits_for=message)
    if service := _foreign_service(csv, facts):
        message = "unable to adopt APIService"
        return Transition(status.to("Failed", "OwnerConflict", message), f"{message}: {service}", waits_for=message)
    if replaced and replaced.phase != "Replacing":
        return _behind(csv, replaced, facts, status)
    message = "all requirements found, attempting install"
    return Transition(status.to("InstallReady", "AllRequirementsMet", message), message)


def _behind(csv: Csv, replaced: Csv, facts: Facts, status: Status) -> Transition:
    """The wait for the predecessor. The status names no more: what stops the chain may change again and again."""
    waits_for = f"{replaced.name} to be Replacing"
    if replaced.phase != "Succeeded" or replaced.is_copy:
        status = status.to("Pending", "InstallWaiting", f"waiting for {waits_for}")
    if found := blockage(csv, facts.namespace_csvs):
        waits_for = f"{waits_for}: {found.message}"
    return Transition(status, f"waits for {waits_for}", waits_for=waits_for, again_in=SLOWLY)


def _malformed(csv: Csv) -> str:
    malformed = malformed_definition(csv)
    return f"error parsing crd name: {malformed}" if malformed else ""


def _owner_conflict(csv: Csv, namespace_csvs: Sequence[Csv]) -> str:
    """Another version of the namespace, outside the replacement chain, that owns one of the same CRDs."""
    related = chain.replacement_chain(csv, tuple(namespace_csvs))
    owned = owned_definitions(csv)
    conflicting = (
        other.name
        for other in namespace_csvs
        if other.name not in related and owned & owned_definitions(other) and _is_here(other, csv)
    )
    return next(conflicting, "")


def _foreign_service(csv: Csv, facts: Facts) -> str:
    """The name of an APIService that the version must not serve; empty without one."""
    found = ((api, ApiService.of(API_SERVICE.look_up(facts.objects.get, api.service))) for api in csv.owned_services)
    refused = (api.service for api, present in found if refusal(csv, api, present, facts.namespace_csvs))
    return next(refused, "")


def _is_here(other: Csv, csv: Csv) -> bool:
    return other.namespace == csv.namespace and not other.is_copy


def _listed(statuses: Iterable[ReadOnly]) -> str:
    unmet = (f"{item['kind']} {item['name']}" for item in statuses if item["status"] != "Present")
    return ", ".join(unmet)


def upgrade_refusal(predecessor: Csv, objects: Mapping[Ref, Manifest | None]) -> str:
    """Why the predecessor must not be replaced now (`Upgradeable`, csv.md §11.4); empty when it may."""
    reports = OperatorCondition.of(objects.get(OPERATOR_CONDITION.ref(predecessor.name, predecessor.namespace)))
    if reports is None:
        return ""
    override, condition = reports.override(_UPGRADEABLE), reports.condition(_UPGRADEABLE)
    if override != ABSENT:
        return "" if override.is_true else _refused(override)
    if condition == ABSENT:
        return ""
    if condition.observed_generation != reports.generation:
        return f'the operatorcondition status "{_UPGRADEABLE}"="{condition.status}" is outdated'
    return _refused(condition) if condition.status == "False" else ""


def _refused(condition: StoredCondition) -> str:
    return f"the operator is not upgradeable: {condition.message}"
