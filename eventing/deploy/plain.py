"""`k8s/eventing`: Knative Eventing without Serving. Events of the source reach the endpoint, and workers never rest.

Decision: one Trigger to a Deployment. Who drains is awake and hears of each job from Redis itself, so nothing is sent
through the Broker to wake it, and an install takes no longer than with the watcher.
"""

from __future__ import annotations

from typing import Final

from eventing.deploy import base, broker
from eventing.deploy.base import ENDPOINT, PORT, Program
from eventing.deploy.network import from_namespaces, tcp
from eventing.deploy.pods import service
from eventing.deploy.rbac import WATCHER
from shared.api.manifest import Manifest

PROGRAM: Final = Program(
    ENDPOINT, "endpoint", ENDPOINT, replicas=2, ports=(PORT,), talks_to_api=False,
    ingress=(from_namespaces(broker.PLACE),),
)  # fmt: skip
"""Nobody but the Broker reaches it: events and `/metrics` share a port, and who measures is no sender of events."""


def files() -> dict[str, list[Manifest]]:
    """File name to objects."""
    endpoint = [
        base.account_without_token(ENDPOINT), base.deployment_of(PROGRAM), service(ENDPOINT, 80, PORT),
        base.policy_of(PROGRAM, tcp()),
    ]  # fmt: skip
    reference = {"apiVersion": "v1", "kind": "Service", "name": ENDPOINT}
    return {**broker.files(reference), "200-endpoint.yaml": endpoint}


def replacements() -> list[Manifest]:
    """For kustomize: the endpoint runs the image that the scheduler runs."""
    targets = {
        "select": {"kind": "Deployment", "name": ENDPOINT},
        "fieldPaths": [
            "spec.template.spec.containers.0.image",
            "spec.template.spec.containers.0.env.[name=OLMF_UNPACK_IMAGE].value",
        ],
    }
    return [{"source": base.image_of_scheduler(), "targets": [targets]}]


def patches() -> list[Manifest]:
    """For kustomize: the source takes the place of the watcher, and the scheduler audits when it comes back."""
    return [*broker.without(WATCHER), broker.scheduler({"OLMF_BROKER_NAMESPACE": broker.PLACE})]
