"""`olmf install --v1` and `olmf extension uninstall`: what is made, followed, taken away, and what stays."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from eventing.cli.requests.extension_removal import remove_extension
from eventing.cli.requests.extensions import ExtensionRequest, install_extension
from eventing.cli.requests.generations import check_extensions
from eventing.cli.requests.request import PackageError, Request
from eventing.cli.requests.subscribing import subscribe
from shared.adapters.kube.errors import ApiError
from shared.api.manifest import Manifest
from shared.kinds import (
    CLUSTER_CATALOG,
    CLUSTER_OBJECT_SET,
    CONFIG_MAP,
    CUSTOM_RESOURCE_DEFINITION,
    NAMESPACE,
    SECRET,
    Ref,
)
from shared.reading.extension import Sources as Content
from tests.functions.cluster_extension.world import (
    EXTENSION,
    PLACE,
    World,
    a_bundle,
    a_config_map,
    a_world,
    installed,
)
from tests.functions.subscription.world import a_catalog_source, a_package, a_subscription
from tests.kit.catalogs import read_status

MINUTE = timedelta(minutes=1)
SETTINGS = CONFIG_MAP.ref("etcd-settings", PLACE)
AN_ETCD: Manifest = {"apiVersion": "example.com/v1", "kind": "Etcds", "metadata": {"name": "a", "namespace": PLACE}}


def a_catalog_of(*versions: str) -> World:
    """A world with a catalog, and no extension."""
    world = a_world(*versions)
    world.remove(EXTENSION)
    world.jobs.clear()
    return world


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Time passes while a verb waits: something happens in a world, and the deadline comes nearer."""

    def let(happen: Callable[[], Any], seconds: float = 1.0) -> None:
        moments = itertools.count(time.monotonic(), seconds)

        def sleep(_: float) -> None:
            now = next(moments)
            monkeypatch.setattr(time, "monotonic", lambda: now)
            happen()

        monkeypatch.setattr(time, "sleep", sleep)

    return let


def install(world: World, package: str = "etcd", *, timeout: timedelta = MINUTE, **more: str) -> list[str]:
    content = Content(world.api, world.catalogs, world.policy)
    request = ExtensionRequest(package, PLACE, **more)
    return list(map(str, install_extension(world.api, request, content, timeout=timeout)))


def works(world: World) -> Callable[[], None]:
    def happen() -> None:
        world.settle()
        world.runs()

    return happen


def test_a_package_is_installed_and_followed(passes: Callable[..., None]) -> None:
    world = a_catalog_of("1.0.0", "1.1.0")
    passes(works(world))
    reported = install(world, version="<1.1.0", channel="stable", catalog="c")
    assert reported[0] == f"made ClusterExtension etcd in namespace {PLACE}"
    assert reported[-1] == "etcd: etcd.v1.0.0 Succeeded"
    assert world.objects[EXTENSION]["spec"]["source"]["catalog"] == {
        "packageName": "etcd", "version": "<1.1.0", "channels": ["stable"],
        "upgradeConstraintPolicy": "CatalogProvided",
        "selector": {"matchLabels": {"olm.operatorframework.io/metadata.name": "c"}},
    }  # fmt: skip
    assert install(world, version="<1.1.0") == ["ClusterExtension etcd is there already", "etcd: etcd.v1.0.0 Succeeded"]


def test_the_namespace_is_made() -> None:
    world = a_catalog_of()
    world.remove(NAMESPACE.ref(PLACE))
    assert install(world, timeout=timedelta())[0] == f"made Namespace {PLACE}"


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"package": "etcdd"}, "No bundles of package etcdd"),
        ({"version": "7.x"}, "No bundles are of a version in '7.x'; not etcd.v1.0.0."),
        ({"catalog": "other"}, "Catalog c is not asked"),
    ],
)
def test_nothing_is_made_of_what_no_catalog_has(asked: dict[str, Any], why: str) -> None:
    world = a_catalog_of()
    with pytest.raises(PackageError, match="Nothing can be installed") as error:
        install(world, **asked)
    assert why.lower() in str(error.value).lower()
    assert EXTENSION not in world.objects


def test_without_any_catalog_of_olm_v1_it_reports_how_to_make_one() -> None:
    world = a_catalog_of()
    world.remove(CLUSTER_CATALOG.ref("c"))
    with pytest.raises(PackageError, match=r"there is no ClusterCatalog to install from$"):
        install(world)
    world.put(a_catalog_source("all", "a-tenant"))
    with pytest.raises(PackageError, match=r"there is no ClusterCatalog to install from$"):
        install(world)
    world.put(a_catalog_source("local"))
    with pytest.raises(PackageError, match=r"kubectl apply -f -` makes one of olm/local") as error:
        install(world)
    assert '"ref": "registry/local:v1"' in str(error.value)


