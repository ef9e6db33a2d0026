"""Catalogs with an address: what `operator-sdk run bundle` and `run bundle-upgrade` make, and servers that come and go.

They create a CatalogSource without a type, a registry pod that serves one package of bundle images, and then write the
address of the pod into it (operator-sdk 60559f3e, internal/olm/operator/registry).
The server is one of ours, in the process of the tests, in place of the pod.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from shared.adapters.catalog_api.answers import Answers
from shared.adapters.catalog_api.server import running
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.store import Store
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest
from shared.api.views import CatalogSource
from shared.kinds import CATALOG_SOURCE, INSTALL_PLAN, SUBSCRIPTION
from tests.kit.installation import Installation, a_subscription, an_operator_group, olmf

CHANNEL = "operator-sdk-run-bundle"
Json = Any


def json_values(text: str) -> list[Json]:
    """The values of a text with one JSON value after the other."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text.rstrip()):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        at += len(text[at:]) - len(text[at:].lstrip())
    return found


@contextmanager
def a_registry_pod(folder: Path, documents: Sequence[Json], port: int = 0) -> Iterator[str]:
    """The address of a server of a catalog."""
    folder.mkdir()
    (folder / "catalog.json").write_text("\n".join(map(json.dumps, documents)))
    answers = Answers(snapshot_of(folder, Store(folder.parent / "served")))
    with running(answers, f"127.0.0.1:{port}") as bound:
        yield f"127.0.0.1:{bound}"


def of_bundles(installation: Installation, package: str, *versions: str) -> list[Json]:
    """The catalog that operator-sdk makes of bundle images: one channel, each version replaces the one before."""
    image = f"{installation.status()['registry']}/catalogs/local:latest"
    lines = olmf("catalog", "render", image).stdout
    rendered = json_values(lines)
    bundles = {one["name"]: one for one in rendered if one["schema"] == "olm.bundle" and one["package"] == package}
    entries = [{"name": f"{package}.v{version}"} for version in versions]
    for before, entry in pairwise(entries):
        entry["replaces"] = before["name"]
    return [
        {"schema": "olm.package", "name": package, "defaultChannel": CHANNEL},
        {"schema": "olm.channel", "package": package, "name": CHANNEL, "entries": entries},
        *(bundles[entry["name"]] for entry in entries),
    ]


def a_source(namespace: str, **spec: Json) -> Manifest:
    """As Go writes it: what is required and unset is there, and empty."""
    common = {"displayName": "tide", "publisher": "operator-sdk", "grpcPodConfig": {"securityContextConfig": "legacy"}}
    return {
        "apiVersion": CATALOG_SOURCE.api_version, "kind": "CatalogSource",
        "metadata": {"name": "tide-catalog", "namespace": namespace}, "spec": {"sourceType": "", **common, **spec},
    }  # fmt: skip


def updated(installation: Installation, source: Manifest, address: str, pod: str, attempts: int = 5) -> Manifest:
    """The CatalogSource as the program updates it: what it read, with type, address and annotations, and no image.

    It reads again when somebody wrote meanwhile.
    """
    found = installation.cluster.get(CATALOG_SOURCE.ref("tide-catalog", source["metadata"]["namespace"]))
    assert found is not None
    meta = {**found["metadata"], "annotations": {"operators.operatorframework.io/registry-pod-name": pod}}
    spec = {key: value for key, value in found["spec"].items() if key != "image"}
    changed = {**found, "metadata": meta, "spec": {**spec, "sourceType": "grpc", "address": address}}
    try:
        return installation.cluster.replace(changed)
    except ApiError as error:
        if not error.is_conflict or attempts == 1:
            raise
    return updated(installation, source, address, pod, attempts - 1)


def approved(installation: Installation, subscription: str, namespace: str, before: str = "") -> str:
    """The name of the next plan of a Subscription, which gets approved as the program does it."""
    ref = SUBSCRIPTION.ref(subscription, namespace)
    found = installation.until(ref, lambda each: each["status"]["installPlanRef"]["name"] != before, "another plan")
    name = str(found["status"]["installPlanRef"]["name"])
    plan = INSTALL_PLAN.ref(name, namespace)
    installation.until(plan, lambda each: each["status"]["phase"] == "RequiresApproval", "RequiresApproval")
    installation.cluster.merge(plan, {"spec": {"approved": True}})
    return name


