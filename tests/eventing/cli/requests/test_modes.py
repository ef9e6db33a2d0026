"""What the OperatorGroup selects that an install makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pytest

from eventing.cli.requests.request import Request
from eventing.cli.requests.subscribing import Described, group_for, modes_for, targets_for
from shared.api.manifest import Manifest
from shared.api.views import InstallMode
from shared.domain.catalog.model import Bundle, Channel, Entry, Package
from shared.domain.image_source import ImageSource
from shared.kinds import CATALOG_SOURCE
from shared.ports import Unavailable
from tests.kit.cluster import FakeCluster

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

ENTRIES = (Entry("tide.v1"), Entry("tide.v2", "tide.v1"))
TIDE = Package("tide", "stable", (Channel("stable", ENTRIES),), {"tide.v2": Bundle("tide.v2", "2.0.0", "")})
MISSING = Unavailable("NotFound", "it went")
DESIRED = {"name": "tide", "source": "local", "sourceNamespace": "olm"}
SOURCE: Manifest = {
    "apiVersion": CATALOG_SOURCE.api_version,
    "kind": CATALOG_SOURCE.kind,
    "metadata": {"name": "local", "namespace": "olm"},
    "spec": {"image": "registry/local:v1"},
    "status": {"connectionState": {"address": "registry/local@sha256:1"}},
}


@dataclass(frozen=True)
class Catalog:
    """A catalog with one package, and the install modes that it states of each version."""

    modes: dict[str, tuple[str, ...]]
    found: Package | Unavailable | None = TIDE

    def package(self, reference: str, name: str, source: ImageSource) -> Package | Unavailable | None:
        return self.found

    def bundle(self, reference: str, package: str, name: str, source: ImageSource) -> Manifest | Unavailable | None:
        if name not in self.modes:
            return MISSING if self.modes else None
        entry = [{"type": mode, "supported": True} for mode in self.modes[name]]
        return {"name": name, "properties": [{"type": "olm.csv.metadata", "value": {"installModes": entry}}]}


@pytest.mark.parametrize(
    ("catalog", "spec", "want"),
    [
        pytest.param(Catalog({"tide.v2": ("OwnNamespace",)}), {}, ("one",), id="only its own namespace works"),
        pytest.param(Catalog({"tide.v2": ("OwnNamespace", "AllNamespaces")}), {}, ("",), id="all namespaces work"),
        pytest.param(Catalog({"tide.v2": ("MultiNamespace",)}), {}, ("",), id="neither works"),
        pytest.param(Catalog({}), {}, ("",), id="the catalog states nothing"),
        pytest.param(Catalog({"tide.v1": ()}), {}, ("",), id="the document went"),
        pytest.param(Catalog({}, MISSING), {}, ("",), id="the catalog cannot be read"),
        pytest.param(Catalog({}), {"source": "other"}, ("",), id="no such catalog"),
        pytest.param(Catalog({"tide.v2": ("OwnNamespace",)}), {"channel": "no"}, ("",), id="no such channel"),
        pytest.param(
            Catalog({"tide.v1": ("OwnNamespace",), "tide.v2": ("AllNamespaces",)}), {"startingCSV": "tide.v1"},
            ("one",), id="the first version counts",
        ),
    ],
)  # fmt: skip
def test_what_a_group_selects(catalog: Catalog, spec: dict[str, str], want: tuple[str, ...]) -> None:
    cluster = cast("KubeClient", FakeCluster([SOURCE]))
    assert targets_for(modes_for(cluster, {**DESIRED, **spec}, cast("Described", catalog)), "one") == want


EVERYWHERE = "made OperatorGroup one for all namespaces: what is installed here works in the whole cluster"
NARROWER = (
    "; let the group select one: `kubectl -n one patch operatorgroup one --type merge "
    """-p '{"spec":{"targetNamespaces":["one"],"selector":null}}'`"""
)


@pytest.mark.parametrize(
    ("supported", "said"),
    [
        pytest.param(["OwnNamespace"], "made OperatorGroup one for this namespace only", id="only its own namespace"),
        pytest.param(["AllNamespaces", "OwnNamespace"], f"{EVERYWHERE}{NARROWER}", id="both"),
        pytest.param([], f"{EVERYWHERE}{NARROWER}", id="nobody knows"),
        pytest.param(["AllNamespaces"], f"{EVERYWHERE}, and supports nothing less", id="only all namespaces"),
    ],
)
def test_who_gets_a_group_for_all_namespaces_is_told_and_how_to_restrict_it(supported: list[str], said: str) -> None:
    modes = InstallMode.each([{"type": one, "supported": True} for one in supported])
    group, made = group_for(Request("tide", "one"), modes)
    assert str(made) == said
    assert ("targetNamespaces" in group["spec"]) == ("only" in said)