def test_a_catalog_of_olm_v1_is_to_be_made_of_one_that_offers_the_package() -> None:
    world = a_catalog_of()
    world.remove(CLUSTER_CATALOG.ref("c"))
    for name, package in (("first", "other"), ("local", "etcd")):
        image = f"registry/{name}:v1"
        world.catalogs.publish(image, a_package(package, "1.0.0"))
        world.put({**a_catalog_source(name), "status": read_status(world.catalogs.reference(image))})
    with pytest.raises(PackageError, match=r"makes one of olm/local$"):
        install(world)
    with pytest.raises(PackageError, match=r"makes one of olm/first$"):
        install(world, package="unknown")


def test_what_a_subscription_runs_is_not_installed_by_olm_v1() -> None:
    world = a_catalog_of()
    world.put(a_subscription("etcd"))
    with pytest.raises(PackageError) as error:
        install(world)
    assert str(error.value) == (
        "Subscription ns/etcd runs etcd already, and two owners would want the same objects; move etcd to a "
        "ClusterExtension: `olmf extension adopt etcd -n ns` or take Subscription ns/etcd away: "
        "`olmf uninstall etcd -n ns`"
    )
    assert EXTENSION not in world.objects


def test_what_an_extension_runs_is_not_subscribed_to() -> None:
    world = installed()
    with pytest.raises(PackageError) as error:
        list(subscribe(world.api, Request("etcd", "elsewhere")))
    assert str(error.value) == (
        f"ClusterExtension etcd runs etcd in namespace {PLACE} already, and two owners would want the same objects; "
        "move etcd to a Subscription: `olmf extension release etcd` or take ClusterExtension etcd away: "
        "`olmf extension uninstall etcd`"
    )
    assert NAMESPACE.ref("elsewhere") not in world.objects


def test_who_may_not_look_at_the_other_generation_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    world = installed()

    def denied(*_: object) -> list[Any]:
        raise ApiError(status, "Forbidden", "no")

    monkeypatch.setattr("eventing.cli.requests.generations.extension_statuses", denied)
    status = 403
    assert list(check_extensions(world.api, "etcd")) == [
        "warning: whether the other generation of OLM runs etcd could not be looked at: no"
    ]
    status = 500
    with pytest.raises(ApiError):
        list(check_extensions(world.api, "etcd"))


@pytest.mark.parametrize("asked", [{"version": "1.0.0"}, {"channel": "beta"}, {"catalog": "c"}])
def test_an_extension_with_another_spec_is_left_alone(asked: dict[str, Any]) -> None:
    world = installed()
    before = world.objects[EXTENSION]
    with pytest.raises(PackageError, match=r"is there already: .*`kubectl edit clusterextension etcd`"):
        install(world, **asked)
    assert world.objects[EXTENSION] == before


def test_a_field_that_an_extension_does_not_have_is_not_set() -> None:
    with pytest.raises(PackageError, match=r"is there already: channels is not set;"):
        install(installed(), channel="beta")


def test_one_that_is_late_reports_what_it_waits_for(passes: Callable[..., None]) -> None:
    world = a_catalog_of()

    def goes_on() -> None:
        world.settle()
        world.later(seconds=20)

    passes(goes_on, seconds=20)
    with pytest.raises(PackageError, match=r"is not ready after 60 s: RollingOut, .*`olmf extension why etcd`"):
        install(world)


def test_one_that_only_a_person_can_help_ends_the_wait(passes: Callable[..., None]) -> None:
    world = a_catalog_of()
    world.bundles.images["registry/etcd:v1.0.0"] = a_bundle("etcd", "1.0.0", modes=("OwnNamespace",))

    passes(world.settle, seconds=2)
    with pytest.raises(PackageError, match=r"cannot go on: .*kubectl edit clusterextension etcd"):
        install(world)


# taking away


def remove(world: World, *, with_objects: bool = False, timeout: timedelta = MINUTE) -> list[str]:
    return list(remove_extension(world.api, "etcd", timeout=timeout, with_objects=with_objects))


def goes_on(world: World) -> Callable[[], None]:
    return lambda: world.later(seconds=6)


