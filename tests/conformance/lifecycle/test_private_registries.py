"""Registries whose certificates a private authority signed: for catalogs, and for the bundles that Jobs unpack."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from shared.api.manifest import Manifest
from shared.kinds import CATALOG_SOURCE, CONFIG_MAP, SUBSCRIPTION
from tests.conformance.keys import make_keys
from tests.conformance.lifecycle.conftest import TARGETS
from tests.conformance.targets import running
from tests.kit.catalogs import a_bundle
from tests.kit.image_registry import ScriptedRegistry, a_file, a_layer, scripted_registry
from tests.kit.installation import SAMPLES, Installation, a_namespace, a_subscription, an_operator_group

BUNDLE = SAMPLES / "tide" / "1.0.0"
CONFIGS = {"operators.operatorframework.io.index.configs.v1": "/configs"}
AUTHORITIES = CONFIG_MAP.ref("olmf-registries", "olm")


@dataclass(frozen=True)
class Private:
    """An installation and two registries, each with an authority of its own."""

    host: Installation
    known: ScriptedRegistry
    """`SSL_CERT_FILE` has its authority."""
    other: ScriptedRegistry
    """Nobody knows its authority until it is told."""
    authority: str
    """What signed the certificate of `other`, PEM."""


@pytest.fixture(scope="module", params=TARGETS)
def private(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Private]:
    folder = tmp_path_factory.mktemp("private")
    contexts = [serving(folder / name) for name in ("known", "other")]
    environ = {"SSL_CERT_FILE": str(folder / "known" / "ca.crt")}
    with (
        scripted_registry(contexts[0]) as known,
        scripted_registry(contexts[1]) as other,
        running(request.param, folder, environ=environ) as host,
    ):
        yield Private(host, known, other, (folder / "other" / "ca.crt").read_text())


def serving(folder: Path) -> ssl.SSLContext:
    """What a server needs whose certificate a new authority signs."""
    make_keys(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "apiserver.crt", folder / "apiserver.key")
    return context


def a_catalog(name: str, namespace: str, *, catalog: ScriptedRegistry, bundle: ScriptedRegistry) -> Manifest:
    """A catalog of `tide` in one registry, with its bundle in one of them."""
    files = [path for path in sorted(BUNDLE.rglob("*")) if path.is_file()]
    layer = a_layer(*(a_file(path.relative_to(BUNDLE).as_posix(), path.read_bytes()) for path in files))
    digest = bundle.put(f"bundles/{name}", "1", [layer])
    documents = [
        {"schema": "olm.package", "name": "tide", "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": "tide", "name": "stable", "entries": [{"name": "tide.v1.0.0"}]},
        a_bundle("1.0.0", package="tide", image=f"{bundle.address}/bundles/{name}@{digest}"),
    ]
    content = "\n".join(map(json.dumps, documents)).encode()
    catalog.put(f"catalogs/{name}", "1", [a_layer(a_file("configs/catalog.json", content))], CONFIGS)
    spec = {"sourceType": "grpc", "image": f"{catalog.address}/catalogs/{name}:1"}
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": CATALOG_SOURCE.api_version, "kind": CATALOG_SOURCE.kind, "metadata": meta, "spec": spec}


def subscribe(host: Installation, namespace: str, catalog: Manifest) -> None:
    """A namespace that wants `tide` of a catalog."""
    meta = catalog["metadata"]
    desired = a_subscription("tide", namespace, source=meta["name"], sourceNamespace=meta["namespace"])
    host.apply(a_namespace(namespace), an_operator_group(namespace, targets=(namespace,)), catalog, desired)


def test_catalog_and_bundle_come_from_a_registry_with_a_private_authority(private: Private) -> None:
    source = a_catalog("mine", "olm", catalog=private.known, bundle=private.known)
    subscribe(private.host, "private-all", source)
    private.host.until_phase("tide.v1.0.0", "private-all")
    assert {asked.path.split("/")[2] for asked in private.known.requests} >= {"catalogs", "bundles"}


@pytest.mark.parametrize(("home", "place"), [("olm", "private-beside"), ("private-own", "private-own")])
def test_the_unpack_job_trusts_the_authorities_of_the_config_map(private: Private, home: str, place: str) -> None:
    """The Job of a catalog in `olm` reads the ConfigMap; elsewhere it is told what the ConfigMap says."""
    meta = {"name": AUTHORITIES.name, "namespace": AUTHORITIES.namespace}
    data = {"ca.crt": private.authority}
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}
    private.host.apply(a_namespace(place), config_map)
    subscribe(private.host, place, a_catalog("half", home, catalog=private.known, bundle=private.other))
    private.host.until_phase("tide.v1.0.0", place)
    private.host.cluster.delete(AUTHORITIES)


def test_an_authority_that_nobody_knows_is_named(private: Private) -> None:
    """By the CatalogSource, and by the Subscription whose bundle cannot be unpacked."""
    ref = CATALOG_SOURCE.ref("strange", "olm")
    private.host.apply(a_catalog(ref.name, ref.namespace, catalog=private.other, bundle=private.other))
    reported = f"put its certificate authority into /etc/containers/certs.d/{private.other.address}/ca.crt"
    found = private.host.until(ref, lambda each: reported in each["status"]["message"], reported)
    assert found["status"]["connectionState"]["lastObservedState"] == "TRANSIENT_FAILURE"
    subscribe(private.host, "private-none", a_catalog("bare", "olm", catalog=private.known, bundle=private.other))
    subscription = SUBSCRIPTION.ref("tide", "private-none")
    private.host.until(subscription, lambda each: reported in str(each["status"]["conditions"]), reported)
