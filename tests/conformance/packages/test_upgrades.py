"""Real packages are installed at their oldest version, upgraded hop by hop to the head, and go; on both targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, labels_of, name_of
from shared.api.views import Csv, CustomResourceDefinition
from shared.kinds import (
    API_SERVICE,
    CATALOG_SOURCE,
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CLUSTER_SERVICE_VERSION,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    INSTALL_PLAN,
    MUTATING_WEBHOOKS,
    SERVICE,
    SUBSCRIPTION,
    VALIDATING_WEBHOOKS,
)
from tests.conformance.packages.offers import PATIENCE_SECONDS, Head, heads, oldest, prepare, subscribe_all
from tests.conformance.packages.results import EXPECTED, SUCCEEDED
from tests.kit.installation import Installation
from tests.kit.real_bundles import needs_real_bundles
from tests.kit.waiting import wait_for

pytestmark = [pytest.mark.conformance, needs_real_bundles]

PACKAGES = [package for package, result in EXPECTED.items() if result == SUCCEEDED]
UPGRADED = 13
"""How many of them have a version before their head here."""
CLUSTER_SCOPED = (CLUSTER_ROLE, CLUSTER_ROLE_BINDING, VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS, API_SERVICE)


Asked = dict[str, tuple[Head, str]]


@pytest.fixture(scope="module")
def asked(installation: Installation, bundles: Path) -> Asked:
    """All packages are subscribed at once, each at its oldest version; the head and that version of each."""
    installation.until(CATALOG_SOURCE.ref("local", "olm"), lambda each: "READY" in str(each.get("status")), "READY")
    first = oldest(bundles)
    found = {head.package: (head, first[head.csv]) for head in heads(installation.cluster, bundles).values()}
    assert sum(found[package][0].csv != found[package][1] for package in PACKAGES) >= UPGRADED
    for package in PACKAGES:
        prepare(installation, found[package][0])
    subscribe_all(installation, (found[package][0] for package in PACKAGES), first)
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_upgraded_to_its_head_and_goes(installation: Installation, asked: Asked, package: str) -> None:
    """csv.md 3.1, 4.7: the old version goes when the new one works; with that, all that leads to the operator goes."""
    head, begin = asked[package]
    wait_for(lambda: is_upgraded(installation, head, begin), f"{head.csv} in its place", seconds=PATIENCE_SECONDS)
    planned = [name for plan in plans(installation, package) for name in plan["spec"]["clusterServiceVersionNames"]]
    assert {begin, head.csv} <= set(planned)
    installation.cluster.delete(SUBSCRIPTION.ref(package, package))
    installation.cluster.delete(CLUSTER_SERVICE_VERSION.ref(head.csv, package))
    installation.until_gone(CLUSTER_SERVICE_VERSION.ref(head.csv, package))
    wait_for(lambda: not left(installation, package), f"the end of what {package} had: {left(installation, package)}")


def is_upgraded(installation: Installation, head: Head, begin: str) -> bool:
    """Whether the head works, and all versions before it are gone; one whose successor is deleted would stay."""
    found = phases(installation, head.package)
    is_over = {"Replacing", "Deleting"}.isdisjoint(found.values()) and (begin == head.csv or begin not in found)
    return found.get(head.csv) == SUCCEEDED and is_over


def phases(installation: Installation, namespace: str) -> dict[str, str]:
    """The versions that are installed in a namespace."""
    found = map(Csv, installation.cluster.list(CLUSTER_SERVICE_VERSION, namespace))
    return {csv.name: csv.phase for csv in found if not csv.is_copy}


def plans(installation: Installation, namespace: str) -> list[Manifest]:
    """The plans that were carried out in a namespace."""
    found = installation.cluster.list(INSTALL_PLAN, namespace)
    return [plan for plan in found if plan["status"]["phase"] == "Complete"]


def left(installation: Installation, namespace: str) -> list[str]:
    """What is there of versions of a namespace that are gone, and leads to them; what it depended on stays."""
    cluster, present = installation.cluster, phases(installation, namespace)
    owned = [one for kind in CLUSTER_SCOPED for one in cluster.list(kind, labels={names.OWNER_NAMESPACE: namespace})]
    owned = [one for one in owned if is_of_a_version(one) and labels_of(one)[names.OWNER] not in present]
    beside = [one for kind in (DEPLOYMENT, SERVICE) for one in cluster.list(kind, namespace)]
    beside = [one for one in beside if (found := owners(one)) and present.keys().isdisjoint(found)]
    definitions = map(CustomResourceDefinition, cluster.list(CUSTOM_RESOURCE_DEFINITION))
    services = {name_of(one) for one in cluster.list(SERVICE, namespace)}
    led = [(one, *service_of(one)) for one in definitions if one.converts_by_webhook]
    converted = [one.name for one, place, service in led if place == namespace and service not in services]
    return [*(f"{one['kind']} {name_of(one)}" for one in (*owned, *beside)), *converted]


def is_of_a_version(manifest: Manifest) -> bool:
    """Whether the labels of an object say that it is of a version; those of groups are of another kind."""
    return labels_of(manifest).get(names.OWNER_KIND) == CLUSTER_SERVICE_VERSION.kind


def owners(manifest: Manifest) -> list[str]:
    """The versions that own an object."""
    references = manifest["metadata"].get("ownerReferences") or ()
    return [one["name"] for one in references if one["kind"] == CLUSTER_SERVICE_VERSION.kind]


def service_of(definition: CustomResourceDefinition) -> tuple[str, str]:
    """Namespace and name of the Service that converts the objects of a definition."""
    service = fields.part(definition.conversion, "webhook", "clientConfig", "service")
    return fields.text(service, "namespace"), fields.text(service, "name")
