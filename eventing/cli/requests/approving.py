"""What an approval says: who gives it, and for which content (`functions/install_plan/README.md`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared import names
from shared.api.manifest import Manifest
from shared.domain.objects.plan_record import noted

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient
    from shared.api.views import InstallPlan


def approval_of(cluster: KubeClient, plan: InstallPlan) -> Manifest:
    """The patch that approves the plan as it was read: it does not fit one whose content was changed meanwhile."""
    digest = {names.PLAN_CONTENT: found} if (found := noted(plan)) else {}
    annotations = {names.APPROVED_BY: cluster.user_name() or None, **digest}
    return {"metadata": {"annotations": annotations}, "spec": {"approved": True}}