def test_operator_sdk_runs_a_bundle_and_upgrades_it(installation: Installation, namespace: str, tmp_path: Path) -> None:
    """catalog.md 2.5, 8.1 rows 24, 25: an address that is written later, and another one."""
    source, ref = a_source(namespace), CATALOG_SOURCE.ref("tide-catalog", namespace)
    first, both = (of_bundles(installation, "tide", *versions) for versions in (["0.1.0"], ["0.1.0", "0.2.0"]))
    installation.cluster.create(source)
    with ExitStack() as pods:
        old = pods.enter_context(a_registry_pod(tmp_path / "first", first))
        updated(installation, source, old, "quay-io-acme-tide-v0-1-0")
        installation.apply(an_operator_group(namespace, name="operator-sdk-og", targets=(namespace,)))
        desired = {"channel": CHANNEL, "startingCSV": "tide.v0.1.0", "installPlanApproval": "Manual"}
        subscription = a_subscription(
            "tide", namespace, name="tide-v0-1-0-sub", source="tide-catalog", sourceNamespace=namespace, **desired
        )
        installation.cluster.create(subscription)
        plan = approved(installation, "tide-v0-1-0-sub", namespace)
        installation.until_phase("tide.v0.1.0", namespace)
        status = installation.until(ref, lambda each: state(each) == "READY", "READY")["status"]
        assert status["registryService"]["protocol"] == "grpc"
        assert "reason" not in status
        with a_registry_pod(tmp_path / "both", both) as new:
            updated(installation, source, new, "quay-io-acme-tide-v0-2-0")
            pods.close()
            approved(installation, "tide-v0-1-0-sub", namespace, before=plan)
            installation.until_phase("tide.v0.2.0", namespace)


def test_a_server_that_ends_and_comes_back_with_other_content(
    installation: Installation, namespace: str, tmp_path: Path
) -> None:
    """catalog.md 2.9.3, 8.1 row 26: the last good content stays in use meanwhile."""
    ref = CATALOG_SOURCE.ref("tide-catalog", namespace)
    first, other = (of_bundles(installation, "tide", *versions) for versions in (["0.1.0"], ["0.1.0", "0.2.0"]))
    with a_registry_pod(tmp_path / "first", first) as address:
        installation.cluster.create(a_source(namespace) | {"spec": {"sourceType": "grpc", "address": address}})
        good = installation.until(ref, lambda each: state(each) == "READY", "READY")["status"]
    broken = installation.until(ref, lambda each: state(each) == "TRANSIENT_FAILURE", "TRANSIENT_FAILURE")["status"]
    assert broken["reason"] == "RegistryServerError"
    assert broken["message"].startswith(f"couldn't connect to registry - {address}: ")
    assert broken["connectionState"]["address"] == good["connectionState"]["address"] == address
    assert (content(broken), "sha256:" in content(broken)) == (content(good), True)
    with a_registry_pod(tmp_path / "other", other, port=int(address.rpartition(":")[2])):
        again = installation.until(ref, lambda each: state(each) == "READY", "READY")["status"]
        assert content(again) != content(good)
        assert "reason" not in again


def test_what_is_no_address_is_reported_at_once(installation: Installation, namespace: str) -> None:
    """catalog.md 8.3 row 43."""
    for name, address in (("port", "foo"), ("scheme", "http://bar.com:8080")):
        source, ref = a_source(namespace, sourceType="grpc", address=address), CATALOG_SOURCE.ref(name, namespace)
        installation.cluster.create(source | {"metadata": {"name": name, "namespace": namespace}})
        reported = installation.until(ref, lambda each: each["status"]["reason"] == "RegistryServerError", "a reason")
        assert reported["status"]["message"].startswith(f"couldn't connect to registry - address {address}: ")


def content(status: Json) -> str:
    return CatalogSource({"status": status}).content


def state(source: Manifest) -> Json:
    return source["status"]["connectionState"]["lastObservedState"]
