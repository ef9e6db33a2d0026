"""The bundle in a ConfigMap, parsed once."""

from __future__ import annotations

from shared.api.manifest import Manifest
from shared.api.views import ConfigMap
from shared.domain.bundle.model import BadBundle, UnpackedBundle
from shared.domain.unpack.content import SMALL, ExpectedBundle, bundle_in
from tests.functions.subscription.world import a_bundle, a_payload


def a_config_map(version: str) -> Manifest:
    filled = a_payload("registry/etcd", *a_bundle("etcd", version))
    return {"metadata": {"name": "h", "annotations": filled["annotations"]}, "binaryData": filled["binaryData"]}


def test_equal_content_is_one_answer_and_other_content_another() -> None:
    first, again, other = (bundle_in(ConfigMap(a_config_map(version))) for version in ("1.0.0", "1.0.0", "2.0.0"))
    assert isinstance(first, UnpackedBundle)
    assert first is again
    assert isinstance(other, UnpackedBundle)
    assert other.csv["metadata"]["name"] == "etcd.v2.0.0"


def test_a_large_bundle_is_parsed_once_too() -> None:
    large = a_config_map("1.0.0") | {"data": {"README": "a" * SMALL}}
    first, again = bundle_in(ConfigMap(large)), bundle_in(ConfigMap(large))
    assert first is again


def test_a_bundle_of_another_name_than_its_catalog_promises_is_not_valid() -> None:
    """issue 3 §3: an image that lies; catalog.md 3.7 G: the plan is for the name in the catalog."""
    assert isinstance(bundle_in(ConfigMap(a_config_map("1.0.0")), ExpectedBundle("etcd.v1.0.0")), UnpackedBundle)
    lie = bundle_in(ConfigMap(a_config_map("1.0.0")), ExpectedBundle("etcd.v2.0.0"))
    assert isinstance(lie, BadBundle)
    assert lie.message.startswith(
        "registry/etcd holds ClusterServiceVersion etcd.v1.0.0, but its catalog names it etcd.v2"
    )


def test_an_empty_config_map_holds_no_bundle() -> None:
    assert isinstance(bundle_in(ConfigMap({})), BadBundle)
