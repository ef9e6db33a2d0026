"""Another channel: refused where the catalog has none of that name, and whether it leads further."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, cast

import pytest

from eventing.cli.requests.carry_on import upgrade
from eventing.cli.requests.channels import switch_channel
from eventing.cli.requests.follow import NotReadyError
from eventing.cli.requests.request import PackageError
from shared.api.manifest import Manifest
from shared.domain.catalog.model import Bundle, Channel, Entry, Package
from shared.domain.image_source import ImageSource
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, SUBSCRIPTION, Kind, Ref
from shared.ports import Catalogs, Unavailable
from tests.kit.cluster import FakeCluster

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

TIDE = Package(
    "tide",
    "stable",
    (
        Channel("stable", (Entry("tide.v1"),)),
        Channel("fast", (Entry("tide.v1"), Entry("tide.v2", "tide.v1"))),
        Channel("ranged", (Entry("tide.v3", skip_range=">=1.0.0 <3.0.0"),)),
        Channel("far", (Entry("tide.v3", "tide.v2"), Entry("tide.v2"))),
    ),
    {f"tide.v{major}": Bundle(f"tide.v{major}", f"{major}.0.0", "") for major in (1, 2, 3)},
)


class Patched(FakeCluster):
    """A cluster that takes merge patches of the spec."""

    def merge(self, ref: Ref, patch: Manifest) -> None:
        self.objects[ref]["spec"].update(patch["spec"])

    def client(self) -> KubeClient:
        return cast("KubeClient", self)


class CatalogReader:
    """A catalog that is asked for one package only."""

    def __init__(self, answer: Package | Unavailable | None) -> None:
        self._answer = answer

    def package(self, reference: str, name: str, _: ImageSource) -> Package | Unavailable | None:
        assert (reference, name) == ("registry/local@sha256:1", "tide")
        return self._answer


def a_reader(answer: Package | Unavailable | None) -> Catalogs:
    return cast("Catalogs", CatalogReader(answer))


def an_object(kind: Kind, name: str, namespace: str, **fields: object) -> Manifest:
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **fields}


def a_cluster() -> Patched:
    catalog = an_object(
        CATALOG_SOURCE, "local", "olm",
        spec={"sourceType": "grpc", "image": "registry/local:latest"},
        status={"connectionState": {"address": "registry/local@sha256:1", "lastObservedState": "READY"}},
    )  # fmt: skip
    subscription = an_object(
        SUBSCRIPTION, "mine", "two",
        spec={"name": "tide", "channel": "stable", "source": "local", "sourceNamespace": "olm"},
        status={"currentCSV": "tide.v1", "installedCSV": "tide.v1"},
    )  # fmt: skip
    csv = an_object(CLUSTER_SERVICE_VERSION, "tide.v1", "two", spec={"version": "1.0.0"}, status={"phase": "Succeeded"})
    return Patched([catalog, subscription, csv])


def channel_of(cluster: Patched) -> str:
    return str(cluster.objects[SUBSCRIPTION.ref("mine", "two")]["spec"]["channel"])


@pytest.mark.parametrize(
    ("channel", "leaving"),
    [
        pytest.param("fast", "tide.v1", id="a channel that replaces what is installed"),
        pytest.param("ranged", "tide.v1", id="a channel that skips a range with what is installed"),
        pytest.param("stable", "", id="a channel that ends at what is installed"),
    ],
)
def test_a_channel_leads_further_or_it_does_not(channel: str, leaving: str) -> None:
    cluster = a_cluster()
    assert switch_channel(cluster.client(), "two", "tide", channel, catalogs=a_reader(TIDE)) == leaving
    assert channel_of(cluster) == channel


def test_a_channel_that_leads_nowhere_is_followed_and_reported_to_lead_nowhere() -> None:
    cluster = a_cluster()
    why = "tide follows channel far now, but 1.0.0 is not in channel far, and nothing there replaces it; the head 3"
    with pytest.raises(PackageError, match=why):
        switch_channel(cluster.client(), "two", "tide", "far", catalogs=a_reader(TIDE))
    assert channel_of(cluster) == "far"


def test_while_an_update_is_under_way_a_channel_is_not_judged() -> None:
    cluster = a_cluster()
    cluster.objects[SUBSCRIPTION.ref("mine", "two")]["status"]["currentCSV"] = "tide.v2"
    assert switch_channel(cluster.client(), "two", "tide", "far", catalogs=a_reader(TIDE)) == ""


def test_an_upgrade_ends_with_the_reason_why_the_channel_leads_nowhere() -> None:
    cluster = a_cluster()
    end = "1.0.0 is not in channel far, and nothing there replaces it"
    reported = {"type": "Stranded", "status": "True", "reason": "NotInChannel", "message": end}
    cluster.objects[SUBSCRIPTION.ref("mine", "two")]["status"]["conditions"] = [reported]
    lines = upgrade(cluster.client(), "two", "tide", timeout=timedelta(seconds=20))
    with pytest.raises(NotReadyError, match=f"tide stays: {end}; "):
        list(lines)


def test_a_channel_that_is_not_offered_is_refused_and_not_written() -> None:
    cluster = a_cluster()
    with pytest.raises(
        PackageError, match="tide has no channel 'slow' in the catalog; its channels: far, fast, ranged, st"
    ):
        switch_channel(cluster.client(), "two", "tide", "slow", catalogs=a_reader(TIDE))
    assert channel_of(cluster) == "stable"


@pytest.mark.parametrize("answer", [None, Unavailable("Unreachable", "no route")], ids=["no such package", "no answer"])
def test_a_catalog_without_that_field_is_not_believed(answer: Unavailable | None) -> None:
    cluster = a_cluster()
    assert switch_channel(cluster.client(), "two", "tide", "slow", catalogs=a_reader(answer)) == ""
    assert channel_of(cluster) == "slow", "the resolution will say what is wrong"


def test_the_version_that_is_left_is_not_the_end() -> None:
    lines = upgrade(
        a_cluster().client(), "two", "tide", timeout=timedelta(0), leaving="tide.v1"
    )  # fmt: skip
    with pytest.raises(NotReadyError, match=r"tide still is at tide\.v1 after 0 s, though its channel leads further; "):
        list(lines)
