"""`olmf catalog ls` and `refresh`: what ClusterCatalogs serve, and a look at the image when somebody asks for it."""

from __future__ import annotations

import itertools
import time
from datetime import timedelta
from typing import Any

import pytest

from eventing.cli.catalog.cluster import asked, followed, row_of
from eventing.cli.failure import CliError
from eventing.journal import Run
from shared import names
from shared.api.views import ClusterCatalog
from shared.kinds import CLUSTER_CATALOG
from tests.functions.cluster_extension.world import World, a_served_catalog
from tests.functions.subscription.world import a_package

REF = CLUSTER_CATALOG.ref("c")
IMAGE = "registry/c:v1"
RUN = Run("1", "cluster_catalog/unpack_catalog", str(REF), 0, 0.0, "")


class Cataloguing(World):
    groups = ("cluster_catalog", "cluster_extension", "fanout")


@pytest.fixture
def world() -> Cataloguing:
    """A cluster with one catalog that is served."""
    world = Cataloguing()
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0"))
    catalog = a_served_catalog("c", IMAGE, "")
    world.put({**catalog, "status": {}})
    world.settle()
    return world


def the_catalog(world: World) -> ClusterCatalog:
    return ClusterCatalog(world.objects[REF])


def test_a_row_reports_what_is_served(world: Cataloguing) -> None:
    row = row_of(the_catalog(world))
    assert (row["serving"], row["progressing"], row["message"], row["mode"]) == ("True", "Succeeded", "", "Available")
    assert str(row["resolved"]).startswith("registry/c@sha256:")
    assert row["unpacked"]


def test_a_row_reports_why_nothing_newer_is_served(world: Cataloguing) -> None:
    with world.edited(REF) as found:
        found["spec"]["source"]["image"]["ref"] = "registry/none:v1"
    world.settle()
    row = row_of(the_catalog(world))
    assert (row["serving"], row["progressing"]) == ("True", "Retrying")
    assert "registry/none:v1" in str(row["message"])


def test_a_catalog_is_looked_up_when_somebody_asks(world: Cataloguing) -> None:
    before = the_catalog(world)
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0", "2.0.0"))
    marked = asked(world.api, "c")
    assert marked.annotation(names.REFRESHED)
    world.settle()
    assert the_catalog(world).resolved != before.resolved
    reported = followed(world.api, marked, lambda: RUN, timedelta(seconds=1))
    assert reported.endswith("this is newer")
    assert followed(world.api, the_catalog(world), lambda: RUN, timedelta(seconds=1)).endswith("unchanged")


def test_a_refresh_that_fails_reports_why(world: Cataloguing) -> None:
    with world.edited(REF) as found:
        found["spec"]["source"]["image"]["ref"] = "registry/none:v1"
    marked = asked(world.api, "c")
    world.settle()
    with pytest.raises(CliError, match=r"c: .*registry/none:v1"):
        followed(world.api, marked, lambda: RUN, timedelta(seconds=1))


def test_a_refresh_that_nobody_does_ends(world: Cataloguing, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(step=10.0)
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with pytest.raises(CliError, match=r"c was not looked up within 30 s; `olmf why ClusterCatalog/c`"):
        followed(world.api, the_catalog(world), lambda: None, timedelta(seconds=30))


@pytest.mark.parametrize(
    ("name", "spec", "why"),
    [
        ("cc", {}, "there is no ClusterCatalog 'cc'; similar: c"),
        ("C_C", {}, "there is no ClusterCatalog 'C_C'"),
        ("c", {"availabilityMode": "Unavailable"}, "c is not read: its availabilityMode is Unavailable"),
    ],
)
def test_what_cannot_be_asked_is_reported(world: Cataloguing, name: str, spec: dict[str, Any], why: str) -> None:
    with world.edited(REF) as found:
        found["spec"] |= spec
    with pytest.raises(CliError) as error:
        asked(world.api, name)
    assert str(error.value).startswith(why)
