"""The programs on any cluster: namespace, Redis, watcher, worker, scheduler, endpoint, NetworkPolicies.

Decision: the endpoint has no pod, and nobody may connect to it, because nothing sends events where our own watcher
tells of everything; the folders whose events come from Knative let it run. Turned down: one that runs with a token that
nobody has.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version

from eventing.deploy.network import ANYWHERE, WEB, policy, redis_policy, tcp, who_measures
from eventing.deploy.pods import USER, confined, deployment, named, probe, service, start_probe
from eventing.deploy.rbac import NAMESPACE, WATCHER, WORKER, service_account
from eventing.deploy.redis import REDIS, REDIS_PORT, redis
from shared import names
from shared.api.manifest import Manifest

IMAGE = f"olm-functions:{version('olm-functions')}"
ENDPOINT = "olmf-endpoint"
SCHEDULER = "olmf-scheduler"
REGISTRIES = "olmf-registries"
"""An optional ConfigMap: `registries.conf`, and `ca.crt` with authorities of registries, besides those of the image."""
PROXY = "olmf-proxy"
"""An optional ConfigMap of environment variables: `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`."""
CLUSTER = "olmf-cluster"
"""An optional ConfigMap: `addresses` are the networks of Services and Pods, where pulls do not go."""
CONTAINERS = "/etc/containers"
PORT = 8080
REGISTRY_PORT = 50051
"""Of the registry API: the number that OLM writes into the status of a CatalogSource."""
HEALTH_PORT = 8081
"""Only the kubelet connects to it, which NetworkPolicies always allow."""


@dataclass(frozen=True, slots=True)
class Program:
    """One Deployment of ours."""

    name: str
    run: str
    account: str
    replicas: int = 1
    memory: str = "256Mi"
    ports: tuple[int, ...] = ()
    """Where it serves others, and `/livez` and `/readyz`; a program without has them on `HEALTH_PORT`."""
    ingress: tuple[Manifest, ...] = ()
    """Rules of a NetworkPolicy: who connects to these ports."""
    egress: tuple[Manifest, ...] = ()
    """What it connects to, besides DNS, Redis and the API server."""
    talks_to_api: bool = True
    pulls: bool = False
    """Whether it reads images. Those that take long are read in a container beside it, which shares its folders."""


PROGRAMS = (
    Program(WATCHER, "watch", WATCHER, ports=(PORT,), ingress=(who_measures(),)),
    # registries have any port
    Program(WORKER, "worker", WORKER, replicas=2, memory="512Mi", egress=(ANYWHERE,), pulls=True),
    Program(SCHEDULER, "scheduler", SCHEDULER, memory="128Mi", egress=(WEB,), talks_to_api=False),  # `OLMF_SINK`
    Program(ENDPOINT, "endpoint", ENDPOINT, replicas=0, ports=(PORT,), talks_to_api=False),
)


def files(api_ports: Iterable[int] = ()) -> dict[str, list[Manifest]]:
    """File name to objects, numbered in the order in which they make sense.

    `api_ports` are those behind the Service of the API server, for NetworkPolicies; none: any port.
    """
    to_api = tcp(*api_ports)
    return {
        "100-namespace.yaml": [
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": NAMESPACE, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
            }
        ],
        "200-redis.yaml": list(redis()),
        "300-programs.yaml": [
            *(account_without_token(program.account) for program in PROGRAMS if not program.talks_to_api),
            *map(deployment_of, PROGRAMS),
            service(WATCHER, PORT, PORT),  # its /metrics
            service(ENDPOINT, 80, PORT),
        ],
        "400-network-policies.yaml": [
            *(policy_of(program, to_api) for program in PROGRAMS),
            redis_policy(),
        ],
    }


def disruption_budgets() -> list[Manifest]:
    """Of the programs with several pods; not a part of the base (see k8s/README.md)."""
    several = [program.name for program in PROGRAMS if program.replicas > 1]
    return [_disruption_budget(name) for name in (*several, names.PACKAGES, names.CATALOGS)]


def replacements() -> list[Manifest]:
    """For kustomize: unpack Jobs run the image that all programs run."""
    targets = {
        "select": {"kind": "Deployment"},
        "reject": [{"name": REDIS}],
        "fieldPaths": ["spec.template.spec.containers.*.env.[name=OLMF_UNPACK_IMAGE].value"],
    }
    return [{"source": image_of_scheduler(), "targets": [targets]}]


def images() -> list[Manifest]:
    """For kustomize: the one place where the registry of the image is set."""
    name, _, tag = IMAGE.partition(":")
    return [{"name": name, "newName": name, "newTag": tag}]


def image_of_scheduler() -> Manifest:
    """For kustomize: where the name of the image is, in the program that runs wherever we do."""
    return {
        "kind": "Deployment",
        "name": SCHEDULER,
        "fieldPath": "spec.template.spec.containers.[name=scheduler].image",
    }


def environment(*, has_queue: bool = True) -> list[Manifest]:
    """The environment of every program of ours; one that answers others and has no queue gets no password of it."""
    password = [{"name": "REDIS_PASSWORD", "valueFrom": {"secretKeyRef": {"name": REDIS, "key": "password"}}}]
    login = ":$(REDIS_PASSWORD)@" if has_queue else ""
    return [
        *(password if has_queue else ()),
        {"name": "OLMF_REDIS_URL", "value": f"redis://{login}{REDIS}.{NAMESPACE}.svc:{REDIS_PORT}/0"},
        {"name": "OLMF_UNPACK_IMAGE", "value": IMAGE},
        {"name": "OLMF_GLOBAL_NAMESPACE", "value": NAMESPACE},
        {"name": "OLMF_CATALOGS_URL", "value": f"https://{names.CATALOGS}.{NAMESPACE}.svc"},
        {"name": "OLMF_CATALOGS_ADDRESS", "value": f"{names.CATALOGS}.{NAMESPACE}.svc:{REGISTRY_PORT}"},
    ]


def endpoint_token() -> Manifest:
    """What senders of events must have, if the administrator made the Secret; else events are hints only.

    The Secret is called as the endpoint also where Services of Knative take the events.
    """
    secret = {"secretKeyRef": {"name": ENDPOINT, "key": "token", "optional": True}}
    return {"name": "OLMF_ENDPOINT_TOKEN", "valueFrom": secret}


def mounts() -> Manifest:
    """The folders of a container that may be written."""
    return {"volumeMounts": [{"name": "cache", "mountPath": "/var/cache/olmf"}, {"name": "tmp", "mountPath": "/tmp"}]}  # noqa: S108


def volumes() -> Manifest:
    """The volumes of those folders."""
    sizes = {"cache": "4Gi", "tmp": "1Gi"}
    return {"volumes": [{"name": name, "emptyDir": {"sizeLimit": size}} for name, size in sizes.items()]}


def pulling(pod: Manifest) -> Manifest:
    """The spec of a pod whose containers pull images, with what an administrator may say of registries and proxies.

    The pull secrets of its account open images, too.
    """
    account = {"name": "OLMF_PULL_SECRETS", "value": f"{names.PULL_ACCOUNT}{pod['serviceAccountName']}"}
    volume = {"name": REGISTRIES, "configMap": {"name": REGISTRIES, "optional": True}}
    mount = {"name": REGISTRIES, "mountPath": CONTAINERS, "readOnly": True}
    authority = {"name": "SSL_CERT_FILE", "value": f"{CONTAINERS}/ca.crt"}  # besides the folder of the image
    proxy = {"configMapRef": {"name": PROXY, "optional": True}}
    reference = {"configMapKeyRef": {"name": CLUSTER, "key": "addresses", "optional": True}}
    inside = {"name": "OLMF_CLUSTER_ADDRESSES", "valueFrom": reference}
    containers = [
        {
            **one,
            "env": [*one["env"], authority, inside, account],
            "envFrom": [proxy],
            "volumeMounts": [*one["volumeMounts"], mount],
        }
        for one in pod["containers"]
    ]
    return {**pod, "containers": containers, "volumes": [*pod["volumes"], volume]}


def policy_of(program: Program, to_api: Manifest) -> Manifest:
    """The NetworkPolicy of a program."""
    needs_api = program.talks_to_api and ANYWHERE not in program.egress
    ingress = [{**rule, **tcp(*program.ports)} for rule in program.ingress]
    return policy(program.name, ingress, [*([to_api] if needs_api else []), *program.egress])


def _long_worker(program: Program) -> Manifest:
    port = HEALTH_PORT + 1
    container = _container(program)
    env = [one for one in container["env"] if one["name"] != "OLMF_HEALTH_PORT"]
    return {
        **container,
        "name": f"{program.run}-long",
        "args": ["run", program.run, "--lane", "long"],
        "env": [*env, {"name": "OLMF_HEALTH_PORT", "value": str(port)}],
        "ports": [{"name": "long", "containerPort": port, "protocol": "TCP"}],
        **_probes("long"),
    }


def _container(program: Program) -> Manifest:
    return {
        "name": program.run,
        "image": IMAGE,
        "args": ["run", program.run],
        "env": [*environment(), *_health(program), *([endpoint_token()] if program.name == ENDPOINT else [])],
        "ports": [
            {"name": "http", "containerPort": port, "protocol": "TCP"} for port in program.ports or (HEALTH_PORT,)
        ],
        **_probes(),
        **confined(program.memory),
        **mounts(),
    }


def _health(program: Program) -> list[Manifest]:
    return [] if program.ports else [{"name": "OLMF_HEALTH_PORT", "value": str(HEALTH_PORT)}]


def _probes(port: str = "http") -> Manifest:
    """It lives while it goes on; it is ready while what it needs answers."""
    alive, ready = ({"path": path, "port": port} for path in ("/livez", "/readyz"))
    return {
        "startupProbe": start_probe({"httpGet": alive}),
        "livenessProbe": probe({"httpGet": alive}, every=10, failures=6),
        "readinessProbe": probe({"httpGet": ready}, every=5, failures=2),
    }


def deployment_of(program: Program) -> Manifest:
    """The Deployment of a program."""
    spec = {
        "serviceAccountName": program.account,
        "automountServiceAccountToken": program.talks_to_api,
        "securityContext": {"fsGroup": USER},
        **(spread(program.name) if program.replicas != 1 else {}),
        "containers": [_container(program), *([_long_worker(program)] if program.pulls else [])],
        **volumes(),
    }
    return deployment(program.name, pulling(spec) if program.pulls else spec, replicas=program.replicas)


def spread(name: str) -> Manifest:
    """For the spec of a Pod: replicas are on different nodes, where there are enough."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": named(name)},
    }
    return {"topologySpreadConstraints": [constraint]}


def _disruption_budget(name: str) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": named(name)}},
    }


def account_without_token(name: str) -> Manifest:
    """An account for pods that ask the API server nothing."""
    return {**service_account(name), "automountServiceAccountToken": False}
