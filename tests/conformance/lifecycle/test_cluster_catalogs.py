"""ClusterCatalogs at work: from the object to the content that is served, and back (v1.md §3, §6)."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import urllib3

from eventing.catalogs.changing_certificate import PairFiles
from eventing.catalogs.tls_profile import TlsProfile
from eventing.deploy import catalogs
from shared.adapters.catalog_api import web
from shared.api.manifest import Manifest, resource_version_of
from shared.domain.serving.catalog_certificate import authorities_of
from shared.kinds import CATALOG_SOURCE, CLUSTER_CATALOG, SECRET, Ref
from tests.conformance.lifecycle.test_install import _state
from tests.kit.installation import Installation, condition
from tests.kit.waiting import wait_for

POOL = urllib3.PoolManager(timeout=30, retries=False)


def a_catalog(name: str, image: str, **spec: Any) -> Manifest:
    source = {"type": "Image", "image": {"ref": image}}
    return {
        "apiVersion": CLUSTER_CATALOG.api_version, "kind": "ClusterCatalog", "metadata": {"name": name},
        "spec": {"source": source, **spec},
    }  # fmt: skip


@pytest.fixture
def image(installation: Installation) -> str:
    """The image by tag of the catalog of the sample bundles."""
    ref = CATALOG_SOURCE.ref("local", "olm")
    installation.until(ref, lambda each: _state(each) == "READY", "READY")
    source = installation.cluster.get(ref)
    assert source is not None
    return str(source["spec"]["image"])


@pytest.fixture
def catalog(installation: Installation, request: pytest.FixtureRequest) -> Iterator[Ref]:
    """A name of the test's own, whose catalog goes with the test."""
    ref = CLUSTER_CATALOG.ref(str(request.node.originalname).removeprefix("test_").replace("_", "-")[:50].rstrip("-"))
    yield ref
    if installation.cluster.get(ref) is not None:
        installation.cluster.delete(ref)
        installation.until_gone(ref)


def until_served(installation: Installation, catalog: Ref) -> Manifest:
    return installation.until(catalog, lambda each: condition(each, "Serving")["status"] == "True", "served")


def get(found: Manifest, path: str, **headers: str) -> urllib3.BaseHTTPResponse:
    url = found["status"]["urls"]["base"] + path
    wait_for(lambda: POOL.request("HEAD", url).status != 503, f"the content of {url}")
    return POOL.request("GET", url, headers={name.replace("_", "-"): text for name, text in headers.items()})


def test_a_cluster_catalog_is_served(installation: Installation, catalog: Ref, image: str) -> None:
    installation.apply(a_catalog(catalog.name, image))
    found = until_served(installation, catalog)
    status = found["status"]
    assert condition(found, "Serving")["reason"] == "Available"
    assert condition(found, "Progressing")["reason"] == "Succeeded"
    assert "@sha256:" in status["resolvedSource"]["image"]["ref"]
    assert status["urls"]["base"].endswith(f"/catalogs/{catalog.name}")
    assert found["metadata"]["labels"]["olm.operatorframework.io/metadata.name"] == catalog.name
    whole = get(found, "/api/v1/all")
    assert whole.headers["Content-Type"] == "application/jsonl"
    lines = [orjson.loads(line) for line in whole.data.splitlines()]
    assert {"olm.package", "olm.channel", "olm.bundle"} <= {line["schema"] for line in lines}
    assert [orjson.loads(get(found, "/api/v1/metas?schema=olm.package&name=tide").data)["name"]] == ["tide"]
    assert get(found, "/api/v1/all", If_None_Match=whole.headers["ETag"]).status == 304
    assert get(found, "/api/v1/all", If_Modified_Since=whole.headers["Last-Modified"]).status == 304


def test_a_cluster_catalog_that_rests_writes_nothing(installation: Installation, catalog: Ref, image: str) -> None:
    installation.apply(a_catalog(catalog.name, image))
    before = until_served(installation, catalog)
    installation.until_it_rests()
    after = installation.cluster.get(catalog)
    assert after is not None
    assert resource_version_of(after) == resource_version_of(before)


