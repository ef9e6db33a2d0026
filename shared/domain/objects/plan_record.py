"""What a plan was written to do, recorded in two places, so that a plan that anybody else made or changed is noticed.

The digest covers the spec except `approved`, the steps except their status, the bundles with their content, and the
authors who bind it, if any. It is in an annotation, which only who may write the object can change, and in the status,
which only who may write that.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Final

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import InstallPlan
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.conditions import Condition

TYPE: Final = "Resolved"
"""The condition with the digest; OLM declares this type and never uses it, so that its definition accepts it."""
APPROVED: Final = "Approved"
"""The condition that says who approved which digest."""
ENDED: Final = ("Complete", "Failed")
"""The last phases. OLM may leave a plan in any other one, `Planning` and none at all included."""
_WORD: Final = re.compile(r"[A-Za-z0-9._/:@%+-]*")
_NOT_PLANNED: Final = "NotPlannedHere"
_CHANGED: Final = "ContentChanged"
_RESOURCE: Final = ("sourceName", "sourceNamespace", "group", "version", "kind", "name", "manifest")
_LOOKUP: Final = ("path", "identifier", "replaces", "properties")


def of_bundle(bundle: UnpackedBundle) -> str:
    """The digest of the objects of a bundle, however they are stored."""
    return _digest(bundle.objects)


def of_plan(spec: ReadOnly, status: ReadOnly, planned_for: str = "") -> str:
    """The digest of what a plan is to do, and for whom where that binds it."""
    recorded = {key: value for key, value in spec.items() if value and key != "approved"}
    steps = [
        [fields.value(one, "resolving"), _fields(one, _RESOURCE, "resource")] for one in fields.parts(status, "plan")
    ]
    lookups = [
        [_fields(one, _LOOKUP), _fields(one, ("namespace", "name"), "catalogSourceRef")]
        for one in fields.parts(status, "bundleLookups")
    ]
    return _digest([recorded, steps, lookups, *filter(None, (planned_for,))])


def condition(digest: str) -> Manifest:
    """The condition for the status of a new plan."""
    return {"type": TYPE, "status": "True", "reason": "ContentRecorded", "message": digest}


def noted(plan: InstallPlan) -> str:
    """The digest in the annotation; empty without one."""
    return plan.annotations.get(names.PLAN_CONTENT, "")


def is_intact(plan: InstallPlan) -> bool:
    """Whether the plan is what we wrote: its spec, its steps and its bundles."""
    planned_for = plan.annotations.get(names.PLANNED_FOR, "")
    return noted(plan) == _recorded(plan) == of_plan(plan.spec, plan.status, planned_for)


def is_foreign(plan: InstallPlan) -> bool:
    """Whether the plan has something to do that we did not write."""
    return not plan.is_empty and plan.phase not in ENDED and not is_intact(plan)


def is_refused(plan: InstallPlan) -> bool:
    """Whether the plan says that nothing of it is executed."""
    return plan.condition("Installed").reason in (_NOT_PLANNED, _CHANGED)


def is_unrecorded(plan: InstallPlan) -> bool:
    """Whether nothing in the plan claims that we wrote it."""
    return not noted(plan) and not _recorded(plan)


def refusal(plan: InstallPlan) -> Condition | None:
    """Why nothing of an unfinished plan may be executed; None when it may."""
    if is_intact(plan):
        return None
    if is_unrecorded(plan):
        reason, why = _NOT_PLANNED, "was not written by olm-functions"
    else:
        reason, why = _CHANGED, "was changed after olm-functions wrote it, so that no approval holds for it"
    delete = f"kubectl delete installplan {plan.name} -n {plan.namespace}"
    message = (
        f"InstallPlan {plan.name} {why}: nothing of it is executed. A Subscription whose ClusterServiceVersion "
        f"does not exist yet gets a new plan. Delete this one: {delete}. If a ClusterServiceVersion of it exists and "
        "lacks something then, delete that and its Subscription, too, and create the Subscription again"
    )
    return Condition("Installed", "False", reason, message)


def approval(plan: InstallPlan, who: str) -> Condition:
    """Who approved the plan, and what."""
    message = f"spec.approved was set by {who}, for {_recorded(plan)}"
    return Condition(APPROVED, "True", "SpecApproved", message)


def withdrawal() -> Condition:
    """Nobody approves the plan any more; who approves it again is told anew."""
    return Condition(APPROVED, "False", "ApprovalWithdrawn", "spec.approved was set back to false")


def begins(plan: InstallPlan) -> bool:
    """Whether an approved plan is carried out from now on, and not before: it waited, or its approval was withdrawn."""
    return plan.phase != "Installing" or plan.condition(APPROVED).status == "False"


def approval_note(plan: InstallPlan, who: str) -> str:
    """For the run that begins an approved plan: who approved it."""
    return f", approved by {who}" if begins(plan) else ""


def approver(plan: InstallPlan) -> str:
    """The client that set `spec.approved`, with the time, as managedFields state it."""
    found = [
        (fields.text(one, "time"), f"{_quoted(fields.text(one, 'manager'))} ({fields.text(one, 'operation')})")
        for one in fields.parts(plan.metadata, "managedFields")
        if "f:approved" in fields.part(one, "fieldsV1", "f:spec")
    ]
    time, who = max(found, default=("", "a client that the API server does not name"))
    return f"{who} at {time}" if time else who


def _quoted(client: str) -> str:
    """A client gives itself any name of up to 128 characters, a sentence, too: it must not read as one of ours."""
    return client if _WORD.fullmatch(client) else repr(client)


def _recorded(plan: InstallPlan) -> str:
    return plan.condition(TYPE).message


def _fields(raw: ReadOnly, keys: tuple[str, ...], *inside: str) -> list[Any]:  # why: any JSON value
    found = fields.value(raw, *inside) if inside else raw
    return [found.get(key) or "" for key in keys] if isinstance(found, dict) else []


def _digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
