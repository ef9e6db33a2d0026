"""What `knative` and `eventing` share: a Broker, the ApiServerSource, the Trigger of the intake, the scheduler's part.

Decisions. *Retries*: an event of the source is tried six times within 16 s, because the channel in memory answers the
source only then, and the source tells of a kind one event after the other: whatever cannot be delivered holds up its
kind for no longer. *Dead letters* go to the scheduler, which reads nothing of them: it starts an audit, which finds
what they told of, whatever they were. *Order* is asked of no Broker: an event is a hint to look, so late, repeated and
reordered ones cost a look. Turned down: retries for minutes (the source stands still), a store of dead letters
(somebody has to send them again), ordered delivery (one slow event holds up the others).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from eventing.deploy.base import HEALTH_PORT, SCHEDULER, endpoint_token
from eventing.deploy.network import from_namespaces, policy, tcp
from eventing.deploy.pods import named, service
from eventing.deploy.rbac import NAMESPACE, WATCHER, granted, subject
from shared import names
from shared.api.manifest import Manifest
from shared.kinds import HIGH_CARDINALITY, OPTIONAL, WATCHED, Kind

BROKER: Final = "olmf"
PLACE: Final = "knative-eventing"
"""The namespace of the programs that a Broker consists of."""
BROKER_PORTS: Final = (8080, 8443)
"""Where their pods take events: HTTP, HTTPS."""
EVENTING: Final = "eventing.knative.dev/v1"
RETRIES: Final = {"retry": 5, "backoffPolicy": "exponential", "backoffDelay": "PT0.5S", "timeout": "PT60S"}


def files(intake: Manifest) -> dict[str, list[Manifest]]:
    """File name to objects; `intake` refers to what receives the events of the source."""
    return {
        "100-broker.yaml": [_broker()],
        "350-scheduler.yaml": [
            service(SCHEDULER, 80, HEALTH_PORT),
            *_sees_pods(NAMESPACE),
            *_sees_pods(PLACE),
            _policy(),
        ],
        "400-api-server-source.yaml": [_api_server_source()],
    } | {"300-triggers.yaml": [trigger("olmf-intake", _any_change(), intake, {**RETRIES, **_dead_letters()})]}


def trigger(name: str, filters: list[Manifest], subscriber: Manifest, delivery: Manifest) -> Manifest:
    """What leads events that pass the filters to a subscriber."""
    spec = {"broker": BROKER, "filters": filters, "subscriber": {"ref": subscriber}, "delivery": delivery}
    return {
        "apiVersion": EVENTING,
        "kind": "Trigger",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": spec,
    }


def without(*programs: str) -> list[Manifest]:
    """Patches for kustomize: the base without these programs."""
    replaced = (("apps/v1", "Deployment"), ("v1", "Service"), ("networking.k8s.io/v1", "NetworkPolicy"))
    return [
        {"patch": json.dumps({"$patch": "delete", "apiVersion": api, "kind": kind, "metadata": _meta(name)})}
        for name in programs
        for api, kind in replaced
        if (name, kind) != ("olmf-worker", "Service")  # which serves nothing
    ]


def scheduler(settings: Mapping[str, str]) -> Manifest:
    """A patch for kustomize: the scheduler with these settings, and with a token for the API server.

    Its wake-ups carry the token of senders, too, if there is one.
    """
    pod = "/spec/template/spec"
    env = [*({"name": name, "value": value} for name, value in settings.items()), endpoint_token()]
    changes = [
        {"op": "replace", "path": f"{pod}/automountServiceAccountToken", "value": True},
        *({"op": "add", "path": f"{pod}/containers/0/env/-", "value": one} for one in env),
    ]
    return {"target": {"kind": "Deployment", "name": SCHEDULER}, "patch": json.dumps(changes)}


def _meta(name: str) -> Manifest:
    return {"name": name, "namespace": NAMESPACE}


def _dead_letters() -> Manifest:
    return {"deadLetterSink": {"ref": {"apiVersion": "v1", "kind": "Service", "name": SCHEDULER}, "uri": "/lost"}}


def _any_change() -> list[Manifest]:
    return [{"any": [{"prefix": {"type": kind}} for kind in (names.RESOURCE_EVENT, names.REF_EVENT)]}]


def _broker() -> Manifest:
    return {"apiVersion": EVENTING, "kind": "Broker", "metadata": _meta(BROKER), "spec": {"delivery": RETRIES}}


def _sees_pods(namespace: str) -> list[Manifest]:
    """The scheduler starts an audit when an adapter, or a program of the Broker, is back."""
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}
    return granted(f"{SCHEDULER}-sees-pods", [rule], [subject(SCHEDULER)], namespace)


def _policy() -> Manifest:
    """Besides the scheduler's own: it reaches the API server and the Broker, which brings it dead letters."""
    to_broker = {"to": from_namespaces(PLACE)["from"], **tcp(*BROKER_PORTS)}
    lost = {**from_namespaces(PLACE), **tcp(HEALTH_PORT)}
    return policy(f"{SCHEDULER}-events", [lost], [tcp(), to_broker], {"matchLabels": named(SCHEDULER)})


def _api_server_source() -> Manifest:
    # why not the optional kinds: a source asks for what is not served again and again; there the audit tells of them
    return {
        "apiVersion": "sources.knative.dev/v1",
        "kind": "ApiServerSource",
        "metadata": _meta("olmf"),
        "spec": {
            "mode": "Resource",
            "serviceAccountName": WATCHER,
            "namespaceSelector": {},
            "resources": [_watched(kind) for kind in WATCHED if kind not in OPTIONAL],
            "sink": {"ref": {"apiVersion": EVENTING, "kind": "Broker", "name": BROKER}},
        },
    }


def _watched(kind: Kind) -> Manifest:
    """Of kinds that every workload has only ours: else our own Deployments would wake our Services for ever."""
    ours = {"selector": {"matchLabels": {names.MANAGED: "true"}}} if kind in HIGH_CARDINALITY else {}
    return {"apiVersion": kind.api_version, "kind": kind.kind, **ours}
