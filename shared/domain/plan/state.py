"""The phases of an InstallPlan and the changes of its status (catalog.md §4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, timestamp
from shared.api.views import InstallPlan
from shared.domain.authors.author import is_recorded
from shared.domain.conditions import Condition, put_into
from shared.domain.objects import plan_record
from shared.domain.objects.install_plan import CRD_SAFE, FINISHED
from shared.domain.operator_groups.identity import Identity, Nobody, is_same
from shared.kinds import Ref

CHECK_FAILED = "InstallCheckFailed"
NEXT_PASS = timedelta(milliseconds=150)
RETRY = timedelta(seconds=5)
SLOWLY = timedelta(minutes=5)
"""For a plan whose account or author lacks a right: RBAC objects wake it, this is for rights from elsewhere."""
_ACCOUNT = "attenuatedServiceAccountRef"
_PART = 20
"""A plan without an error is looked at again after this part of its age."""
_UNWRITTEN = timedelta(minutes=1)
"""How long a plan may be without steps: whoever made it, we or OLM, writes them right after it."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """The namespace is not ready for any plan."""

    message: str
    status: Manifest


@dataclass(frozen=True, slots=True)
class Refused:
    """The plan is not what we wrote, and is never executed."""

    message: str
    status: Manifest


@dataclass(frozen=True, slots=True)
class Waiting:
    """The plan waits for approval, or for its steps."""

    message: str
    status: Manifest
    since: datetime | None = None
    """None: since its approval was withdrawn."""
    again_in: timedelta | None = None
    account: Ref | None = None
    """As in `Going`."""


@dataclass(frozen=True, slots=True)
class Going:
    """The plan may be executed."""

    status: Manifest
    account: Ref | None = None
    """The ServiceAccount with whose rights; None: with ours."""


def gate(
    plan: InstallPlan, actor: Identity | Nobody, approver: str, now: datetime, *, trusts_others: bool = False
) -> Blocked | Refused | Waiting | Going:
    """Whether an unfinished plan may be executed now; `actor` is who does that, or why nobody may.

    `approver` is who approved it, if it is. With `trusts_others` also one that we did not write.
    """
    status, made = plan.status, plan.created or now
    if plan.is_empty and now - made < _UNWRITTEN:
        return Waiting(f"InstallPlan {plan.name} has no steps yet", dict(status), made, made + _UNWRITTEN - now)
    is_trusted = trusts_others and plan_record.is_unrecorded(plan)
    if not is_trusted and (no := plan_record.refusal(plan)):
        empty = {"phase": "", "catalogSources": [], **status}
        refused = _with_condition(empty, no.status, no.reason, no.message, now=now)
        return Refused(no.message, {**refused, "message": no.message})
    if isinstance(actor, Nobody):
        return Blocked(actor.message, blocked(status, actor.message, now))
    status = attenuated(unblocked(status, now), actor)
    if not plan.is_approved:
        message = f"InstallPlan {plan.name} waits for approval: set spec.approved to true"
        if fields.text(status, "phase") == "Installing":
            status = _before_installed(status | {"message": message}, plan_record.withdrawal(), now)
            return Waiting(message, status, account=actor.account)
        return Waiting(message, status | {"phase": "RequiresApproval"}, made, account=actor.account)
    return Going(approved(plan, status, approver, now), actor.account)


def is_finished(plan: InstallPlan) -> bool:
    """Whether nothing is left to do: no steps (a plan without status), or a final phase."""
    return plan.is_empty or plan.phase in plan_record.ENDED


def is_unwritten(plan: InstallPlan) -> bool:
    """Whether the plan has no steps, and never will have any of ours unless they come at once."""
    has_ended = plan.phase in plan_record.ENDED
    return plan.is_empty and not has_ended and not plan_record.is_intact(plan)


def attenuated(status: ReadOnly, actor: Identity) -> Manifest:
    """The status with a reference to the account with whose rights it is executed, kept while that is the same one."""
    account, rest = status.get(_ACCOUNT), {key: value for key, value in status.items() if key != _ACCOUNT}
    if actor.reference is None:
        return rest
    return {**rest, _ACCOUNT: account if is_same(account, actor.reference) else actor.reference}


def is_stopped(plan: InstallPlan) -> bool:
    """Whether the plan waits until its namespace is ready for plans, or for rights of its account or author."""
    is_limited = bool(plan.account) or is_recorded(plan)
    lacks_permissions = bool(is_limited and plan.message) and plan.phase == "Installing"
    return not is_finished(plan) and (lacks_permissions or _is_stopped(plan.status))


def blocked(status: ReadOnly, message: str, now: datetime) -> Manifest:
    """The status while the namespace is not ready for any plan; the phase is not changed."""
    return _with_condition(status, "False", CHECK_FAILED, message, now=now)


def unblocked(status: ReadOnly, now: datetime) -> Manifest:
    """The status after an earlier obstacle is gone."""
    if _is_stopped(status):
        return _with_condition(status, "False", "Unknown", "", now=now)
    return dict(status)


def approved(plan: InstallPlan, status: ReadOnly, approver: str, now: datetime) -> Manifest:
    """The status of a plan that is executed from now on."""
    started = {"startTime": timestamp(now), **status, "phase": "Installing"}
    if plan_record.begins(plan):
        started.pop("message", None)
        started["conditions"] = put_into(_conditions(status), plan_record.approval(plan, approver), now)
    return started


def progressed(status: ReadOnly, statuses: Sequence[str], now: datetime) -> Manifest:
    """The status with the given status of each step; when all steps are finished, the plan is complete."""
    planned = fields.parts(status, "plan")
    new = {**status, "plan": [{**step, "status": word} for step, word in zip(planned, statuses, strict=True)]}
    new.pop("message", None)
    if all(word in FINISHED for word in statuses):
        return _with_condition({**new, "phase": "Complete"}, "True", "", "", now=now)
    return new


def foreseen(waiting: Waiting, safety: Condition | None, now: datetime) -> Waiting:
    """A plan that waits, with what it would do to what is stored; what forbids it is looked at again slowly."""
    if safety is None:
        return replace(waiting, status=_without_safety(waiting.status))
    status = judged(waiting.status, safety, now)
    if safety.status == "True":
        return replace(waiting, status=status)
    message = f"{waiting.message}. It would not be carried out as things are: {safety.message}"
    return replace(waiting, message=message, status=status, again_in=SLOWLY)


def judged(status: ReadOnly, safety: Condition | None, now: datetime) -> Manifest:
    """The status with what the definitions of the plan do to what is stored; None: as it was told before."""
    if safety is None:
        return dict(status)
    return _before_installed(status, safety, now)


def _without_safety(status: ReadOnly) -> Manifest:
    """The status of a plan that changes no definition any more, whatever was told of it before."""
    old = _conditions(status)
    left = [one for one in old if fields.text(one, "type") != CRD_SAFE]
    return {**status, "conditions": left} if left != old else dict(status)


def next_check(
    status: ReadOnly, now: datetime, *, is_denied: bool = False, has_authors: bool = False
) -> timedelta | None:
    """When to run a plan again: soon while it is young, because its APIs will be served soon; None: at an event."""
    if status["phase"] != "Installing":
        return None
    if is_denied and (has_authors or _ACCOUNT in status):
        return SLOWLY
    if fields.text(status, "message"):
        return RETRY
    return min(RETRY, max(NEXT_PASS, (now - _started(status, now)) / _PART))


def after(status: Manifest, error: str, now: datetime, *, retry: timedelta | None) -> Manifest:
    """The status after a step failed: retried for the time `retry` (None: without end), then Failed."""
    if not error:
        return status
    if retry is None or now - _started(status, now) < retry:
        return {**status, "message": f"retrying execution due to error: {error}"}
    failed = {**status, "phase": "Failed", "message": error}
    return _with_condition(failed, "False", "InstallComponentFailed", error, now=now)


def _conditions(status: ReadOnly) -> list[ReadOnly]:
    return list(fields.parts(status, "conditions"))


def _is_stopped(status: ReadOnly) -> bool:
    return any(fields.text(one, "reason") == CHECK_FAILED for one in _conditions(status))


def _started(status: ReadOnly, now: datetime) -> datetime:
    return fields.moment(status, "startTime") or now


def _before_installed(status: ReadOnly, condition: Condition, now: datetime) -> Manifest:
    """The status with a condition before `Installed`, the last one."""
    old = _conditions(status)
    installed = [one for one in old if fields.text(one, "type") == "Installed"]
    others = [one for one in old if one not in installed]
    return {**status, "conditions": [*put_into(others, condition, now), *installed]}


def _with_condition(status: ReadOnly, status_text: str, reason: str, message: str, *, now: datetime) -> Manifest:
    """The status with its `Installed` condition, the last one, as OLM's clients expect. Times move with it only."""
    condition = Condition("Installed", status_text, reason, message)
    old = _conditions(status)
    if (conditions := put_into(old, condition, now)) == old:
        return dict(status)
    updated = {"lastUpdateTime": timestamp(now)}
    mine = [{**one, **updated} for one in conditions if fields.text(one, "type") == condition.type]
    return {**status, "conditions": [*(one for one in conditions if fields.text(one, "type") != condition.type), *mine]}