def test_an_unavailable_cluster_catalog_is_not_served(installation: Installation, catalog: Ref, image: str) -> None:
    installation.apply(a_catalog(catalog.name, image))
    served = until_served(installation, catalog)
    installation.apply(a_catalog(catalog.name, image, availabilityMode="Unavailable"))
    found = installation.until(
        catalog,
        lambda each: (
            condition(each, "Serving")["reason"] == "UserSpecifiedUnavailable"
            and not each["metadata"].get("finalizers")
        ),
    )
    assert found["status"].keys() == {"conditions"}
    url = served["status"]["urls"]["base"] + "/api/v1/all"
    wait_for(lambda: POOL.request("GET", url).status == 404, f"404 of {url}")
    installation.apply(a_catalog(catalog.name, image, availabilityMode="Available"))
    assert get(until_served(installation, catalog), "/api/v1/all").status == 200


def test_a_deleted_cluster_catalog_is_not_served(installation: Installation, catalog: Ref, image: str) -> None:
    installation.apply(a_catalog(catalog.name, image))
    served = until_served(installation, catalog)
    installation.cluster.delete(catalog)
    installation.until_gone(catalog)
    url = served["status"]["urls"]["base"] + "/api/v1/all"
    wait_for(lambda: POOL.request("GET", url).status == 404, f"404 of {url}")


def test_an_image_that_is_not_there_is_tried_again(installation: Installation, catalog: Ref, image: str) -> None:
    installation.apply(a_catalog(catalog.name, image.rpartition("/")[0] + "/none:v1"))
    found = installation.until(catalog, lambda each: condition(each, "Progressing")["reason"] == "Retrying")
    assert condition(found, "Progressing")["status"] == "True"
    assert condition(found, "Progressing")["message"].startswith("source catalog content: ")
    assert "resolvedSource" not in found["status"]
    installation.apply(a_catalog(catalog.name, image))
    until_served(installation, catalog)


def test_a_bundle_by_digest_is_no_catalog_for_ever(installation: Installation, catalog: Ref, image: str) -> None:
    bundle = until_bundle(installation, catalog, image)
    installation.apply(a_catalog(catalog.name, bundle))
    found = installation.until(catalog, lambda each: condition(each, "Progressing")["reason"] == "Blocked")
    assert "catalog image is missing the required label" in condition(found, "Progressing")["message"]
    assert condition(found, "Progressing")["status"] == "False"


def until_bundle(installation: Installation, catalog: Ref, image: str) -> str:
    """The image by digest of a bundle of the catalog."""
    installation.apply(a_catalog(catalog.name, image))
    content = get(until_served(installation, catalog), "/api/v1/metas?schema=olm.bundle").data
    found = str(orjson.loads(content.splitlines()[0])["image"])
    assert "@sha256:" in found, found
    return found


def test_v1_md_6_clients_can_verify_the_server_that_the_manifests_run(
    installation: Installation, tmp_path: Path
) -> None:
    """The Deployment of `k8s/base` without Pods: what it mounts, in a server of this test."""
    deployment, service = catalogs.objects()
    server, secret = Ref.of(deployment), SECRET.ref("olmf-catalogs-service-cert", "olm")
    authorities = authorities_of(server)
    installation.apply({**deployment, "spec": {**deployment["spec"], "replicas": 0}})
    try:
        pair = installation.until(secret, lambda each: "tls.key" in each["data"], "a certificate")["data"]
        trusted = installation.until(authorities, lambda each: bool(each["data"]), "its CA")["data"]["ca.crt"]
        for name in ("tls.crt", "tls.key"):
            (tmp_path / name).write_bytes(base64.b64decode(pair[name]))
        context = PairFiles(tmp_path / "tls.crt", tmp_path / "tls.key", TlsProfile()).context()
        name = f"{service['metadata']['name']}.{service['metadata']['namespace']}.svc"
        with web.running({}, trust=context) as port:
            client = urllib3.HTTPSConnectionPool(
                "127.0.0.1", port, ca_cert_data=trusted, server_hostname=name, assert_hostname=name, retries=False
            )
            assert client.request("GET", "/readyz", headers={"Connection": "close"}).status == 200
        installation.cluster.delete(authorities)
        back = installation.until(authorities, lambda each: bool(each["data"]), "its CA again")
        assert back["data"]["ca.crt"] == trusted
    finally:
        installation.cluster.delete(server)
    for each in (secret, authorities):
        installation.until_gone(each)
