"""What an approval says: who gives it, and for which content (`functions/install_plan/README.md`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared import names
from shared.adapters.kube.errors import ApiError
from shared.api.manifest import Manifest
from shared.domain.objects.plan_record import noted

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient
    from shared.api.views import InstallPlan

_WHO = "authentication.k8s.io/v1"
_NOT_TOLD = (403, 404)


def approval_of(cluster: KubeClient, plan: InstallPlan) -> Manifest:
    """The patch that approves the plan as it was read: it does not fit one whose content was changed meanwhile."""
    digest = {names.PLAN_CONTENT: found} if (found := noted(plan)) else {}
    annotations = {names.APPROVED_BY: _own_name(cluster) or None, **digest}
    return {"metadata": {"annotations": annotations}, "spec": {"approved": True}}


def _own_name(cluster: KubeClient) -> str:
    """As whom the API server knows who asks; empty where it does not tell."""
    review = {"apiVersion": _WHO, "kind": "SelfSubjectReview"}
    try:
        answer = cluster.request("POST", f"/apis/{_WHO}/selfsubjectreviews", review)
    except ApiError as error:
        if error.status in _NOT_TOLD:
            return ""
        raise
    return str(answer["status"]["userInfo"]["username"])
