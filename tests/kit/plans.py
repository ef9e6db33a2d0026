"""InstallPlans that tests write themselves, with the record that makes them count as ours."""

from __future__ import annotations

from shared import names
from shared.api.manifest import Manifest, annotations_of, metadata
from shared.domain.objects import plan_record


def recorded(plan: Manifest) -> Manifest:
    """The plan, as if we had written it: with the digest of its content in its annotation and in its status."""
    status = plan["status"]
    digest = plan_record.of_plan(plan["spec"], status, annotations_of(plan).get(names.PLANNED_FOR, ""))
    others = [one for one in status.get("conditions") or () if one.get("type") != plan_record.TYPE]
    annotations = {**annotations_of(plan), names.PLAN_CONTENT: digest}
    return {
        **plan,
        "metadata": {**metadata(plan), "annotations": annotations},
        "status": {**status, "conditions": [*others, plan_record.condition(digest)]},
    }
