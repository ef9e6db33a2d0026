"""What Knative with OIDC needs besides: events reach the Services with tokens, which they have reviewed.

The scheduler, which wakes them through the Broker, has a token for the Broker.

Decision: a folder of its own beside `knative`. A Service that wants tokens refuses events without, so it must not want
them where Knative sends none, which is so by default (`authentication-oidc`). The Triggers name the audience: a Service
of Serving says none itself. Turned down: the same in `knative`, with a switch in each Service.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from eventing.deploy import broker, knative
from eventing.deploy.base import SCHEDULER
from eventing.deploy.rbac import NAMESPACE, RBAC
from shared.api.manifest import Manifest

AUDIENCE: Final = "olm-functions"
"""Of the tokens; who has one for another audience is not known."""
OF_BROKER: Final = f"eventing.knative.dev/broker/{NAMESPACE}/{broker.BROKER}"
"""The audience of the Broker, as Knative makes it."""
TOKENS: Final = "/var/run/olmf-broker"
REVIEWS: Final = "olmf-token-reviews"


def files() -> dict[str, list[Manifest]]:
    """File name to objects: the right to have tokens reviewed, for the accounts of the Services."""
    subjects = [{"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE} for name in knative.accounts()]
    binding = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": REVIEWS},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "system:auth-delegator"},
        "subjects": subjects,
    }
    return {"100-token-reviews.yaml": [binding]}


def patches() -> list[Manifest]:
    """For kustomize: the audience, in each Trigger and in each Service; the scheduler's token for the Broker."""
    desired = {"name": "OLMF_ENDPOINT_AUDIENCE", "value": AUDIENCE}
    projected = {"serviceAccountToken": {"audience": OF_BROKER, "expirationSeconds": 3600, "path": "token"}}
    pod = "/spec/template/spec"
    return [
        _added({"group": "eventing.knative.dev", "kind": "Trigger"}, {"/spec/subscriber/audience": AUDIENCE}),
        _added({"group": "serving.knative.dev", "kind": "Service"}, {f"{pod}/containers/0/env/-": desired}),
        _added(
            {"kind": "Deployment", "name": SCHEDULER},
            {
                f"{pod}/volumes/-": {"name": "broker", "projected": {"sources": [projected]}},
                f"{pod}/containers/0/volumeMounts/-": {"name": "broker", "mountPath": TOKENS, "readOnly": True},
                f"{pod}/containers/0/env/-": {"name": "OLMF_BROKER_TOKEN_FILE", "value": f"{TOKENS}/token"},
            },
        ),
    ]


def _added(target: Manifest, values: Mapping[str, object]) -> Manifest:
    changes = [{"op": "add", "path": path, "value": value} for path, value in values.items()]
    return {"target": target, "patch": json.dumps(changes)}
