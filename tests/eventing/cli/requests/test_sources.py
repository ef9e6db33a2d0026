"""Which catalog an install means: only those that its namespace sees count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pytest

from eventing.cli.requests.request import PackageError, Request
from eventing.cli.requests.sources import hidden_catalogs, source_for, visible_sources
from shared import names
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest, name_of
from shared.domain.catalog.model import Bundle, Channel, Entry, Package
from shared.domain.image_source import ImageSource
from shared.kinds import CATALOG_SOURCE, OPERATOR_GROUP, Kind
from shared.ports import Catalogs, Unavailable
from tests.kit.cluster import FakeCluster

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient


@dataclass(frozen=True)
class Packages:
    """Every catalog has the package tide."""

    def packages(self, reference: str, source: ImageSource) -> tuple[str, ...] | Unavailable:
        return ("tide",)

    def package(self, reference: str, name: str, source: ImageSource) -> Package | Unavailable | None:
        return Package("tide", "stable", (Channel("stable", (Entry("v1"),)),), {"v1": Bundle("v1", "1.0.0", "")})


TIDE = cast("Catalogs", Packages())


def an_object(kind: Kind, place: str, **fields: object) -> Manifest:
    namespace, _, name = place.partition("/")
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name, "namespace": namespace}} | (
        fields
    )


def a_cluster(*places: str, excludes: bool = False) -> KubeClient:
    read = {"connectionState": {"address": "registry/local@sha256:1"}}
    sources = [an_object(CATALOG_SOURCE, place, spec={"image": "registry/local:v1"}, status=read) for place in places]
    group = an_object(OPERATOR_GROUP, "mine/group", spec={})
    if excludes:
        group["metadata"]["annotations"] = {names.EXCLUDE_GLOBAL_CATALOGS: "true"}
    return cast("KubeClient", FakeCluster([*sources, group]))


@pytest.mark.parametrize(
    ("places", "source", "want"),
    [
        pytest.param(["olm/all", "other/theirs"], "", ("olm", "all"), id="that of another namespace does not count"),
        pytest.param(["mine/own", "other/theirs"], "", ("mine", "own"), id="its own is the only one that it sees"),
        pytest.param(["mine/own", "olm/all"], "own", ("mine", "own"), id="asked for by name in its own namespace"),
        pytest.param(["mine/own", "olm/all"], "olm/all", ("olm", "all"), id="asked for with its namespace"),
    ],
)
def test_the_catalog_that_is_meant(places: list[str], source: str, want: tuple[str, str]) -> None:
    assert source_for(a_cluster(*places), Request("tide", "mine", source=source), TIDE) == want


@pytest.mark.parametrize(
    ("places", "request_", "why"),
    [
        pytest.param(
            ["mine/own", "olm/all", "other/theirs"], Request("tide", "mine"),
            "mine/own, olm/all all offer 'tide'; choose one with --source", id="only what it sees is ambiguous",
        ),
        pytest.param(
            ["mine/own", "olm/all"], Request("wave", "mine"),
            "no catalog that mine sees offers 'wave'; `olmf list --available` shows what there is",
            id="no such package",
        ),
        pytest.param(
            ["olm/all", "other/theirs"], Request("tide", "mine", source="other/theirs"),
            "--source: mine sees no CatalogSource other/theirs; there are: olm/all (a namespace sees only the catalogs "
            "of olm and mine; there are others in other: choose one with -n)",
            id="one of another namespace is asked for",
        ),
        pytest.param(
            ["other/theirs"], Request("tide", "mine"),
            "mine sees no CatalogSource (a namespace sees only the catalogs of olm and mine; there are others "
            "in other: choose one with -n); `olmf up --catalog PATH` or `kubectl apply -f FILE` makes one",
            id="none in sight",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_with_what_the_namespace_sees(
    places: list[str], request_: Request, why: str
) -> None:
    with pytest.raises(PackageError) as refused:
        source_for(a_cluster(*places), request_, TIDE)
    assert str(refused.value) == why


def test_an_operator_group_may_hide_the_global_catalogs() -> None:
    places = ["mine/own", "olm/all"]
    assert [*map(name_of, visible_sources(a_cluster(*places), "mine"))] == ["all", "own"]
    assert [*map(name_of, visible_sources(a_cluster(*places, excludes=True), "mine"))] == ["own"]


class OfATenant(FakeCluster):
    """A cluster whose user may list no kind in all namespaces at once."""

    status = 403

    def list(self, kind: Kind, namespace: str = "", **more: Any) -> tuple[Manifest, ...]:
        if not namespace:
            raise ApiError(self.status, "Refused", "no")
        return super().list(kind, namespace, **more)


def test_who_may_not_list_all_catalogs_gets_the_answer_without_the_hint() -> None:
    cluster = OfATenant([an_object(CATALOG_SOURCE, "other/theirs")])
    assert hidden_catalogs(cast("KubeClient", cluster), "mine") == ""
    with pytest.raises(PackageError, match="mine sees no CatalogSource; `olmf up"):
        source_for(cast("KubeClient", cluster), Request("tide", "mine"), TIDE)


def test_another_refusal_is_reported() -> None:
    cluster = OfATenant()
    cluster.status = 500
    with pytest.raises(ApiError):
        hidden_catalogs(cast("KubeClient", cluster), "mine")
