"""The same steps on Knative, where everything but Redis and the scheduler rests at zero until an event comes.

ApiServerSource → Broker → one Trigger → the intake, which records each event once, enqueues the jobs of all groups and
answers. The scheduler sees that a group has work and nobody awake who drains it, and sends `io.olmf.work.ready` through
the same Broker → one Trigger for each group → its Service, which drains that group's queue before it answers. The long
lane (pulls) has a Service of its own, with the rights of the groups that have long steps.

Decision: the work is in Redis, and events only wake. So one Trigger takes all that the source tells, each event is
delivered once, and a wake-up that is lost, late or repeated costs time alone. Turned down: a Trigger for each group and
kind (79 of them, 90 s until they are ready, each event delivered to two Services), workers that never rest, and one
Service for all groups (its pods would have the rights of all).
"""

from __future__ import annotations

from typing import Final

from eventing.deploy import broker
from eventing.deploy.base import (
    ENDPOINT,
    IMAGE,
    PORT,
    endpoint_token,
    environment,
    image_of_scheduler,
    mounts,
    pulling,
    volumes,
)
from eventing.deploy.network import ANYWHERE, from_namespaces, policy, tcp
from eventing.deploy.pods import PART_OF, confined
from eventing.deploy.rbac import NAMESPACE, WATCHER, WORKER, account_of, binding, service_account
from eventing.deploy.rules import RULES
from eventing.routes import ROUTES
from shared import names
from shared.api.manifest import Manifest

INTAKE: Final = "olmf-intake"
LONG: Final = "long"
SLEEPERS: Final = (*RULES, LONG)
"""Who has a queue, a Service that drains it, and a Trigger that wakes it."""
AUDIT_SECONDS: Final = 3600
"""An audit is made when a source comes back; beside that it costs a start of several Services each time."""
QUEUE_PROXY_PORTS: Final = (8012, 8013, 8112)
"""Where Knative's proxy in front of a container takes requests: HTTP/1, HTTP/2, TLS."""
PROXY_METRIC_PORTS: Final = (9090, 9091)
"""Where the autoscaler of Serving reads how many requests the proxy has: without it nothing scales."""
SERVING: Final = "knative-serving"
INGRESSES: Final = ("contour-external", "contour-internal", "istio-system", "kourier-system")
"""The namespaces of the ingresses that Serving knows; one of them brings events while a Service has pods."""
WAKING: Final = {"retry": 2, "backoffPolicy": "linear", "backoffDelay": "PT0.5S", "timeout": "PT60S"}
"""Few retries and no dead letters: as long as there is work, the scheduler sends again."""
_PODS: Manifest = {
    "matchLabels": PART_OF,
    "matchExpressions": [{"key": "serving.knative.dev/service", "operator": "Exists"}],
}


def files() -> dict[str, list[Manifest]]:
    """File name to objects."""
    common = broker.files(_reference(INTAKE))
    return {
        **common,
        "150-accounts.yaml": [service_account(INTAKE), *_account_of_long_lane()],
        "160-network-policy.yaml": [policy("olmf-steps", _senders(), [ANYWHERE], _PODS)],
        "200-services.yaml": [_intake(), *map(_drainer, SLEEPERS)],
        "300-triggers.yaml": [*common["300-triggers.yaml"], *map(_waking, SLEEPERS)],
    }


def replacements() -> list[Manifest]:
    """For kustomize: the Services, and the unpack Jobs of their steps, run the image that the scheduler runs."""
    container = "spec.template.spec.containers.0"
    targets = {
        "select": {"group": "serving.knative.dev", "kind": "Service"},
        "fieldPaths": [f"{container}.image", f"{container}.env.[name=OLMF_UNPACK_IMAGE].value"],
    }
    return [{"source": image_of_scheduler(), "targets": [targets]}]


def patches() -> list[Manifest]:
    """For kustomize: what takes the place of watcher and workers, and what the scheduler does besides."""
    settings = {
        "OLMF_BROKER": f"http://broker-ingress.{broker.PLACE}.svc/{NAMESPACE}/{broker.BROKER}",
        "OLMF_BROKER_NAMESPACE": broker.PLACE,
        "OLMF_AUDIT_SECONDS": str(AUDIT_SECONDS),
    }
    return [*broker.without(WATCHER, WORKER, ENDPOINT), broker.scheduler(settings)]


def accounts() -> list[str]:
    """The accounts of the Services."""
    return [INTAKE, *map(account_of, SLEEPERS)]


def _account_of_long_lane() -> list[Manifest]:
    """With the rights of the groups that have long steps, and of no other."""
    name = account_of(LONG)
    groups = dict.fromkeys(route.step.partition("/")[0] for route in ROUTES if route.lane == "long")
    return [service_account(name), *(binding(name, account_of(group)) for group in groups)]


def _senders() -> list[Manifest]:
    """Rules of a NetworkPolicy: requests come from an ingress or Serving's activator, and its autoscaler asks."""
    return [
        {**from_namespaces(SERVING, *INGRESSES), **tcp(*QUEUE_PROXY_PORTS)},
        {**from_namespaces(SERVING), **tcp(*PROXY_METRIC_PORTS)},
    ]


def _reference(name: str) -> Manifest:
    return {"apiVersion": "serving.knative.dev/v1", "kind": "Service", "name": name}


def _waking(group: str) -> Manifest:
    filters: list[Manifest] = [{"exact": {"type": names.WORK_READY, "group": group}}]
    return broker.trigger(account_of(group), filters, _reference(account_of(group)), WAKING)


def _intake() -> Manifest:
    """Records events and enqueues their jobs; it runs none, and asks the API server nothing."""
    return _service(INTAKE, _pod(INTAKE, ["run", "endpoint"], {}, "256Mi"))


def _drainer(group: str) -> Manifest:
    settings = {"OLMF_LANE": LONG} if group == LONG else {"OLMF_STEPS": group}
    return _service(
        account_of(group), pulling(_pod(account_of(group), ["run", "endpoint", "--drain"], settings, "512Mi"))
    )


def _service(name: str, pod: Manifest) -> Manifest:
    """Reached from inside of the cluster alone."""
    annotations = {"autoscaling.knative.dev/min-scale": "0"}
    return {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"networking.knative.dev/visibility": "cluster-local"},
        },
        "spec": {"template": {"metadata": {"annotations": annotations, "labels": dict(PART_OF)}, "spec": pod}},
    }


def _pod(account: str, words: list[str], settings: dict[str, str], memory: str) -> Manifest:
    container = {
        "image": IMAGE,
        "args": words,
        "env": [*environment(), endpoint_token(), *({"name": key, "value": value} for key, value in settings.items())],
        "ports": [{"containerPort": PORT}],
        "readinessProbe": {"httpGet": {"path": "/readyz"}},
        **confined(memory),
        **mounts(),
    }
    return {
        "serviceAccountName": account,
        "containerConcurrency": 8,
        "timeoutSeconds": 60,
        "containers": [container],
        **volumes(),
    }
