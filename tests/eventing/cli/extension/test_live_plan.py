"""What a plan says of the cluster, beside what it says of the extension."""

from __future__ import annotations

from eventing.cli.extension.live_plan import report_on
from eventing.cli.extension.report import Report
from shared.api.views import ClusterExtension
from shared.kinds import CLUSTER_CATALOG
from shared.reading.extension import Sources
from tests.functions.cluster_extension.world import EXTENSION, World, a_world
from tests.functions.subscription.world import a_catalog_source


def reported(world: World) -> Report:
    content = Sources(world.api, world.catalogs, world.policy)
    return report_on(world.api, ClusterExtension(world.objects[EXTENSION]), content, ("", ()))


def test_where_nothing_can_be_installed_from_it_says_what_to_make() -> None:
    world = a_world()
    world.remove(CLUSTER_CATALOG.ref("c"))
    world.put(a_catalog_source("local"))
    found = reported(world)
    assert found.blockers
    [remark] = found.remarks
    assert remark.startswith("there is no ClusterCatalog to install from; ")
    assert remark.endswith(" | kubectl apply -f -` makes one of olm/local")
