"""The same steps on Knative: a Broker, one Service per group, Triggers made from the routes, an ApiServerSource.

Events of our own (`io.olmf.*`) become jobs in Redis and never reach the Broker: there are no Triggers for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from eventing.deploy.base import IMAGE, PORT, environment, image_of_worker, mounts, pulling, volumes
from eventing.deploy.network import ANYWHERE, from_namespaces, policy, tcp
from eventing.deploy.pods import PART_OF, confined
from eventing.deploy.rbac import NAMESPACE, WATCHER, account_of
from eventing.deploy.rights import RIGHTS
from eventing.routes import ROUTES
from shared import names
from shared.api.manifest import Manifest
from shared.kinds import HIGH_CARDINALITY, OPTIONAL, WATCHED, Kind

BROKER = "olmf"
QUEUE_PROXY_PORTS = (8012, 8013, 8112)
"""Where Knative's proxy in front of a container takes requests: HTTP/1, HTTP/2, TLS."""
PROXY_METRIC_PORTS = (9090, 9091)
"""Where the autoscaler of Serving reads how many requests the proxy has: without it nothing scales."""
SERVING = "knative-serving"
INGRESSES = ("contour-external", "contour-internal", "istio-system", "kourier-system")
"""The namespaces of the ingresses that Serving knows; one of them brings events while a Service has pods."""
_PODS: Manifest = {
    "matchLabels": PART_OF,
    "matchExpressions": [{"key": "serving.knative.dev/service", "operator": "Exists"}],
}


def files() -> dict[str, list[Manifest]]:
    """File name to objects."""
    return {
        "100-broker.yaml": [_broker()],
        "150-network-policy.yaml": [policy("olmf-steps", _senders(), [ANYWHERE], _PODS)],
        "200-services.yaml": [service(group) for group in RIGHTS],
        "300-triggers.yaml": list(triggers()),
        "400-api-server-source.yaml": [_api_server_source()],
    }


def _senders() -> list[Manifest]:
    """Rules of a NetworkPolicy: requests come from an ingress or Serving's activator, and its autoscaler asks."""
    return [
        {**from_namespaces(SERVING, *INGRESSES), **tcp(*QUEUE_PROXY_PORTS)},
        {**from_namespaces(SERVING), **tcp(*PROXY_METRIC_PORTS)},
    ]


def service(group: str) -> Manifest:
    """The Knative Service of a group: the endpoint, which drains its queue before it answers."""
    return {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": {"name": account_of(group), "namespace": NAMESPACE},
        "spec": {
            "template": {
                "metadata": {"annotations": {"autoscaling.knative.dev/min-scale": "0"}, "labels": dict(PART_OF)},
                "spec": pulling(_pod(group)),
            }
        },
    }


def _pod(group: str) -> Manifest:
    container = {
        "image": IMAGE,
        "args": ["run", "endpoint", "--drain"],
        "env": [*environment(), {"name": "OLMF_STEPS", "value": group}],
        "ports": [{"containerPort": PORT}],
        "readinessProbe": {"httpGet": {"path": "/readyz"}},
        **confined("512Mi"),
        **mounts(),
    }
    return {
        "serviceAccountName": account_of(group),
        "containerConcurrency": 8,
        "timeoutSeconds": 60,
        "containers": [container],
        **volumes(),
    }


def replacements() -> list[Manifest]:
    """For kustomize: the Services, and the unpack Jobs of their steps, run the image that the worker runs."""
    container = "spec.template.spec.containers.0"
    targets = {
        "select": {"group": "serving.knative.dev", "kind": "Service"},
        "fieldPaths": [f"{container}.image", f"{container}.env.[name=OLMF_UNPACK_IMAGE].value"],
    }
    return [{"source": image_of_worker(), "targets": [targets]}]


def patches() -> list[Manifest]:
    """For kustomize: the ApiServerSource takes the place of the base's watcher."""
    replaced = (("apps/v1", "Deployment"), ("v1", "Service"), ("networking.k8s.io/v1", "NetworkPolicy"))
    identity = {"name": WATCHER, "namespace": NAMESPACE}
    gone = ({"$patch": "delete", "apiVersion": api, "kind": kind, "metadata": identity} for api, kind in replaced)
    return [{"patch": json.dumps(each)} for each in gone]


def triggers() -> Iterator[Manifest]:
    """One Trigger per group and kind of its routes."""
    for group in RIGHTS:
        desired = dict.fromkeys(route.on for route in ROUTES if route.step.startswith(f"{group}/"))
        for on in desired:
            if isinstance(on, Kind):
                yield _trigger(group, on)


def _trigger(group: str, on: Kind) -> Manifest:
    filters = [_any_verb(), {"exact": {"apiversion": on.api_version, "kind": on.kind}}]
    return {
        "apiVersion": "eventing.knative.dev/v1",
        "kind": "Trigger",
        "metadata": {"name": f"{account_of(group)}-{on.plural}", "namespace": NAMESPACE},
        "spec": {
            "broker": BROKER,
            "filters": filters,
            "subscriber": {
                "ref": {"apiVersion": "serving.knative.dev/v1", "kind": "Service", "name": account_of(group)}
            },
        },
    }


def _any_verb() -> Manifest:
    return {"any": [{"prefix": {"type": kind}} for kind in (names.RESOURCE_EVENT, names.REF_EVENT)]}


def _broker() -> Manifest:
    return {
        "apiVersion": "eventing.knative.dev/v1",
        "kind": "Broker",
        "metadata": {"name": BROKER, "namespace": NAMESPACE},
        "spec": {
            "delivery": {"retry": 10, "backoffPolicy": "exponential", "backoffDelay": "PT0.5S", "timeout": "PT60S"}
        },
    }


def _api_server_source() -> Manifest:
    # why not the optional kinds: a source asks for what is not served again and again; there the audit tells of them
    return {
        "apiVersion": "sources.knative.dev/v1",
        "kind": "ApiServerSource",
        "metadata": {"name": "olmf", "namespace": NAMESPACE},
        "spec": {
            "mode": "Resource",
            "serviceAccountName": WATCHER,
            "namespaceSelector": {},
            "resources": [_watched(kind) for kind in WATCHED if kind not in OPTIONAL],
            "sink": {"ref": {"apiVersion": "eventing.knative.dev/v1", "kind": "Broker", "name": BROKER}},
        },
    }


def _watched(kind: Kind) -> Manifest:
    """Of kinds that every workload has only ours: else our own Deployments would wake our Services for ever."""
    ours = {"selector": {"matchLabels": {names.MANAGED: "true"}}} if kind in HIGH_CARDINALITY else {}
    return {"apiVersion": kind.api_version, "kind": kind.kind, **ours}
