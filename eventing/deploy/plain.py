"""`k8s/eventing`: Knative Eventing without Serving. Events of the source reach the endpoint, and workers never rest.

Decision: one Trigger to a Deployment. Who drains is awake and hears of each job from Redis itself, so nothing is sent
through the Broker to wake it, and an install takes no longer than with the watcher.
"""

from __future__ import annotations

import json

from eventing.deploy import broker
from eventing.deploy.base import ENDPOINT, PORT
from eventing.deploy.network import from_namespaces, tcp
from eventing.deploy.rbac import WATCHER
from shared.api.manifest import Manifest

REPLICAS = 2


def files() -> dict[str, list[Manifest]]:
    """File name to objects."""
    return broker.files({"apiVersion": "v1", "kind": "Service", "name": ENDPOINT})


def patches() -> list[Manifest]:
    """For kustomize: source and endpoint take the place of the watcher, and the scheduler audits when they come back.

    Nobody but the Broker reaches the endpoint: events and `/metrics` share a port, and who measures is no sender.
    """
    runs = {"op": "replace", "path": "/spec/replicas", "value": REPLICAS}
    opens = {"op": "add", "path": "/spec/ingress", "value": [{**from_namespaces(broker.PLACE), **tcp(PORT)}]}
    changed = [
        {"target": {"kind": kind, "name": ENDPOINT}, "patch": json.dumps([change])}
        for kind, change in (("Deployment", runs), ("NetworkPolicy", opens))
    ]
    return [*broker.without(WATCHER), *changed, broker.scheduler({"OLMF_BROKER_NAMESPACE": broker.PLACE})]
