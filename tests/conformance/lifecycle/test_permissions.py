"""The rights in `k8s/rbac` are enough: each group of steps runs as its own ServiceAccount, the watcher as its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from eventing.deploy import extensions
from eventing.deploy.rbac import WATCHER, account_of, binding, rules, service_account
from eventing.deploy.rules import RULES
from eventing.local.ports import free_port
from eventing.local.redis_server import start
from eventing.routes import ROUTES
from shared.adapters.kube import ApiError, KubeClient
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_EXTENSION,
    CLUSTER_OBJECT_SET,
    CLUSTER_SERVICE_VERSION,
    DEPLOYMENT,
    INSTALL_PLAN,
    JOB,
    NAMESPACE,
    SUBSCRIPTION,
    Kind,
    Ref,
)
from tests.conformance.control_plane import running_control_plane
from tests.conformance.http import Api
from tests.conformance.lifecycle.test_cluster_catalogs import a_catalog
from tests.conformance.lifecycle.test_extensions import CATALOG, an_extension, remove_definitions, until_installed
from tests.conformance.lifecycle.test_install import _state
from tests.conformance.targets import REAL, SANDBOX
from tests.kit.installation import SAMPLES, Installation, a_namespace, a_subscription, an_operator_group, condition
from tests.kit.sandbox import running_sandbox
from tests.kit.waiting import PATIENCE_SECONDS, wait_for

pytestmark = pytest.mark.conformance

K8S = Path(__file__).parents[3] / "k8s"
LONG = "olmf-long"
"""Who runs the long lane: with the rights of each group that has a step in it, and no other."""
REFUSED = "forbidden"
"""The word of every answer 403."""
LEASE = Kind("coordination.k8s.io/v1", "Lease", "leases")
"""A kind that bundles may hold here, and no role of ours names."""
ENDING = "because it is being terminated"
"""A namespace that goes refuses new objects with 403, too: that is no missing right."""


@pytest.fixture(scope="module", params=[SANDBOX, REAL])
def bounded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """The programs of the Procfile, by hand; only the stand-in for the kubelet is an administrator."""
    folder = tmp_path_factory.mktemp(f"bounded-{request.param}")
    with ExitStack() as stack:
        target = running_sandbox(folder) if request.param == SANDBOX else running_control_plane(folder)
        admin = stack.enter_context(target)
        cluster = KubeClient.from_kubeconfig(str(admin))
        apply_manifests(cluster)
        redis = start(folder / "redis")
        stack.callback(redis.stop)
        port = free_port()
        shared = {
            "OLMF_REDIS_URL": redis.url, "OLMF_CONTENT": str(folder / "content"), "OLMF_GLOBAL_NAMESPACE": "olm",
            "OLMF_ALLOWED_REGISTRY_ADDRESSES": "127.0.0.0/8",
        }  # fmt: skip
        for name, (words, account, own) in programs().items():
            reported = {
                **shared,
                **own,
                "OLMF_KUBECONFIG": str(kubeconfig_of(account, admin, folder)),
                "OLMF_PORT": "0",
            }
            stack.enter_context(program(folder / f"{name}.log", reported, words))
        stack.enter_context(program(folder / "scheduler.log", {**shared, "OLMF_AUDIT_SECONDS": "5"}, "scheduler"))
        stack.enter_context(program(folder / "kubelet.log", {**shared, "OLMF_KUBECONFIG": str(admin)}, "kubelet"))
        bundles = ("--bundles", str(SAMPLES), "--bundles", str(bundles_of_buoys(folder)))
        stack.enter_context(program(folder / "content.log", {"OLMF_PORT": str(port)}, "content", *bundles))
        cluster.apply({
            "apiVersion": CATALOG_SOURCE.api_version, "kind": CATALOG_SOURCE.kind,
            "metadata": {"name": "local", "namespace": "olm"},
            "spec": {"sourceType": "grpc", "image": f"127.0.0.1:{port}/catalogs/local:latest"},
        })  # fmt: skip
        yield Installation(folder, cluster)


def programs() -> dict[str, tuple[str, str, dict[str, str]]]:
    """Name to program, ServiceAccount and environment: a worker per group, as on Knative, and the watcher."""
    shared = {"OLMF_BUNDLE_KINDS": f"{LEASE.kind}.{LEASE.group}"}
    workers = {f"worker-{group}": ("worker", account_of(group), {**shared, "OLMF_STEPS": group}) for group in RULES}
    long = ("worker", LONG, {"OLMF_LANE": "long"})
    return {**workers, "worker-long": long, "watch": ("watch", WATCHER, {})}


def bundles_of_buoys(folder: Path) -> Path:
    """A folder of bundles with one more package: its second version has another definition, and a Lease."""
    made = folder / "bundles" / "buoy"
    shutil.copytree(SAMPLES / "beacon", made)
    for file in made.rglob("*.yaml"):
        text = file.read_text().replace("beacon", "buoy").replace("Beacon", "Buoy")
        file.write_text(text.replace("minimum: 1", "minimum: 0") if "1.1.0" in file.parts else text)
    lease = {"apiVersion": LEASE.api_version, "kind": LEASE.kind, "metadata": {"name": "buoy"}, "spec": {}}
    (made / "1.1.0" / "manifests" / "lease.yaml").write_text(yaml.safe_dump(lease))
    return folder / "bundles"


def apply_manifests(cluster: KubeClient) -> None:
    """What `kubectl apply -k k8s/base` applies, the programs aside, and the right to hear of certificates."""
    files = [*sorted(K8S.glob("crds/*.yaml")), K8S / "base" / "100-namespace.yaml", *sorted(K8S.glob("rbac/*.yaml"))]
    files.append(K8S / "optional" / "watch-certificates.yaml")
    for file in files:
        for manifest in yaml.safe_load_all(file.read_text()):
            if manifest["kind"] != "Kustomization":
                cluster.apply(manifest)
    cluster.apply(service_account(LONG))
    for group in sorted({route.step.partition("/")[0] for route in ROUTES if route.lane == "long"}):
        cluster.apply(binding(LONG, account_of(group)))


def kubeconfig_of(account: str, admin: Path, folder: Path) -> Path:
    """A kubeconfig with a token that the API server gave for a ServiceAccount."""
    path = f"/api/v1/namespaces/olm/serviceaccounts/{account}/token"
    answer = Api.of(admin).post(path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    assert answer.status == 201, answer.body
    config = yaml.safe_load(admin.read_text())
    config["users"] = [{"name": config["users"][0]["name"], "user": {"token": answer.body["status"]["token"]}}]
    made = folder / f"{account}.kubeconfig"
    made.write_text(yaml.safe_dump(config))
    return made


@contextmanager
def program(log: Path, environment: Mapping[str, str], *words: str) -> Iterator[None]:
    """`olmf run <words>` until the block ends."""
    with log.open("wb") as output:
        running = subprocess.Popen(
            [sys.executable, "-m", "eventing.cli.main", "run", *words],
            env={**os.environ, **environment, "OLMF_WATCH_PARENT": "1"},
            stdin=subprocess.PIPE, stdout=output, stderr=output,
        )  # fmt: skip
        try:
            yield
        finally:
            running.terminate()
            running.communicate(timeout=PATIENCE_SECONDS)


def test_samples_live_and_die_within_the_permissions(bounded: Installation) -> None:
    cluster = bounded.cluster
    for package, targets in (("tide", ("tide",)), ("beacon", ("beacon",)), ("ledger", ())):
        bounded.apply(a_namespace(package), an_operator_group(package, targets=targets))
    bounded.apply(a_subscription("tide", "tide", startingCSV="tide.v0.1.0"))
    bounded.apply(a_subscription("beacon", "beacon", channel="stable"), a_subscription("ledger", "ledger"))
    bounded.until_phase("tide.v1.0.0", "tide")
    bounded.until_gone(CLUSTER_SERVICE_VERSION.ref("tide.v0.1.0", "tide"))
    bounded.until_phase("ledger.v2.1.0", "ledger")
    bounded.until_phase("ledger.v2.1.0", "tide")
    bounded.until_phase("beacon.v1.0.0", "beacon")
    cluster.delete(SUBSCRIPTION.ref("ledger", "ledger"))
    cluster.delete(CLUSTER_SERVICE_VERSION.ref("ledger.v2.1.0", "ledger"))
    bounded.until_gone(DEPLOYMENT.ref("ledger-controller", "ledger"))
    bounded.until_gone(CLUSTER_SERVICE_VERSION.ref("ledger.v2.1.0", "tide"))
    cluster.delete(NAMESPACE.ref("tide"))
    bounded.until_gone(NAMESPACE.ref("tide"))
    assert refused(bounded) == []


def test_extensions_live_and_die_within_the_permissions(bounded: Installation) -> None:
    remove_definitions(bounded, "tides")
    source = bounded.until(CATALOG_SOURCE.ref("local", "olm"), lambda each: _state(each) == "READY", "READY")
    bounded.apply(a_namespace("extended"), a_catalog(CATALOG.name, str(source["spec"]["image"])))
    extension = CLUSTER_EXTENSION.ref("extended")
    for version in ("0.1.0", "1.0.0"):
        bounded.apply(an_extension(extension.name, "extended", "tide", version=version))
        until_installed(bounded, extension, version)
    first = CLUSTER_OBJECT_SET.ref("extended-1")
    bounded.until(first, lambda each: not each["metadata"].get("finalizers"), "archived")
    bounded.cluster.delete(extension)
    for ref in (extension, first, CLUSTER_OBJECT_SET.ref("extended-2")):
        bounded.until_gone(ref)
    assert bounded.cluster.list(DEPLOYMENT, "extended") == ()
    assert refused(bounded) == []


def refused(bounded: Installation) -> list[str]:
    """What any program was refused."""
    return [
        line
        for name in programs()
        for line in (bounded.state / f"{name}.log").read_text().splitlines()
        if REFUSED in line.lower() and ENDING not in line
    ]


def test_an_upgrade_reads_what_is_stored_and_writes_a_kind_that_is_granted(bounded: Installation) -> None:
    """The next definition has another schema; the next bundle holds a kind that no role of ours names."""
    cluster, subscription = bounded.cluster, SUBSCRIPTION.ref("buoy", "kept")
    spec = {"channel": "fast", "startingCSV": "buoy.v1.0.0", "installPlanApproval": "Manual"}
    bounded.apply(a_namespace("kept"), an_operator_group("kept", targets=("kept",)))
    bounded.apply(a_subscription("buoy", "kept", **spec))
    approve(bounded, subscription, "buoy.v1.0.0")
    bounded.until_phase("buoy.v1.0.0", "kept")
    meta = {"name": "a", "namespace": "kept"}
    cluster.create({"apiVersion": "samples.olmf.io/v1", "kind": "Buoy", "metadata": meta, "spec": {"lumens": 3}})
    plan = plan_of(bounded, subscription, "buoy.v1.1.0")
    bounded.until(plan, lambda each: condition(each, "CRDUpgradeSafe")["status"] == "True", "a look at what is stored")
    assert refused(bounded) == []
    approve(bounded, subscription, "buoy.v1.1.0")
    told = bounded.until(plan, lambda each: "may grant it" in each["status"]["message"])["status"]["message"]
    [command] = re.findall(r"echo '(.*)' \| kubectl apply -f -", told)
    bounded.apply(yaml.safe_load(command))
    bounded.until_phase("buoy.v1.1.0", "kept")
    assert cluster.get(LEASE.ref("buoy", "kept")) is not None


def plan_of(bounded: Installation, subscription: Ref, version: str) -> Ref:
    """The plan of a version that its Subscription waits for."""
    found = bounded.until(subscription, lambda each: each["status"]["currentCSV"] == version, version)
    return INSTALL_PLAN.ref(found["status"]["installPlanRef"]["name"], subscription.namespace)


def approve(bounded: Installation, subscription: Ref, version: str) -> None:
    bounded.cluster.merge(plan_of(bounded, subscription, version), {"spec": {"approved": True}})


def test_a_right_that_is_taken_away_is_named_on_the_subscription_until_it_is_back(bounded: Installation) -> None:
    """Last in this file, because the other case wants no refusal in any log; about a version that it did not unpack."""
    cluster, account = bounded.cluster, account_of("bundle")
    made = yaml.safe_load_all((K8S / "rbac" / "bundle.yaml").read_text())
    [role] = [each for each in made if each["kind"] == "ClusterRole" and each["metadata"]["name"] == account]
    cluster.merge(Ref.of(role), {"rules": [_without_creation_of_jobs(rule) for rule in role["rules"]]})
    worker = KubeClient.from_kubeconfig(str(bounded.state / f"{account}.kubeconfig"))
    wait_for(lambda: not _may_create_jobs(worker), "the end of the right")
    bounded.apply(a_namespace("refused"), an_operator_group("refused", targets=("refused",)))
    bounded.apply(a_subscription("beacon", "refused"))
    reported = bounded.until_condition("beacon", "refused", "BundleUnpacking")
    assert reported["reason"] == "UnpackingRefused"
    assert f'User "system:serviceaccount:olm:{account}" cannot create resource "jobs"' in reported["message"]
    cluster.merge(Ref.of(role), {"rules": role["rules"]})
    bounded.until_phase("beacon.v1.1.0", "refused")


def _may_create_jobs(client: KubeClient) -> bool:
    """Asked with a Job that is refused in any case, as it lacks its spec."""
    with pytest.raises(ApiError) as refused:
        client.create({"apiVersion": JOB.api_version, "kind": JOB.kind, "metadata": {"name": "a", "namespace": "olm"}})
    return refused.value.status != 403


def _may_create_config_maps(client: KubeClient) -> bool:
    """Asked with one that is refused in any case, because of its name."""
    meta = {"name": "no name", "namespace": "granted"}
    with pytest.raises(ApiError) as refused:
        client.request("POST", "/api/v1/namespaces/granted/configmaps", {"metadata": meta})
    return refused.value.status != 403


def _without_creation_of_jobs(rule: Mapping[str, Any]) -> dict[str, Any]:
    left = [verb for verb in rule["verbs"] if verb not in ("create", "patch")]
    return {**rule, "verbs": left if "jobs" in rule["resources"] else rule["verbs"]}


def test_v1_an_extension_is_installed_with_what_an_administrator_granted(bounded: Installation) -> None:
    """Who writes its objects has the rights of `k8s/extensions`, and what `olmf bundle rbac` prints."""
    cluster, account = bounded.cluster, account_of(extensions.GROUP)
    made = yaml.safe_load_all((K8S / "rbac" / "cluster-object-set.yaml").read_text())
    [role] = [each for each in made if each["kind"] == "ClusterRole"]
    bounded.apply(a_namespace("granted"), *extensions.files()["200-rights.yaml"])
    source = bounded.until(CATALOG_SOURCE.ref("local", "olm"), lambda each: _state(each) == "READY", "READY")
    bounded.apply(a_catalog(CATALOG.name, str(source["spec"]["image"])))
    cluster.merge(Ref.of(role), {"rules": rules(extensions.OWN)})
    writer = KubeClient.from_kubeconfig(str(bounded.state / f"{account}.kubeconfig"))
    wait_for(lambda: not _may_create_config_maps(writer), "the end of its rights")
    extension, revision = CLUSTER_EXTENSION.ref("granted"), CLUSTER_OBJECT_SET.ref("granted-1")
    try:
        bounded.apply(an_extension(extension.name, "granted", "tide", version="1.0.0"))
        told = bounded.until(revision, lambda each: REFUSED in condition(each, "Progressing").get("message", ""))
        assert f'User "system:serviceaccount:olm:{account}" cannot' in condition(told, "Progressing")["message"]
        words = ("bundle", "rbac", str(SAMPLES / "tide" / "1.0.0"), "--install-namespace", "granted")
        more = ("--extension", extension.name, "--service-account", f"olm/{account}", "--name", "granted")
        printed = subprocess.run(
            [sys.executable, "-m", "eventing.cli.main", *words, *more], capture_output=True, text=True, check=True
        ).stdout
        bounded.apply(*yaml.safe_load_all(printed))
        until_installed(bounded, extension, "1.0.0")
        cluster.delete(extension)
        for ref in (extension, revision):
            bounded.until_gone(ref)
        assert cluster.list(DEPLOYMENT, "granted") == ()
    finally:
        cluster.merge(Ref.of(role), {"rules": role["rules"]})
