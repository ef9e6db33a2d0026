"""The phases of a version that serves webhooks or aggregated APIs (csv.md §4.2, §4.5, §4.6, §4.9, §7.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from shared import names
from shared.api import fields
from shared.api.manifest import timestamp
from shared.api.views import ApiEntry, Csv, Deployment
from shared.domain.csv.health import Problem
from shared.domain.csv.phases import Status, pause_left
from shared.domain.csv.transition import Transition
from shared.domain.endpoints import api_services, work
from shared.domain.endpoints.certificates import SETTLED, Content, ended, is_due, switched
from shared.domain.endpoints.changes import not_found
from shared.domain.endpoints.endpoint import endpoints_of
from shared.domain.endpoints.facts import Facts
from shared.kinds import CUSTOM_RESOURCE_DEFINITION, SECRET, Ref

UNSERVED: Final = Problem("unserved", "apiServices not installed")
"""An aggregated API is not available yet."""
NO_WEBHOOKS: Final = "webhooks not installed"
NO_CONVERSION: Final = "Webhook install failed: conversionWebhook not ready"
_ROTATES: Final = "certificates are being rotated"
_SOON: Final = timedelta(seconds=1)
SLICE: Final = timedelta(hours=12)
"""A look at certificates is due at least so often: delays do not survive the loss of the queue."""
_REFRESH: Final = {
    "Succeeded": "CSV owns resources that require a cert refresh",
    "Failed": "owned APIServices need cert refresh",
}
_RESOURCES: Final = {
    "Succeeded": ("Failed", "APIServiceResourceIssue"),
    "Failed": ("Pending", "APIServiceResourcesNeedReinstall"),
}


def flawed(csv: Csv, status: Status, facts: Facts, deployments: Mapping[str, Deployment]) -> Transition | None:
    """The phase after something was found that only another installation repairs; None when nothing was.

    Only in Succeeded and Failed: an installation that is going on repairs nothing twice.
    """
    if status.phase not in _REFRESH:
        return None
    flaw = _flaw(csv, facts, deployments)
    if csv.owned_services and flaw:
        return _broken(csv, status, facts, flaw)
    if any(is_due(facts.pairs.get(one.deployment), one.hosts, status.now) for one in endpoints_of(csv)):
        message = _REFRESH[status.phase]
        return _paused(status, Transition(status.to("Pending", "NeedsCertRotation", message), message))
    if flaw:
        message = f"calculated deployment install is bad: {flaw}"
        return _paused(status, Transition(status.to("Pending", "NeedsReinstall", message), message))
    return None


def _paused(status: Status, transition: Transition) -> Transition:
    """The transition, after the pause of a version that fails again and again."""
    rest = pause_left(status, free=1) if status.phase == "Failed" else timedelta()
    if not rest:
        return transition
    waits_for = f"the next try: {transition.sentence}"
    return Transition(status, "waits before it installs again", waits_for=waits_for, again_in=rest)


def _broken(csv: Csv, status: Status, facts: Facts, flaw: str) -> Transition:
    if status.phase == "Failed" and (taken := unadoptable(csv, facts)):
        return Transition(status, taken, waits_for=taken)
    phase, reason = _RESOURCES[status.phase]
    changed = status.to(phase, reason, flaw)  # type: ignore[arg-type]  # why: values of the table
    return _paused(status, Transition(changed, flaw))


def unadoptable(csv: Csv, facts: Facts) -> str:
    """Why an APIService cannot become that of the version; empty when each of them can."""
    refused = (
        (api, api_services.refusal(csv, api, facts.api_service(api.service), facts.namespace_csvs))
        for api in csv.owned_services
    )
    return next((f"{api.service} is unadoptable" for api, why in refused if why), "")


def _flaw(csv: Csv, facts: Facts, deployments: Mapping[str, Deployment]) -> str:
    """The first thing around the endpoints that is not as it should be; webhooks are looked at later."""
    if taken := unadoptable(csv, facts):
        return taken
    for endpoint in endpoints_of(csv):
        stored = facts.pairs.get(endpoint.deployment)
        if stored is None:
            return not_found(SECRET.api_version, SECRET.kind, endpoint.secret)
        digest = stored.content.pair.digest
        if stored.manifest["metadata"]["annotations"].get(names.CA_HASH) != digest:
            return f"secret {endpoint.secret} CA cert hash does not match expected"
        found = deployments.get(endpoint.deployment)
        if found and found.template.annotations.get(names.CA_HASH) != digest:
            return f"deployment {endpoint.deployment} CA cert hash does not match expected"
    return next((one.why for one in work.around(csv, facts)), "") or _api_flaw(csv, facts)


def _api_flaw(csv: Csv, facts: Facts) -> str:
    """The first APIService that is not as it should be."""
    change = next(iter(work.aggregated(csv, facts, work.stored(facts))), None)
    found = facts.api_service(change.ref.name) if change else None
    if found is None or change is None:
        return change.why if change else ""
    present, desired = (fields.part(one, "spec", "service") for one in (found.raw, change.desired))
    return change.why if present == desired else "found APIService and service reference mismatch"


def is_available(api: ApiEntry, facts: Facts) -> bool:
    """Whether the API server reaches an aggregated API."""
    found = facts.api_service(api.service)
    return found is not None and found.is_available


def unconfigured(csv: Csv, facts: Facts) -> Problem | None:
    """Why the API server does not call the webhooks of a version whose Deployments work; None when it does."""
    contents = work.stored(facts)
    if not (unreported := _unreported(csv, facts, contents)):
        return None
    definitions = (facts.definition(one.name) for one in unreported if one.kind == CUSTOM_RESOURCE_DEFINITION.kind)
    has_ended = any(one and not one.converts_by_webhook for one in definitions)
    return Problem("unconverted", NO_CONVERSION) if has_ended else Problem("unserved", NO_WEBHOOKS)


def _unreported(csv: Csv, facts: Facts, contents: Mapping[str, Content]) -> frozenset[Ref]:
    """What tells the API server of webhooks, and is not as it should be.

    A last stage of a rotation that was interrupted has left some who trust the former CA no more, and some who do.
    """
    over = {name: content if content.following else ended(content) for name, content in contents.items()}
    either = ({one.ref for one in work.served(csv, facts, each)} for each in (contents, over))
    return frozenset.intersection(*map(frozenset, either))


@dataclass(frozen=True, slots=True)
class Stage:
    """The next stage of a rotation."""

    transition: Transition
    contents: Mapping[str, Content]
    """What the Secrets are to hold, by Deployment; empty while the stage has to wait."""


def _settled_at(status: Status, deployments: Iterable[Deployment]) -> datetime:
    """When what the stage before changed is known everywhere: for some time, Services lead to Pods that were replaced.

    A time that is too far ahead is of another clock, and not waited for.
    """
    known = (one.rolled_out for one in deployments)
    return max([status.since, *(one for one in known if one and one <= status.now + SETTLED)]) + SETTLED


def next_stage(status: Status, facts: Facts, deployments: Iterable[Deployment]) -> Stage | None:
    """The next stage of a rotation, of a version whose Deployments work and whose clients trust every CA in use.

    None when none is going on. Each stage begins in Installing, some time after the one before, and after the Pods of
    the Deployments were replaced.
    """
    contents = work.stored(facts)
    if not any(content.is_rotating for content in contents.values()):
        return None
    if rest := max(_settled_at(status, deployments) - status.now, timedelta()):
        return Stage(Transition(status, _ROTATES, waits_for="clients to trust the new CA", again_in=rest), {})
    if any(content.following for content in contents.values()):
        # The Pods are told by the digest of the CA, which another installation writes.
        transition = Transition(status.to("InstallReady", "InstallWaiting", f"installing: {_ROTATES}"), _ROTATES)
        return Stage(transition, {name: switched(content) for name, content in contents.items()})
    done = {name: ended(content) for name, content in contents.items()}
    return Stage(Transition(status, "the former CA is trusted no longer", again_in=_SOON), done)


def certified(status: Status, contents: Mapping[str, Content]) -> Status:
    """The status with the times at which the last certificate was made, and the first one is rotated."""
    if not contents:
        return status
    pairs = [content.pair for content in contents.values()]
    due = timestamp(min(one.rotates_at for one in pairs))
    if fields.text(status.manifest, "certsRotateAt") == due:
        return status
    times = {"certsLastUpdated": timestamp(max(one.made_at for one in pairs)), "certsRotateAt": due}
    return replace(status, manifest={**status.manifest, **times})


def watched(transition: Transition, facts: Facts) -> Transition:
    """The transition with the time of the next look at the certificates of a version that works."""
    contents, status = work.stored(facts), transition.status
    if not contents or status.phase != "Succeeded" or transition.again_in:
        return transition
    rest = min(content.pair.rotates_at for content in contents.values()) - status.now
    interval = min(max(rest, timedelta(seconds=1)), SLICE)
    return replace(transition, status=certified(status, contents), again_in=interval)
