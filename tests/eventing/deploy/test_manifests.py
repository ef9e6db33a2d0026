"""What `k8s/` holds is what the code says, and the rights in it are the least."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from starlette.routing import Route

from eventing.deploy import dashboard
from eventing.deploy.base import ENDPOINT, PORT
from eventing.deploy.crds import render_crds
from eventing.deploy.manifests import render_manifests
from eventing.deploy.rbac import WATCHER
from eventing.deploy.rules import RULES
from eventing.endpoint.app import asgi
from eventing.packages.objects import PORT as PACKAGES_PORT
from eventing.routes import STEPS
from shared.adapters.oci.trust import FOLDERS
from shared.domain.selectors import matches
from tests.kit.manifests import GENERATED, K8S, objects


@pytest.fixture(scope="module")
def files() -> Mapping[str, str]:
    """What `k8s/` should hold, by name."""
    return {**render_manifests(), **{f"crds/{name}": text for name, text in render_crds().items()}}


ON_DISK = sorted(str(path.relative_to(K8S)) for folder in GENERATED for path in (K8S / folder).iterdir())
BESIDE_OTHERS = [f"monitoring/{name}" for name in dashboard.files()]
"""Files in a folder of which some are written by hand."""


@pytest.mark.parametrize("name", [*ON_DISK, *BESIDE_OTHERS])
def test_a_file_is_current(name: str, files: Mapping[str, str]) -> None:
    assert (K8S / name).read_text() == files.get(name), "run `olmf manifests --out k8s` and `olmf crds --out k8s/crds`"


def test_no_file_is_missing_or_left_over(files: Mapping[str, str]) -> None:
    assert sorted(files) == sorted([*ON_DISK, *BESIDE_OTHERS])


def test_every_group_of_steps_has_permissions() -> None:
    assert set(RULES) == {step.partition("/")[0] for step in STEPS}


ROLES = [role for role in objects("rbac") if role["kind"] == "ClusterRole" and "rules" in role]
"""Those whose rules the API server does not put together itself."""


def test_only_groups_that_install_or_lift_rbac_may_escalate() -> None:
    escalating = {
        role["metadata"]["name"] for role in ROLES if any("escalate" in rule["verbs"] for rule in role["rules"])
    }
    installing = {"olmf-install-plan", "olmf-cluster-service-version", "olmf-cluster-object-set"}
    assert escalating == {*installing, "olmf-operator-group"}


def test_only_who_installs_lists_what_nobody_can_name_and_no_other_role_uses_wildcards() -> None:
    """What is stored in the definitions that a plan changes; who may give any rights away gains nothing by it."""
    wide = [
        (role["metadata"]["name"], rule["verbs"])
        for role in ROLES
        for rule in role["rules"]
        if "*" in (*rule["verbs"], *rule["resources"], *rule["apiGroups"])
    ]
    assert wide == [("olmf-install-plan", ["list"])]


def test_only_catalogs_bundles_plans_extensions_and_certificates_see_secrets() -> None:
    """Who watches must not, unless somebody applies what is optional: RBAC knows no right to see metadata alone."""
    seeing = {
        role["metadata"]["name"] for role in ROLES if any("secrets" in rule["resources"] for rule in role["rules"])
    }
    assert seeing == {
        "olmf-catalog-source",
        "olmf-cluster-catalog",
        "olmf-subscription",
        "olmf-bundle",
        "olmf-install-plan",
        "olmf-cluster-extension",
        "olmf-cluster-object-set",
        CERTIFIES,
        PACKAGES,
        CATALOGS,
    }


def test_reading_certificates_is_for_the_watcher_alone_and_optional() -> None:
    role, binding = yaml.safe_load_all((K8S / "optional" / "watch-certificates.yaml").read_text())
    assert role["rules"] == [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["list", "watch"]}]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert [one["name"] for one in binding["subjects"]] == [WATCHER]


CERTIFIES, PACKAGES, CATALOGS = "olmf-cluster-service-version", "olmf-packages", "olmf-catalogs"
WORKLOADS = [each for each in objects("base", "knative") if "template" in each.get("spec", {})]
CONTAINERS = [one for each in WORKLOADS for one in each["spec"]["template"]["spec"]["containers"]]


@pytest.mark.parametrize("container", CONTAINERS, ids=lambda one: " ".join(one.get("args", [one["image"]])))
def test_every_container_is_confined(container: Any) -> None:
    """The namespace enforces the pod security standard `restricted`."""
    security = container["securityContext"]
    assert security["runAsNonRoot"] is True
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert security["allowPrivilegeEscalation"] is False
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert security["readOnlyRootFilesystem"] is True
    assert container["resources"]["limits"]["memory"]
    assert container["resources"]["requests"].keys() == {"cpu", "memory"}


def test_every_image_has_a_version() -> None:
    images = {container["image"] for container in CONTAINERS}
    assert {name.partition(":")[0] for name in images} == {"olm-functions", "redis"}
    assert all(re.fullmatch(r"[a-z-]+:\d+\.\d+\.\d+(-alpine)?", image) for image in images)


def test_the_programs_serve_the_paths_of_their_probes() -> None:
    probes = [one[name] for one in CONTAINERS for name in ("livenessProbe", "readinessProbe") if name in one]
    paths = {probe["httpGet"]["path"] for probe in probes if "httpGet" in probe}
    served = {route.path for route in asgi(lambda _: None).routes if isinstance(route, Route)}
    assert paths == {"/livez", "/readyz"}
    assert paths <= served


ASKED = [
    pytest.param(one, id=f"{each['metadata']['name']} {one['name']}")
    for each in WORKLOADS
    if each["kind"] == "Deployment"
    for one in each["spec"]["template"]["spec"]["containers"]
]


@pytest.mark.parametrize("container", ASKED)
def test_every_container_is_asked_whether_it_started_lives_and_is_ready(container: Any) -> None:
    start, alive, ready = (container[f"{name}Probe"] for name in ("startup", "liveness", "readiness"))
    assert start["failureThreshold"] * start["periodSeconds"] >= 180, "all start at once where a node starts"
    assert alive["failureThreshold"] * alive["periodSeconds"] >= 60, "a busy node is no reason to restart"
    assert ready["failureThreshold"] * ready["periodSeconds"] <= 10
    if "httpGet" in alive:
        assert alive["httpGet"]["path"] != ready["httpGet"]["path"], "Redis that is away is no reason to restart"
        ports = {one["name"]: one["containerPort"] for one in container["ports"]}
        env = {one["name"]: one.get("value") for one in container["env"]}
        health = env.get("OLMF_PORT") or env.get("OLMF_HEALTH_PORT")  # who serves others is asked there
        assert alive["httpGet"]["port"] == ready["httpGet"]["port"]
        assert ports[alive["httpGet"]["port"]] == int(health or PORT)


def test_the_containers_of_a_pod_do_not_share_ports() -> None:
    for workload in WORKLOADS:
        containers = workload["spec"]["template"]["spec"]["containers"]
        ports = [port for one in containers for port in one.get("ports", ())]
        for field in ("containerPort", "name"):
            taken = [port.get(field) for port in ports if field in port]
            assert len(taken) == len(set(taken))


def test_every_pod_has_a_policy_for_both_directions() -> None:
    policies = [each["spec"] for each in objects("base", "knative") if each["kind"] == "NetworkPolicy"]
    for workload in WORKLOADS:
        labels = {"serving.knative.dev/service": "", **workload["spec"]["template"]["metadata"]["labels"]}
        if workload["kind"] == "Deployment":
            del labels["serving.knative.dev/service"]
        chosen = [one for one in policies if matches(one["podSelector"], labels)]
        assert chosen
        assert all(one["policyTypes"] == ["Ingress", "Egress"] for one in chosen)


def test_redis_is_reached_by_every_program_with_a_queue_and_by_nobody_else() -> None:
    policies = {each["metadata"]["name"]: each["spec"] for each in objects("base") if each["kind"] == "NetworkPolicy"}
    ((peer,),) = (rule["from"] for rule in policies["olmf-redis"]["ingress"])
    for workload in WORKLOADS:
        labels = workload["spec"]["template"]["metadata"]["labels"]
        has_queue = "REDIS_PASSWORD" in str(workload) or workload["metadata"]["name"] == "olmf-redis"
        assert matches(peer["podSelector"], labels) is has_queue
        if policy := policies.get(workload["metadata"]["name"]):
            is_open = "6379" in str(policy.get("egress"))
            assert is_open is (has_queue and workload["metadata"]["name"] != "olmf-redis"), workload["metadata"]["name"]
    assert peer["podSelector"]["matchLabels"]
    assert "Egress" in policies["olmf-redis"]["policyTypes"]
    assert "egress" not in policies["olmf-redis"]


@pytest.mark.parametrize(
    ("folders", "program", "port", "space", "is_open"),
    [
        pytest.param(("base",), "olmf-watch", 8080, "olm", True, id="metrics: our own pods"),
        pytest.param(("base",), "olmf-watch", 8080, "monitoring", True, id="metrics: where Prometheus usually is"),
        pytest.param(("base",), "olmf-watch", 8080, "measuring", True, id="metrics: a namespace with the label"),
        pytest.param(("base",), "olmf-watch", 8080, "tenant", False, id="metrics: no tenant"),
        pytest.param(("base",), "olmf-watch", 8080, "keda", False, id="metrics: KEDA is not a part of the base"),
        pytest.param(("base", "keda"), "olmf-watch", 8080, "keda", True, id="metrics: KEDA, where it counts workers"),
        pytest.param(("base",), "olmf-endpoint", 8080, "knative-eventing", False, id="events: no Broker"),
        pytest.param(("base",), "olmf-endpoint", 8080, "tenant", False, id="events: no tenant"),
        pytest.param(("base",), "olmf-endpoint", 8080, "olm", False, id="events: no program of ours"),
        pytest.param(("base",), "olmf-scheduler", 8081, "tenant", False, id="health: the kubelet alone"),
        pytest.param(
            ("base",), "olmf-packages", PACKAGES_PORT, "tenant", True, id="packages: the API server, wherever it is"
        ),
        pytest.param(("base",), "olmf-catalogs", 50051, "tenant", True, id="catalogs: everybody, as with OLM"),
        pytest.param(("base",), "olmf-catalogs", 8443, "tenant", True, id="catalogs: everybody, as with OLM v1"),
        pytest.param(("base",), "olmf-catalogs", 8080, "tenant", False, id="catalogs: nobody without TLS"),
    ],
)
def test_who_reaches_a_program(folders: tuple[str, ...], program: str, port: int, space: str, is_open: bool) -> None:
    labels = {"kubernetes.io/metadata.name": space, **({"metrics": "enabled"} if space == "measuring" else {})}
    rules = [
        rule
        for each in objects(*folders)
        if each["kind"] == "NetworkPolicy" and matches(each["spec"]["podSelector"], {"app.kubernetes.io/name": program})
        for rule in each["spec"].get("ingress", ())
        if any(one.get("port", port) == port for one in rule["ports"])
    ]
    found = [
        rule
        for rule in rules
        if "from" not in rule or any(matches(one["namespaceSelector"], labels) for one in rule["from"])
    ]
    assert bool(found) is is_open


def test_nothing_in_the_base_takes_events() -> None:
    (endpoint,) = (each for each in WORKLOADS if each["metadata"]["name"] == ENDPOINT)
    assert endpoint["spec"]["replicas"] == 0


def test_programs_with_several_replicas_have_a_disruption_budget() -> None:
    several = {each["metadata"]["name"] for each in WORKLOADS if each["spec"].get("replicas", 1) > 1}
    budgets = [each for each in objects("optional") if each["kind"] == "PodDisruptionBudget"]
    assert several == {each["metadata"]["name"] for each in budgets} != set()
    for budget in budgets:
        assert [*budget["spec"]["selector"]["matchLabels"].values()] == [budget["metadata"]["name"]]


def test_no_secret_is_part_of_the_manifests() -> None:
    assert not [each for each in objects("base", "rbac", "knative") if each["kind"] == "Secret"]


INTAKE = "olmf-intake"
PULLING = [
    each
    for each in WORKLOADS
    if each["metadata"]["name"] == "olmf-worker" or (each["kind"] == "Service" and each["metadata"]["name"] != INTAKE)
]


@pytest.mark.parametrize("workload", PULLING, ids=lambda one: f"{one['kind']} {one['metadata']['name']}")
def test_what_pulls_gets_authorities_mirrors_and_proxies_if_there_are(workload: Any) -> None:
    pod = workload["spec"]["template"]["spec"]
    (volume,) = (one for one in pod["volumes"] if one["name"] == "olmf-registries")
    assert volume["configMap"] == {"name": "olmf-registries", "optional": True}
    for container in pod["containers"]:
        (mount,) = (one for one in container["volumeMounts"] if one["name"] == "olmf-registries")
        assert mount["mountPath"] == str(FOLDERS[0].parent), "where registries.conf and certificates are looked for"
        assert {"name": "SSL_CERT_FILE", "value": f"{mount['mountPath']}/ca.crt"} in container["env"]
        where = {"configMapKeyRef": {"name": "olmf-cluster", "key": "addresses", "optional": True}}
        assert {"name": "OLMF_CLUSTER_ADDRESSES", "valueFrom": where} in container["env"]
        assert container["envFrom"] == [{"configMapRef": {"name": "olmf-proxy", "optional": True}}]


@pytest.mark.parametrize("name", [PACKAGES, CATALOGS])
def test_the_servers_of_catalogs_read_every_kind_of_them_write_nothing_and_know_no_password(name: str) -> None:
    """Users reach them; of catalogs they read images with the logins of their namespaces, and ConfigMaps."""
    roles = (one for one in objects("rbac") if one["kind"] == "ClusterRole")
    (role,) = (one for one in roles if one["metadata"]["name"] == name)
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} <= {"get", "list", "watch"}
    named = {one: rule["verbs"] for rule in role["rules"] for one in rule["resources"]}
    assert named["secrets"] == named["configmaps"] == ["get"]
    (pod,) = (one for one in WORKLOADS if one["metadata"]["name"] == name)
    assert "REDIS_PASSWORD" not in str(pod)


def test_no_secret_but_the_password_of_redis_must_be_there() -> None:
    env = [one for container in CONTAINERS for one in container["env"] if "secretKeyRef" in one.get("valueFrom", {})]
    needed = {
        one["valueFrom"]["secretKeyRef"]["name"] for one in env if not one["valueFrom"]["secretKeyRef"].get("optional")
    }
    assert needed == {"olmf-redis"}


POLICIES = [each for each in objects("base", "knative") if each["kind"] == "NetworkPolicy"]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda one: one["metadata"]["name"])
def test_a_policy_is_written_as_the_server_stores_it(policy: Any) -> None:
    """Else `kubectl apply` would find a change each time."""
    rules = [rule for way in ("ingress", "egress") for rule in policy["spec"].get(way, [{}])]
    assert all(rule is not None for rule in rules)
    assert all(policy["spec"].get(way) != [] for way in ("ingress", "egress"))
    assert all("protocol" in port for rule in rules for port in rule.get("ports", ()))


def test_the_base_has_nothing_that_kubectl_always_replaces() -> None:
    assert "PodDisruptionBudget" not in {each["kind"] for each in objects("base", "knative")}


@pytest.mark.parametrize(
    ("ports", "rule"),
    [
        pytest.param((), {"ports": [{"protocol": "TCP"}]}, id="the API server may be on any port"),
        pytest.param((8443,), {"ports": [{"port": 8443, "protocol": "TCP"}]}, id="one that is named is the only one"),
    ],
)
def test_the_watcher_reaches_the_api_server(ports: tuple[int, ...], rule: Any) -> None:
    text = render_manifests(ports)["base/400-network-policies.yaml"]
    (watcher,) = (one for one in yaml.safe_load_all(text) if one["metadata"]["name"] == "olmf-watch")
    assert rule in watcher["spec"]["egress"]


def test_names_are_unique() -> None:
    names = [
        (each["apiVersion"], each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"])
        for each in objects("rbac", "base", "knative")
        if "metadata" in each
    ]
    assert len(names) == len(set(names))


def test_catalog_md_2_4_1_the_registry_api_is_where_the_services_of_catalogs_lead() -> None:
    """From anywhere, as OLM lets it be asked; its port is that of the status of a CatalogSource."""
    (served,) = (one for one in objects("base") if one["kind"] == "Service" and one["metadata"]["name"] == CATALOGS)
    ports = {one["name"]: one["port"] for one in served["spec"]["ports"]}
    (guard,) = (
        one for one in objects("base") if one["kind"] == "NetworkPolicy" and one["metadata"]["name"] == CATALOGS
    )
    open_to_all = (rule for rule in guard["spec"]["ingress"] if "from" not in rule)
    assert ports["grpc"] in [one["port"] for rule in open_to_all for one in rule["ports"]]
    for container in CONTAINERS:
        named = {one["name"]: one.get("value") for one in container.get("env", ())}
        if "run" in container.get("args", ()):
            assert named["OLMF_CATALOGS_ADDRESS"] == f"{CATALOGS}.olm.svc:{ports['grpc']}"
