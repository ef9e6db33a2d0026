"""What Knative with OIDC needs besides: events reach the Services with tokens, which they have reviewed.

Decision: a folder of its own beside `knative`. A Service that wants tokens refuses events without, so it must not want
them where Knative sends none, which is so by default (`authentication-oidc`). The Triggers name the audience: a Service
of Serving says none itself. Turned down: the same in `knative`, with a switch in each Service.
"""

from __future__ import annotations

import json
from typing import Final

from eventing.deploy.rbac import NAMESPACE, RBAC, account_of
from eventing.deploy.rights import RIGHTS
from shared.api.manifest import Manifest

AUDIENCE: Final = "olm-functions"
"""Of the tokens; who has one for another audience is not known."""
REVIEWS: Final = "olmf-token-reviews"


def files() -> dict[str, list[Manifest]]:
    """File name to objects: the right to have tokens reviewed, for the accounts of the Services."""
    subjects = [{"kind": "ServiceAccount", "name": account_of(group), "namespace": NAMESPACE} for group in RIGHTS]
    binding = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": REVIEWS},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "system:auth-delegator"},
        "subjects": subjects,
    }
    return {"100-token-reviews.yaml": [binding]}


def patches() -> list[Manifest]:
    """For kustomize: the audience, in each Trigger and in each Service."""
    desired = {"name": "OLMF_ENDPOINT_AUDIENCE", "value": AUDIENCE}
    return [
        _added("eventing.knative.dev", "Trigger", "/spec/subscriber/audience", AUDIENCE),
        _added("serving.knative.dev", "Service", "/spec/template/spec/containers/0/env/-", desired),
    ]


def _added(group: str, kind: str, path: str, value: object) -> Manifest:
    change = [{"op": "add", "path": path, "value": value}]
    return {"target": {"group": group, "kind": kind}, "patch": json.dumps(change)}
