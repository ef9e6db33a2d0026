"""`k8s/eventing`: Knative Eventing without Serving. Events of the source reach the endpoint, and workers never rest.

Decision: one Trigger to a Deployment. Who drains is awake and hears of each job from Redis itself, so nothing is sent
through the Broker to wake it, and an install takes no longer than with the watcher.
"""

from __future__ import annotations

from eventing.deploy import broker
from eventing.deploy.base import ENDPOINT
from eventing.deploy.rbac import WATCHER
from shared.api.manifest import Manifest


def files() -> dict[str, list[Manifest]]:
    """File name to objects."""
    return broker.files({"apiVersion": "v1", "kind": "Service", "name": ENDPOINT})


def patches() -> list[Manifest]:
    """For kustomize: the source takes the place of the watcher, and the scheduler audits when it comes back."""
    return [*broker.without(WATCHER), broker.scheduler({"OLMF_BROKER_NAMESPACE": broker.PLACE})]
