"""What `k8s/knative`, `k8s/knative-oidc`, `k8s/eventing` and `k8s/keda` make of the base."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from functools import cache
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, ConfigDict

from eventing.deploy.broker import RETRIES
from eventing.deploy.knative import INTAKE, SLEEPERS
from eventing.deploy.oidc import AUDIENCE, OF_BROKER
from eventing.events.cloudevents import to_request
from eventing.events.job import Job
from eventing.metrics import work
from eventing.metrics.exposition import text
from eventing.routes import ROUTES, STEPS
from eventing.wiring.waking import wake_up
from eventing.worker.waker import KEEP_SECONDS
from eventing.workqueue import WorkQueue, connect
from shared import names
from shared.config import Settings
from shared.domain.selectors import matches
from shared.kinds import HIGH_CARDINALITY, NAMESPACE, OPTIONAL, WATCHED
from tests.kit.manifests import K8S, objects

needs_kubectl = pytest.mark.skipif(not (shutil.which("kubectl") or os.environ.get("CI")), reason="there is no kubectl")


def of_kind(folder: str, kind: str, api: str = "") -> list[Any]:
    return [each for each in objects(folder) if each["kind"] == kind and each["apiVersion"].startswith(api)]


@cache
def built(folder: str) -> list[Any]:
    """As `kubectl apply -k` makes them."""
    done = subprocess.run(["kubectl", "kustomize", str(K8S / folder)], capture_output=True, check=True)
    return list(yaml.load_all(done.stdout, yaml.CSafeLoader))


def settings_of(container: Any) -> dict[str, str]:
    return {one["name"]: one["value"] for one in container["env"] if "value" in one}


SERVICES = of_kind("knative", "Service", "serving")
TRIGGERS = of_kind("knative", "Trigger")


class Strict(BaseModel):
    """Fields of a Knative object that we use; an unknown one is a typing error of ours."""

    model_config = ConfigDict(extra="forbid")


class Reference(Strict):
    apiVersion: str  # noqa: N815
    kind: str
    name: str


class Destination(Strict):
    ref: Reference
    uri: str = ""


class Delivery(Strict):
    retry: int
    backoffPolicy: str  # noqa: N815
    backoffDelay: str  # noqa: N815
    timeout: str
    deadLetterSink: Destination | None = None  # noqa: N815


class TriggerSpec(Strict):
    broker: str
    filters: list[dict[str, Any]]
    subscriber: Destination
    delivery: Delivery


class BrokerSpec(Strict):
    delivery: Delivery


class WatchedResource(Strict):
    apiVersion: str  # noqa: N815
    kind: str
    selector: dict[str, Any] | None = None


class ApiServerSourceSpec(Strict):
    mode: str
    serviceAccountName: str  # noqa: N815
    namespaceSelector: dict[str, Any]  # noqa: N815
    resources: list[WatchedResource]
    sink: Destination


class RevisionSpec(Strict):
    serviceAccountName: str  # noqa: N815
    containerConcurrency: int  # noqa: N815
    timeoutSeconds: int  # noqa: N815
    containers: list[dict[str, Any]]
    volumes: list[dict[str, Any]]


class RevisionTemplate(Strict):
    metadata: dict[str, Any]
    spec: RevisionSpec


class ServiceSpec(Strict):
    template: RevisionTemplate


SPECS: dict[tuple[str, str], type[Strict]] = {
    ("eventing.knative.dev/v1", "Broker"): BrokerSpec,
    ("eventing.knative.dev/v1", "Trigger"): TriggerSpec,
    ("sources.knative.dev/v1", "ApiServerSource"): ApiServerSourceSpec,
    ("serving.knative.dev/v1", "Service"): ServiceSpec,
}


@pytest.mark.parametrize("folder", ["knative", "eventing"])
def test_knative_objects_have_the_fields_that_knative_knows(folder: str) -> None:
    kinds = set()
    for each in objects(folder):
        if spec := SPECS.get((each["apiVersion"], each["kind"])):
            spec.model_validate(each["spec"])
            kinds.add(each["kind"])
    assert kinds >= {"Broker", "Trigger", "ApiServerSource"}


def test_there_is_one_trigger_for_the_source_and_one_for_each_who_drains() -> None:
    """All that the source tells goes to one Service, once; a wake-up reaches the Service of its group alone."""
    assert len(TRIGGERS) == 1 + len(SLEEPERS) == 1 + len({step.partition("/")[0] for step in STEPS}) + 1
    subscribers = [each["spec"]["subscriber"]["ref"]["name"] for each in TRIGGERS]
    assert sorted(subscribers) == sorted(each["metadata"]["name"] for each in SERVICES)
    for change in (names.RESOURCE_EVENT, names.REF_EVENT):
        assert passing({"type": f"{change}add"}) == [INTAKE]
    for group in SLEEPERS:
        headers, _ = to_request(wake_up(group, "olm"))
        attributes = {key.removeprefix("ce-"): value for key, value in headers.items()}
        assert passing(attributes) == [f"olmf-{group.replace('_', '-')}"]


def passing(attributes: dict[str, str]) -> list[str]:
    """The Triggers whose filters an event passes."""
    return [
        each["metadata"]["name"] for each in TRIGGERS if all(passes(one, attributes) for one in each["spec"]["filters"])
    ]


def passes(one: dict[str, Any], attributes: dict[str, str]) -> bool:
    """One filter of a Trigger, of those that we use."""
    ((how, what),) = one.items()
    match how:
        case "any":
            return any(passes(inner, attributes) for inner in what)
        case "prefix":
            return all(attributes.get(key, "").startswith(value) for key, value in what.items())
        case "exact":
            return all(attributes.get(key) == value for key, value in what.items())
    raise AssertionError(f"a filter that this test does not know: {how}")


def test_no_pod_stays_awake_and_none_is_reached_from_outside() -> None:
    for each in SERVICES:
        template = each["spec"]["template"]
        assert template["metadata"]["annotations"] == {"autoscaling.knative.dev/min-scale": "0"}
        assert each["metadata"]["labels"] == {"networking.knative.dev/visibility": "cluster-local"}
    assert KEEP_SECONDS < 60, "Serving ends a Pod that had no request for a minute"


def test_who_drains_serves_its_own_group_and_the_intake_none() -> None:
    found = {}
    for each in SERVICES:
        (container,) = each["spec"]["template"]["spec"]["containers"]
        arguments = settings_of(container)
        found[each["metadata"]["name"]] = (
            container["args"][2:], arguments.get("OLMF_STEPS", arguments.get("OLMF_LANE", "")),
        )  # fmt: skip
        Settings.read({key: value for key, value in arguments.items() if key.startswith("OLMF_")})
    assert found.pop(INTAKE) == ([], "")
    assert found == {f"olmf-{group.replace('_', '-')}": (["--drain"], group) for group in SLEEPERS}


def test_the_long_lane_has_the_permissions_of_the_groups_with_long_steps_alone() -> None:
    bound = {each["roleRef"]["name"] for each in of_kind("knative", "ClusterRoleBinding")}
    groups = {route.step.partition("/")[0] for route in ROUTES if route.lane == "long"}
    assert bound == {f"olmf-{group.replace('_', '-')}" for group in groups}
    escalating = {"olmf-install-plan", "olmf-cluster-service-version", "olmf-cluster-object-set", "olmf-operator-group"}
    assert not bound & escalating


def test_an_event_that_cannot_be_delivered_holds_up_its_kind_for_seconds_and_leads_to_an_audit() -> None:
    (intake,) = (each["spec"] for each in TRIGGERS if each["metadata"]["name"] == INTAKE)
    assert RETRIES["backoffPolicy"] == "exponential"
    first = float(str(RETRIES["backoffDelay"])[2:-1])
    assert sum(first * 2**turn for turn in range(int(str(RETRIES["retry"])))) < 20
    sink = intake["delivery"]["deadLetterSink"]
    (service,) = (
        each for each in of_kind("knative", "Service", "v1") if each["metadata"]["name"] == sink["ref"]["name"]
    )
    assert (sink["uri"], service["spec"]["ports"][0]["targetPort"]) == ("/lost", 8081)
    assert not [each for each in TRIGGERS if each["spec"] != intake and "deadLetterSink" in each["spec"]["delivery"]]


@needs_kubectl
def test_nothing_but_redis_scheduler_and_the_servers_of_apis_runs_at_rest() -> None:
    found = built("knative")
    running = {each["metadata"]["name"] for each in found if each["kind"] == "Deployment"}
    assert running == {"olmf-redis", "olmf-scheduler", "olmf-packages", "olmf-catalogs"}
    images = {
        one["image"]
        for each in found
        if each["apiVersion"].startswith("serving")
        for one in each["spec"]["template"]["spec"]["containers"]
    }
    assert len(images) == 1
    assert not [
        each for each in found if each["metadata"]["name"] in ("olmf-endpoint", "olmf-watch") and "spec" in each
    ]


@needs_kubectl
@pytest.mark.parametrize("folder", ["knative", "eventing"])
def test_the_scheduler_sees_who_brings_events_and_takes_dead_letters(folder: str) -> None:
    found = built(folder)
    (scheduler,) = (
        each for each in found if each["kind"] == "Deployment" and each["metadata"]["name"] == "olmf-scheduler"
    )
    pod = scheduler["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is True
    arguments = Settings.read({
        key: value for key, value in settings_of(pod["containers"][0]).items() if key.startswith("OLMF_")
    })  # fmt: skip
    assert arguments.broker_namespace == "knative-eventing"
    assert arguments.broker == ("http://broker-ingress.knative-eventing.svc/olm/olmf" if folder == "knative" else "")
    roles = [
        each for each in found if each["kind"] == "Role" and each["metadata"]["name"] == "olmf-scheduler-sees-pods"
    ]
    assert {each["metadata"]["namespace"] for each in roles} == {"olm", arguments.broker_namespace}
    (reads,) = {json.dumps(each["rules"]) for each in roles}
    assert json.loads(reads) == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
    (guard,) = (
        each["spec"]
        for each in found
        if each["kind"] == "NetworkPolicy" and each["metadata"]["name"] == "olmf-scheduler-events"
    )
    assert matches(guard["podSelector"], scheduler["spec"]["template"]["metadata"]["labels"])
    (rule,) = guard["ingress"]
    assert (rule["ports"][0]["port"], rule["from"][0]["namespaceSelector"]["matchExpressions"][0]["values"]) == (
        arguments.health_port, [arguments.broker_namespace],
    )  # fmt: skip


@needs_kubectl
@pytest.mark.parametrize("folder", ["knative", "eventing"])
def test_one_optional_secret_makes_the_source_known_to_whoever_takes_events(folder: str) -> None:
    """The source adds it to each event as an attribute (`ceOverrides`), the scheduler to its wake-ups."""
    secret = {"secretKeyRef": {"name": "olmf-endpoint", "key": "token", "optional": True}}
    token = {"name": "OLMF_ENDPOINT_TOKEN", "valueFrom": secret}
    workloads = [each for each in built(folder) if "template" in each.get("spec", {})]
    containers = [one for each in workloads for one in each["spec"]["template"]["spec"]["containers"]]
    takes = [one for one in containers if one.get("args", [])[:2] == ["run", "endpoint"]]
    sends = [one for one in containers if one.get("args") == ["run", "scheduler"]]
    assert takes
    assert sends
    assert all(token in one["env"] for one in (*takes, *sends))
    sent, _ = to_request(wake_up("fanout", "olm", "secret"))
    assert sent["ce-olmftoken"] == "secret"
    assert "ce-olmftoken" not in to_request(wake_up("fanout", "olm"))[0]


@needs_kubectl
def test_without_serving_the_source_leads_to_the_endpoint_and_workers_stay() -> None:
    found = built("eventing")
    replicas = {
        each["metadata"]["name"]: each["spec"].get("replicas") for each in found if each["kind"] == "Deployment"
    }
    assert (replicas["olmf-worker"], replicas["olmf-endpoint"], "olmf-watch" in replicas) == (2, 2, False)
    (trigger,) = (each for each in found if each["kind"] == "Trigger")
    reference = trigger["spec"]["subscriber"]["ref"]
    assert reference == {"apiVersion": "v1", "kind": "Service", "name": "olmf-endpoint"}
    images = {
        one["image"]
        for each in found
        if each["kind"] == "Deployment" and each["metadata"]["name"] != "olmf-redis"
        for one in each["spec"]["template"]["spec"]["containers"]
    }
    assert len(images) == 1, "that of the base, wherever it is pulled from"
    assert not [each for each in found if each["apiVersion"].startswith("serving")]


@needs_kubectl
def test_nobody_but_the_broker_reaches_the_endpoint() -> None:
    """Events and `/metrics` share its port, and who measures is no sender of events."""
    (guard,) = (
        each["spec"]
        for each in built("eventing")
        if (each["kind"], each["metadata"]["name"]) == ("NetworkPolicy", "olmf-endpoint")
    )
    (rule,) = guard["ingress"]
    (among,) = (one["namespaceSelector"]["matchExpressions"] for one in rule["from"])
    assert among == [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["knative-eventing"]}]
    assert rule["ports"] == [{"port": 8080, "protocol": "TCP"}]


@needs_kubectl
def test_keda_reads_ages_that_the_watcher_reports_and_reports_how_many_workers_there_are(redis_url: str) -> None:
    found = built("keda")
    (scaled,) = (each for each in found if each["kind"] == "ScaledObject")
    (worker,) = (each for each in found if each["kind"] == "Deployment" and each["metadata"]["name"] == "olmf-worker")
    assert scaled["spec"]["scaleTargetRef"] == {"name": "olmf-worker"}
    assert "replicas" not in worker["spec"]
    with connect(redis_url) as client:
        reported = text(work.measures(WorkQueue(client, Settings())))
    for trigger in scaled["spec"]["triggers"]:
        assert re.search(rf"^{re.escape(trigger['metadata']['valueLocation'])} 0", reported, re.MULTILINE)
        assert trigger["metadata"]["url"] == "http://olmf-watch.olm.svc:8080/metrics"


@needs_kubectl
def test_keda_keeps_a_worker_while_something_runs(redis_url: str) -> None:
    """A pull of minutes has no age: without workers at rest it would be ended, and begun again, without end."""
    (scaled,) = (each["spec"] for each in built("keda") if each["kind"] == "ScaledObject")
    job = Job("subscription/resolve_subscriptions", NAMESPACE.ref("ns"))
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings())
        queue.add([job], "cause")
        claim = queue.claim(["subscription"])
        reported = text(work.measures(queue))
    assert claim
    series = {each["metadata"]["valueLocation"] for each in scaled["triggers"]}
    assert {each for each in series if f"{each} 0" not in reported} == {"olmf_queue_running"}
    behavior = scaled["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    assert behavior["scaleDown"]["stabilizationWindowSeconds"] == scaled["cooldownPeriod"]


def test_with_oidc_triggers_and_services_speak_of_one_audience_and_every_service_may_review() -> None:
    (kustomization,) = of_kind("knative-oidc", "Kustomization")
    assert kustomization["resources"][0] == "../knative"
    (binding,) = of_kind("knative-oidc", "ClusterRoleBinding")
    accounts = {each["spec"]["template"]["spec"]["serviceAccountName"] for each in SERVICES}
    assert {one["name"] for one in binding["subjects"]} == accounts
    assert binding["roleRef"]["name"] == "system:auth-delegator"


@needs_kubectl
def test_kubectl_builds_what_knative_with_oidc_needs() -> None:
    found = built("knative-oidc")
    triggers = [one["spec"] for one in found if one["kind"] == "Trigger"]
    assert {one["subscriber"]["audience"] for one in triggers} == {AUDIENCE}
    services = [one["spec"] for one in found if one["apiVersion"] == "serving.knative.dev/v1"]
    assert services
    for one in services:
        (container,) = one["template"]["spec"]["containers"]
        arguments = Settings.read({"OLMF_ENDPOINT_AUDIENCE": settings_of(container)["OLMF_ENDPOINT_AUDIENCE"]})
        assert arguments.endpoint_audience == AUDIENCE
    (scheduler,) = (
        each for each in found if each["kind"] == "Deployment" and each["metadata"]["name"] == "olmf-scheduler"
    )
    pod = scheduler["spec"]["template"]["spec"]
    (volume,) = (one["projected"]["sources"] for one in pod["volumes"] if "projected" in one)
    assert volume[0]["serviceAccountToken"]["audience"] == OF_BROKER == "eventing.knative.dev/broker/olm/olmf"
    mounts = {one["name"]: one["mountPath"] for one in pod["containers"][0]["volumeMounts"]}
    assert settings_of(pod["containers"][0])["OLMF_BROKER_TOKEN_FILE"] == f"{mounts['broker']}/token"


@pytest.mark.parametrize("folder", ["knative", "eventing"])
def test_the_source_watches_every_kind_that_a_route_names(folder: str) -> None:
    (source,) = of_kind(folder, "ApiServerSource")
    assert {each["kind"] for each in source["spec"]["resources"]} == {kind.kind for kind in WATCHED} - {
        kind.kind for kind in OPTIONAL
    }


def test_the_source_sends_only_ours_of_kinds_that_every_workload_has() -> None:
    """Else the Deployments of our own Services wake them whenever they rest; those with certificates have to."""
    (source,) = of_kind("knative", "ApiServerSource")
    narrowed = {each["kind"] for each in source["spec"]["resources"] if "selector" in each}
    assert (
        narrowed
        == {kind.kind for kind in set(HIGH_CARDINALITY) - set(OPTIONAL)}
        >= {"Deployment", "ServiceAccount", "Role", "Job"}
    )
    workloads = [each for each in objects("base", "knative") if "template" in each.get("spec", {})]
    labelled = {each["metadata"]["name"] for each in workloads if "olm.managed" in each["metadata"].get("labels", {})}
    assert labelled == {"olmf-packages", "olmf-catalogs"}


@pytest.mark.parametrize(
    ("port", "namespace", "is_open"),
    [
        pytest.param(8012, "kourier-system", True, id="an ingress brings events"),
        pytest.param(8012, "knative-serving", True, id="the activator brings the first event"),
        pytest.param(9090, "knative-serving", True, id="the autoscaler asks the proxy"),
        pytest.param(9091, "knative-serving", True, id="and its other port"),
        pytest.param(8012, "tenant", False, id="a tenant reaches no pod"),
        pytest.param(9090, "kourier-system", False, id="nobody else asks the proxy"),
    ],
)
def test_who_reaches_a_service_of_knative(port: int, namespace: str, is_open: bool) -> None:
    policies = of_kind("knative", "NetworkPolicy")
    (policy,) = (each["spec"] for each in policies if each["metadata"]["name"] == "olmf-steps")
    labels = {"kubernetes.io/metadata.name": namespace}
    reached = [
        rule
        for rule in policy["ingress"]
        if any(one["port"] == port for one in rule["ports"])
        and any(matches(peer["namespaceSelector"], labels) for peer in rule["from"])
    ]
    assert bool(reached) is is_open
