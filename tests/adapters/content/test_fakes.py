"""The fakes of catalogs and bundles answer as those that read images: the same questions to each of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from shared.adapters.content.bundles import ImageBundles
from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.pulling import Puller
from shared.adapters.content.store import Store
from shared.adapters.oci.transport import Transport
from shared.domain.bundle.annotations import CONFIGS
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.bundle.payload import load
from shared.domain.catalog.model import Package, Property
from shared.domain.image_source import ImageSource
from shared.ports import Bundles, Catalogs, Pulled, Unavailable
from tests.functions.subscription.world import FakeBundles, FakeCatalogs, a_bundle, a_package
from tests.kit.catalogs import POT, a_property, one
from tests.kit.catalogs import a_bundle as a_document
from tests.kit.image_registry import ScriptedRegistry, a_file, a_layer, scripted_registry

GVK = (POT["group"], POT["version"], POT["kind"])


@dataclass(frozen=True)
class Shop:
    """Catalogs and bundles, and what publishes etcd (which provides an API) in them, with vault or without."""

    catalogs: Catalogs
    bundles: Bundles
    host: str
    publish: Callable[..., None]

    @property
    def source(self) -> ImageSource:
        return ImageSource(f"{self.host}/local:v1", "olm")


def faked() -> Shop:
    catalogs, bundles = FakeCatalogs(), FakeBundles()

    def publish(*packages: str) -> None:
        apis = {"etcd": [Property("olm.gvk", POT)]}
        made = [a_package(name, "1.0.0", properties=apis.get(name, ())) for name in packages]
        catalogs.publish("registry/local:v1", *made)
        bundles.images["registry/etcd:v1.0.0"] = a_bundle("etcd", "1.0.0")

    return Shop(catalogs, bundles, "registry", publish)


def pulled_from(registry: ScriptedRegistry, folder: Path) -> Shop:
    puller = Puller(lambda *_: None, Transport(attempts=1))

    def publish(*packages: str) -> None:
        files = []
        for name in packages:
            *rest, bundle = one(name, "1.0.0")
            provided = [a_property("olm.gvk", POT)] if name == "etcd" else []
            bundle = a_document("1.0.0", *provided, package=name, image=f"registry/{name}:v1.0.0")
            content = "\n".join(map(json.dumps, (*rest, bundle))).encode()
            files.append(a_file(f"configs/{name}/c.json", content))
        registry.put("local", "v1", [a_layer(*files)], {CONFIGS: "/configs"})
        manifests = [a_file(f"manifests/{n}.json", json.dumps(each).encode()) for n, each in enumerate(ETCD)]
        registry.put("etcd", "v1.0.0", [a_layer(*manifests)])

    catalogs = ImageCatalogs(Store(folder), puller)
    return Shop(catalogs, ImageBundles(puller, catalogs), registry.address, publish)


ETCD = a_bundle("etcd", "1.0.0")


@pytest.fixture(params=["fake", "image"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shop]:
    if request.param == "fake":
        yield faked()
        return
    with scripted_registry() as registry:
        yield pulled_from(registry, tmp_path)


def pulled(shop: Shop) -> Pulled:
    found = shop.catalogs.pull(shop.source)
    assert isinstance(found, Pulled)
    return found


def test_a_catalog_is_read_by_the_digest_that_its_tag_has_now(shop: Shop) -> None:
    shop.publish("etcd", "vault")
    first = pulled(shop)
    assert (first.packages, first.left_out) == (2, ())
    assert first.reference.startswith(f"{shop.host}/local@sha256:")
    assert pulled(shop) == first
    shop.publish("etcd")
    second = pulled(shop)
    assert (second.packages, second.reference == first.reference) == (1, False)
    assert shop.catalogs.packages(first.reference, shop.source) == ("etcd", "vault")
    assert shop.catalogs.packages(second.reference, shop.source) == ("etcd",)


def test_a_package_has_its_channels_and_bundles(shop: Shop) -> None:
    shop.publish("etcd", "vault")
    found = shop.catalogs.package(pulled(shop).reference, "etcd", shop.source)
    assert isinstance(found, Package)
    assert (found.name, found.default_channel) == ("etcd", "stable")
    assert [(one.name, [entry.name for entry in one.entries]) for one in found.channels] == [
        ("stable", ["etcd.v1.0.0"])
    ]
    bundle = found.bundles["etcd.v1.0.0"]
    assert (bundle.name, bundle.version, bundle.image) == ("etcd.v1.0.0", "1.0.0", "registry/etcd:v1.0.0")
    assert {one.type for one in bundle.properties} == {"olm.package", "olm.gvk"}


def test_a_package_that_is_not_there_is_none(shop: Shop) -> None:
    shop.publish("etcd")
    assert shop.catalogs.package(pulled(shop).reference, "vault", shop.source) is None


def test_the_packages_that_provide_an_api_are_found(shop: Shop) -> None:
    shop.publish("etcd", "vault")
    reference = pulled(shop).reference
    assert shop.catalogs.providers(reference, GVK, shop.source) == ("etcd",)
    assert shop.catalogs.providers(reference, ("nobody.io", "v1", "Nothing"), shop.source) == ()


def test_the_digests_of_packages_are_those_that_they_have_when_they_are_read(shop: Shop) -> None:
    shop.publish("etcd")
    etcd, nosuch = known(shop, pulled(shop).reference)
    shop.publish("etcd", "vault")
    after = pulled(shop).reference
    assert (known(shop, after)[0], nosuch) == (etcd, "")
    package = shop.catalogs.package(after, "etcd", shop.source)
    assert isinstance(package, Package)
    assert package.digest == etcd != ""


def known(shop: Shop, reference: str) -> tuple[str, ...]:
    digests = shop.catalogs.package_digests(reference, ["etcd", "nosuch"], shop.source)
    assert isinstance(digests, tuple)
    return digests


def test_a_catalog_that_was_never_published_is_not_found(shop: Shop) -> None:
    found = shop.catalogs.pull(shop.source)
    assert isinstance(found, Unavailable)
    assert found.reason == "NotFound"
    assert shop.source.image in found.message


def test_a_bundle_becomes_the_content_of_its_config_map(shop: Shop) -> None:
    shop.publish("etcd")
    image = f"{shop.host}/etcd:v1.0.0"
    found = shop.bundles.config_map_payload(ImageSource(image, "olm"))
    assert isinstance(found, dict)
    assert found["annotations"]["olm.sourceImage"] == image
    loaded = load({"metadata": {"annotations": found["annotations"]}, "binaryData": found["binaryData"]})
    assert isinstance(loaded, UnpackedBundle)
    assert loaded.csv["metadata"]["name"] == "etcd.v1.0.0"
    assert {each["kind"] for each in loaded.objects} == {each["kind"] for each in ETCD}


def test_a_bundle_that_was_never_published_is_not_found(shop: Shop) -> None:
    found = shop.bundles.config_map_payload(ImageSource(f"{shop.host}/tea:1", "olm"))
    assert isinstance(found, Unavailable)
    assert found.reason == "NotFound"
