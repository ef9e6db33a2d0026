"""What catalogs offer: one row per channel, and a row for what cannot be read, with the reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import pytest

from eventing.cli.requests.hints import refusal
from eventing.diagnosis.offers import offered
from shared.api.manifest import Manifest
from shared.domain.catalog.model import Bundle, Channel, Entry, Package
from shared.domain.image_source import ImageSource
from shared.kinds import CATALOG_SOURCE
from shared.ports import Catalogs, Unavailable
from tests.kit.cluster import FakeCluster

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

ENTRIES = (Entry("tide.v1"), Entry("tide.v2", "tide.v1"))
BUNDLES = {name: Bundle(name, "1.0.0", "") for name in ("tide.v1", "tide.v2")}
TIDE = Package("tide", "stable", (Channel("fast", ENTRIES[:1]), Channel("stable", ENTRIES)), BUNDLES)
LOOP = Package("tide", "stable", (Channel("stable", (Entry("tide.v1", "tide.v2"), ENTRIES[1])),), BUNDLES)
LEFT = replace(TIDE, deprecations={"package": "gone soon", "channel/fast": "too fast", "bundle/tide.v2": "too new"})
BROKEN = Unavailable("Malformed", "package tide: it has no channel")


@dataclass(frozen=True)
class CatalogReader:
    """A catalog with one package, or one that cannot be read."""

    package_of: Package | Unavailable | None = None
    trouble: Unavailable | None = None

    def packages(self, reference: str, _: ImageSource) -> tuple[str, ...] | Unavailable:
        return self.trouble or ("tide",)

    def package(self, reference: str, name: str, _: ImageSource) -> Package | Unavailable | None:
        return self.package_of


def a_source(address: str = "registry/local@sha256:1") -> Manifest:
    meta = {"name": "local", "namespace": "olm"}
    status = {"connectionState": {"address": address}}
    kind = {"apiVersion": CATALOG_SOURCE.api_version, "kind": CATALOG_SOURCE.kind}
    return {**kind, "metadata": meta, "spec": {"image": "registry/local:v1"}, "status": status}


def a_row(channel: str = "", version: str = "", *, default: bool = False, message: str = "") -> dict[str, object]:
    return {
        "package": "tide", "channel": channel, "default": default, "version": version, "catalog": "olm/local",
        "message": message,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("reader", "want"),
    [
        pytest.param(
            CatalogReader(TIDE), [a_row("fast", "tide.v1"), a_row("stable", "tide.v2", default=True)],
            id="the default channel has a key of its own",
        ),
        pytest.param(
            CatalogReader(LEFT),
            [
                a_row(
                    "fast", "tide.v1",
                    message="package is deprecated: gone soon; channel fast is deprecated: too fast",
                ),
                a_row(
                    "stable", "tide.v2", default=True,
                    message="package is deprecated: gone soon; bundle tide.v2 is deprecated: too new",
                ),
            ],
            id="what is deprecated",
        ),
        pytest.param(
            CatalogReader(LOOP),
            [a_row("stable", default=True, message="the channel is broken: no channel head found in graph")],
            id="a channel without a head",
        ),
        pytest.param(CatalogReader(BROKEN), [a_row(message=BROKEN.message)], id="a package that cannot be read"),
        pytest.param(CatalogReader(None), [], id="a package that went meanwhile"),
        pytest.param(
            CatalogReader(trouble=Unavailable("Unreachable", "no route")),
            [{**a_row(message="no route"), "package": ""}],
            id="a catalog that cannot be read",
        ),
    ],
)  # fmt: skip
def test_what_a_catalog_offers_is_listed_with_what_is_wrong(
    reader: CatalogReader, want: list[dict[str, object]]
) -> None:
    cluster = cast("KubeClient", FakeCluster([a_source()]))
    assert offered(cluster, cast("Catalogs", reader)) == want


def test_a_catalog_that_was_not_read_yet_offers_nothing() -> None:
    cluster = cast("KubeClient", FakeCluster([a_source("")]))
    assert offered(cluster, cast("Catalogs", CatalogReader(TIDE))) == []


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        pytest.param({}, "", id="the default channel"),
        pytest.param({"startingCSV": "tide.v2"}, "", id="a version of the default channel"),
        pytest.param({"startingCSV": "tide.v1", "channel": "fast"}, "", id="a version of a channel"),
        pytest.param(
            {"startingCSV": "tide.v2", "channel": "fast"},
            "channel fast of tide in catalog olm/local has no version 'tide.v2'; it is in --channel stable",
            id="a version of another channel",
        ),
        pytest.param(
            {"startingCSV": "tide.2"},
            "channel stable of tide in catalog olm/local has no version 'tide.2'; similar: tide.v2, tide.v1",
            id="a version with a similar name",
        ),
        pytest.param(
            {"startingCSV": "wave"},
            "channel stable of tide in catalog olm/local has no version 'wave'; `olmf versions tide` lists "
            "what there is",
            id="no such version",
        ),
        pytest.param(
            {"startingCSV": "wave", "channel": "slow"},
            "tide has no channel 'slow' in catalog olm/local; its channels: fast, stable", id="no such channel",
        ),
    ],
)  # fmt: skip
def test_what_a_catalog_does_not_have_is_refused(spec: dict[str, str], why: str) -> None:
    cluster = cast("KubeClient", FakeCluster([a_source()]))
    asked = {"name": "tide", "source": "local", "sourceNamespace": "olm", **spec}
    assert refusal(cluster, asked, cast("Catalogs", CatalogReader(TIDE))) == why
    assert refusal(cluster, asked, cast("Catalogs", CatalogReader(BROKEN))) == "", "it may be there"