def test_nothing_is_left_of_an_extension(passes: Callable[..., None]) -> None:
    world = installed()
    passes(goes_on(world))
    reported = remove(world)
    assert reported[0] == "deleted ClusterExtension etcd"
    assert reported[1].startswith("gone: 1 revision, ")
    assert reported[-1] == f"stays, because a bundle never brings it: Namespace {PLACE}"
    assert not [ref for ref in world.objects if ref.namespace == PLACE and ref.kind != "ServiceAccount"]
    assert not [ref for ref in world.objects if ref.kind in (SECRET.kind, CLUSTER_OBJECT_SET.kind)]
    assert CUSTOM_RESOURCE_DEFINITION.ref("etcds.example.com") not in world.objects
    with pytest.raises(PackageError, match="there is no ClusterExtension 'etcd'"):
        remove(world)


def test_stored_objects_are_not_lost_by_silence(passes: Callable[..., None]) -> None:
    world = installed()
    world.put(AN_ETCD)
    with pytest.raises(PackageError, match=r"1 Etcds of etcds\.example\.com: .*--delete-objects"):
        remove(world)
    assert EXTENSION in world.objects
    passes(goes_on(world))
    reported = remove(world, with_objects=True)
    assert "lost with their definitions: 1 Etcds of etcds.example.com" in reported
    assert reported[-2].startswith("gone: ")


def test_what_others_hold_back_is_named(passes: Callable[..., None]) -> None:
    world = installed()
    with world.edited(SETTINGS) as found:
        found["metadata"]["finalizers"] = ["example.com/keep"]
    passes(goes_on(world), seconds=5)
    reported: list[str] = []
    with pytest.raises(PackageError, match="still there after 60 s: ") as error:
        reported.extend(remove_extension(world.api, "etcd", timeout=MINUTE))
    assert f"others hold back ConfigMap {PLACE}/etcd-settings (finalizers: example.com/keep)" in str(error.value)
    assert "`olmf why ClusterObjectSet/etcd-1`" in str(error.value)
    world.api.merge(SETTINGS, {"metadata": {"finalizers": None}})
    passes(goes_on(world), seconds=1)
    assert remove(world)[0].startswith("gone: 1 revision, ")  # its extension is gone, and its revision goes on


def test_what_somebody_else_controls_stays(passes: Callable[..., None]) -> None:
    world = a_world()
    world.put(a_config_map("etcd-settings", PLACE, mine="yes"))
    world.settle()
    passes(goes_on(world))
    assert f"stays, because somebody else controls it: ConfigMap {PLACE}/etcd-settings" in remove(world)
    assert SETTINGS in world.objects


def test_without_time_nobody_waits() -> None:
    assert remove(installed(), timeout=timedelta()) == ["deleted ClusterExtension etcd"]


def test_a_revision_without_its_secrets_is_reported_as_unknown(passes: Callable[..., None]) -> None:
    world = installed()
    for ref in [ref for ref in world.objects if ref.kind == SECRET.kind]:
        world.remove(ref)
    passes(goes_on(world))
    with pytest.raises(PackageError, match=r"^cannot tell which objects .*: .*--delete-objects"):
        remove(world)
    assert EXTENSION in world.objects
    reported = remove(world, with_objects=True)
    assert any(line.startswith("cannot tell which objects its revisions have: ") for line in reported)
    assert EXTENSION not in world.objects


def test_who_may_not_read_the_secrets_loses_nothing_by_silence(
    monkeypatch: pytest.MonkeyPatch, passes: Callable[..., None]
) -> None:
    world = installed()
    world.put(AN_ETCD)
    get = world.api.get

    def guarded(ref: Ref) -> Manifest | None:
        if ref.kind == SECRET.kind:
            raise ApiError(403, "Forbidden", f'secrets "{ref.name}" is forbidden')
        return get(ref)

    monkeypatch.setattr(world.api, "get", guarded)
    with pytest.raises(PackageError, match=r"cannot tell which objects .* is forbidden.*--delete-objects"):
        remove(world)
    assert not world.objects[EXTENSION]["metadata"].get("deletionTimestamp")
    assert Ref.of(AN_ETCD) in world.objects
    monkeypatch.undo()
    passes(goes_on(world))
    remove(world, with_objects=True)


def test_one_that_goes_already_is_followed_whatever_can_be_read(passes: Callable[..., None]) -> None:
    world = installed()
    remove(world, timeout=timedelta())
    for ref in [ref for ref in world.objects if ref.kind == SECRET.kind]:
        world.remove(ref)
    passes(goes_on(world))
    assert any(line.startswith("gone: ") for line in remove(world))


def test_another_package_of_the_name_is_reported() -> None:
    world = installed()
    world.publish(a_package("other", "1.0.0"), name="d", image="registry/d:v1")
    with world.edited(EXTENSION) as found:
        found["spec"]["source"]["catalog"]["packageName"] = "other"
    with pytest.raises(PackageError, match="its package is other"):
        install(world)
