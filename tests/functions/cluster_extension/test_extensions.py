"""From a ClusterExtension to objects in the cluster, and back (v1.md §12, §21, §26)."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from eventing.events.job import Job
from shared import kinds, names
from shared.api.manifest import annotations_of, labels_of, metadata
from shared.domain.extension.phases.quiet import QUIET
from shared.domain.extension.phases.stamp import claimed
from shared.kinds import CLUSTER_CATALOG, CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, DEPLOYMENT, SECRET, Ref
from shared.ports import Attempt, Unavailable, WriteFailure
from shared.reading.extension import cert_provider
from shared.step import Create, SetStatus
from tests.functions.cluster_extension.test_bad_bundles import with_webhook
from tests.functions.cluster_extension.world import (
    EXTENSION,
    PLACE,
    World,
    a_bundle,
    a_config_map,
    a_served_catalog,
    a_world,
    an_extension,
    installed,
)
from tests.functions.subscription.world import a_crd, a_package

pytestmark = pytest.mark.unmeasured

SETTINGS = CONFIG_MAP.ref("etcd-settings", PLACE)
CONTROLLER = DEPLOYMENT.ref("etcd-controller", PLACE)


def progressing(world: World, ref: Ref = EXTENSION) -> tuple[str, str, str]:
    return world.conditions(ref)["Progressing"]


def delete(world: World, ref: Ref) -> None:
    world.api.delete(ref)
    world.settle()
    world.later(seconds=20)


def test_v1_md_12_7_fresh_install() -> None:
    world = a_world()
    world.settle()
    assert not world.status(), "most are installed before anybody could read that they are not yet"
    world.later(seconds=3)
    assert world.conditions()["Installed"] == ("False", "Absent", "No bundle installed")
    assert progressing(world) == ("True", "RollingOut", "Revision 1.0.0 is rolling out.")
    [active] = world.status()["activeRevisions"]
    assert [one["type"] for one in active["conditions"]] == ["Progressing", "Available"]
    world.runs()
    found = world.conditions()
    assert found["Installed"] == ("True", "Succeeded", "Installed bundle registry/etcd:v1.0.0 successfully")
    assert found["Progressing"] == ("True", "Succeeded", "Revision 1.0.0 has rolled out.")
    assert found["Available"] == ("True", "ProbesSucceeded", "Objects are available and pass all probes.")
    assert world.status()["install"] == {"bundle": {"name": "etcd.v1.0.0", "version": "1.0.0"}}
    assert world.status()["activeRevisions"] == [{"name": "etcd-1"}]
    assert {one["observedGeneration"] for one in world.status()["conditions"]} == {1}


def test_v1_md_26_1_i12_i13_labels_and_secrets_of_a_revision() -> None:
    world = installed()
    revision = world.objects[world.revision(1)]
    assert labels_of(revision) == {names.V1_OWNER_KIND: "ClusterExtension", names.V1_OWNER_NAME: "etcd"}
    assert names.V1_TEARDOWN in metadata(revision)["finalizers"]
    places = {one["ref"]["name"] for phase in revision["spec"]["phases"] for one in phase["objects"]}
    for name in places:
        secret = world.objects[SECRET.ref(name, "olm")]
        assert secret["immutable"] is True
        assert secret["type"] == names.V1_OBJECT_DATA
        assert labels_of(secret) == {names.V1_REVISION_NAME: "etcd-1", names.V1_OWNER_NAME: "etcd"}
        assert [one["uid"] for one in metadata(secret)["ownerReferences"]] == [metadata(revision)["uid"]]


def test_kinds_that_nobody_watches_are_named_by_the_revision() -> None:
    world = a_world()
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": {}}
    world.bundles.images["registry/etcd:v1.0.0"] = a_bundle("etcd", "1.0.0", budget)
    world.settle()
    assert annotations_of(world.objects[world.revision(1)])[names.KINDS_OF_OBJECTS] == "policy/v1/PodDisruptionBudget"


def test_idle_means_no_write() -> None:
    world = installed()
    for job in (EXTENSION, world.revision(1)):
        world.receive(names.UPDATED, job)
    world.requests.clear()
    world.settle()
    assert world.requests["write"] == 0
    world.receive(names.AUDIT_REQUESTED, kinds.NAMESPACE.ref("olm"))
    world.settle()
    assert world.requests["write"] == 0


@pytest.mark.parametrize("ref", [SETTINGS, CONTROLLER], ids=str)
def test_v1_md_26_3_r1_what_somebody_deletes_comes_back(ref: Ref) -> None:
    world = installed()
    world.api.delete(ref)
    world.settle()
    world.runs()
    assert ref in world.objects
    assert progressing(world)[1] == "Succeeded"


@pytest.mark.measured
def test_v1_md_26_6_f1_fields_of_others_stay_and_ours_come_back() -> None:
    world = installed()
    world.api.merge(SETTINGS, {"metadata": {"annotations": {"mine": "x"}}, "data": {"version": "9", "more": "y"}})
    world.settle()
    found = world.objects[SETTINGS]
    assert annotations_of(found)["mine"] == "x"
    assert found["data"] == {"version": "1.0.0", "more": "y"}
    world.api.merge(SETTINGS, {"data": {"version": None}})
    world.settle()
    world.later(seconds=11)
    assert world.objects[SETTINGS]["data"] == {"version": "1.0.0", "more": "y"}


def test_v1_md_26_2_u1_u8_upgrade() -> None:
    world = installed("1.0.0", "1.1.0", version="1.0.0")
    with world.edited(EXTENSION) as found:
        found["spec"]["source"]["catalog"]["version"] = "1.1.0"
        found["metadata"]["generation"] = 2
    world.settle()
    assert world.conditions()["Installed"][0] == "True", "the old one is still there"
    assert progressing(world) == ("True", "RollingOut", "Revision 1.1.0 is rolling out.")
    assert [one["name"] for one in world.status()["activeRevisions"]] == ["etcd-1", "etcd-2"]
    assert world.conditions()["BundleDeprecated"][1] == "DeprecationStatusUnknown"
    world.runs()
    world.later(seconds=20)
    assert progressing(world) == ("True", "Succeeded", "Revision 1.1.0 has rolled out.")
    assert world.status()["install"]["bundle"]["version"] == "1.1.0"
    assert world.status()["activeRevisions"] == [{"name": "etcd-2"}]
    archived = world.objects[world.revision(1)]
    assert archived["spec"]["lifecycleState"] == "Archived"
    assert world.conditions(world.revision(1))["Progressing"] == ("False", "Archived", "revision is archived")
    assert not metadata(archived).get("finalizers")
    new = metadata(world.objects[world.revision(2)])["uid"]
    owners = metadata(world.objects[SETTINGS])["ownerReferences"]
    assert [(one["uid"], one["controller"]) for one in owners] == [(new, True)]
    assert world.objects[SETTINGS]["data"] == {"version": "1.1.0"}


def test_a_field_that_the_next_version_does_not_have_goes() -> None:
    world = a_world("1.0.0", "1.1.0", version="1.0.0")
    extra = a_config_map("extra", old="x")
    world.bundles.images["registry/etcd:v1.0.0"] = a_bundle("etcd", "1.0.0", extra)
    world.bundles.images["registry/etcd:v1.1.0"] = a_bundle("etcd", "1.1.0", {**extra, "data": {"new": "x"}})
    world.settle()
    world.runs()
    place = CONFIG_MAP.ref("extra", PLACE)
    assert claimed(world.objects[place]) is not None, "what was created is not what was applied"
    with world.edited(EXTENSION) as found:
        found["spec"]["source"]["catalog"]["version"] = "1.1.0"
    world.settle()
    assert world.objects[place]["data"] == {"new": "x"}
    assert claimed(world.objects[place]) is None


def test_v1_md_26_4_d1_uninstall() -> None:
    world = installed()
    delete(world, EXTENSION)
    kept = {"ClusterCatalog", "Event", "Namespace", "ServiceAccount"}
    assert {ref.kind for ref in world.objects} <= kept, list(world.objects)
    assert EXTENSION not in world.objects


def test_what_becomes_of_an_extension_is_told_once_in_events_and_to_the_sink() -> None:
    world = a_world(version="2.x")
    world.settle()
    world.later(seconds=20)
    [missing] = world.events
    assert (missing.type, missing.reason, missing.ref) == ("Warning", "Retrying", EXTENSION)
    assert 'no bundles found for package "etcd"' in missing.message
    with world.edited(EXTENSION) as found:
        found["spec"]["source"]["catalog"]["version"] = "1.x"
        found["metadata"]["generation"] = 2
    world.settle()
    world.runs()
    told = [(one.type, one.reason, one.message) for one in world.events[1:]]
    assert told == [("Normal", "Installed", "Installed bundle registry/etcd:v1.0.0 successfully")]
    assert names.EXTENSION_FAILED not in world.emitted, "it might have gone on by itself"
    assert world.emitted.count(names.EXTENSION_INSTALLED) == 1
    with world.edited(EXTENSION) as found:
        found["spec"]["config"] = {"configType": "Inline", "inline": {"nonsense": "x"}}
        found["metadata"]["generation"] = 3
    world.settle()
    assert world.events[-1].reason == "InvalidConfiguration"
    assert world.emitted.count(names.EXTENSION_FAILED) == 1


def test_an_extension_on_hold_keeps_what_it_has_and_gets_nothing_new() -> None:
    world = installed("1.0.0", "1.1.0", version="1.0.0")
    with world.edited(EXTENSION) as found:
        found["metadata"].setdefault("annotations", {})[names.HOLD] = "until Monday"
        found["spec"]["source"]["catalog"]["version"] = "1.1.0"
        found["metadata"]["generation"] = 2
    world.remove(SETTINGS)
    world.settle()
    assert SETTINGS in world.objects, "what is installed is kept up"
    assert world.revision(2) not in world.objects
    with world.edited(EXTENSION) as found:
        del found["metadata"]["annotations"][names.HOLD]
    world.settle()
    assert world.revision(2) in world.objects


@pytest.mark.measured
def test_an_extension_on_hold_from_the_start_says_so() -> None:
    extension = an_extension()
    extension["metadata"]["annotations"] = {names.HOLD: "until Monday"}
    world = a_world(extension=extension)
    world.settle()
    assert progressing(world) == ("True", "Retrying", "on hold by olmf.io/hold: until Monday")
    assert world.revision(1) not in world.objects


def test_v1_md_1_2_the_finalizers_of_upstreams_program_keep_nothing() -> None:
    world = installed()
    with world.edited(EXTENSION) as found:
        found["metadata"]["finalizers"] = [*names.V1_EXTENSION_FINALIZERS, "somebody.example.com/else"]
    world.api.delete(EXTENSION)
    world.settle()
    assert world.objects[EXTENSION]["metadata"]["finalizers"] == ["somebody.example.com/else"]
    with world.edited(EXTENSION) as found:
        del found["metadata"]["finalizers"]
    world.remove(EXTENSION)
    world.settle()
    assert SETTINGS not in world.objects


def test_v1_md_26_3_r3_what_is_there_already_is_never_taken() -> None:
    world = a_world()
    world.put(a_config_map(SETTINGS.name, PLACE, mine="x"))
    world.settle()
    status, reason, message = progressing(world)
    assert (status, reason) == ("True", "Retrying")
    assert message == (
        "revision object collisions in phase 1\n"
        f'Object ConfigMap.v1 {PLACE}/{SETTINGS.name}\nAction: "Collision"\nConflicting Owner: none'
    )
    assert world.conditions()["Installed"] == ("False", "Failed", "No bundle installed")
    assert world.objects[SETTINGS]["data"] == {"mine": "x"}
    world.remove(SETTINGS)
    world.later(seconds=20)
    world.runs()
    assert world.conditions()["Installed"][0] == "True"


def test_v1_md_26_2_u7_two_extensions_of_one_package() -> None:
    world = installed()
    before = world.objects[SETTINGS]
    world.put(an_extension("etcd-dup"))
    world.settle()
    other = Ref(EXTENSION.api_version, EXTENSION.kind, "etcd-dup")
    assert progressing(world, other)[1] == "Retrying"
    assert "revision object collisions" in progressing(world, other)[2]
    assert "Conflicting Owner: ClusterObjectSet etcd-1" in progressing(world, other)[2]
    assert world.objects[SETTINGS] == before
    assert world.conditions()["Installed"][0] == "True"
    delete(world, other)
    assert world.objects[SETTINGS] == before, "what belongs to the other is left alone"


def test_v1_md_26_5_s1_s2_what_is_not_ready_is_reported() -> None:
    world = installed()
    world.runs(ready=False)
    reported = (
        "False",
        "ProbeFailure",
        f'Object Deployment.apps/v1 {PLACE}/etcd-controller: .status.condition["Available"] is False',
    )
    assert world.conditions()["Available"] == world.conditions(world.revision(1))["Available"] == reported
    assert world.conditions()["Installed"][0] == "True"
    world.runs()
    assert world.conditions()["Available"][1] == "ProbesSucceeded"


def test_v1_md_26_2_u2_u3_a_version_without_an_edge() -> None:
    world = installed("1.0.0", "1.1.0", "1.2.0", version="1.0.0")
    with world.edited(EXTENSION) as found:
        found["spec"]["source"]["catalog"]["version"] = "1.2.0"
    world.settle()
    assert progressing(world) == (
        "True",
        "Retrying",
        (
            'error upgrading from currently installed version "1.0.0": no bundles found for package "etcd" '
            'matching version "1.2.0"'
        ),
    )
    assert world.conditions()["Installed"][0] == "True"
    assert world.conditions()["Available"][0] == "True"
    with world.edited(EXTENSION) as found:
        found["spec"]["source"]["catalog"]["upgradeConstraintPolicy"] = "SelfCertified"
    world.settle()
    world.runs()
    assert world.status()["install"]["bundle"]["version"] == "1.2.0"


def test_v1_md_26_2_u4_a_new_edition_of_the_catalog_is_followed() -> None:
    world = installed()
    world.bundles.images["registry/etcd:v1.1.0"] = a_bundle("etcd", "1.1.0")
    world.publish(a_package("etcd", "1.0.0", "1.1.0"))
    world.settle()
    world.runs()
    assert world.status()["install"]["bundle"]["version"] == "1.1.0"


@pytest.mark.measured
@pytest.mark.parametrize(
    ("change", "is_kept"),
    [("gone", True), ("gone, and another version is wanted", False), ("not served", False), ("not read", False)],
)
def test_v1_md_12_4_without_a_catalog_what_is_installed_stays(change: str, is_kept: bool) -> None:
    world = installed()
    catalog = CLUSTER_CATALOG.ref("c")
    if change == "not served":
        with world.edited(catalog) as found:
            found["status"]["conditions"] = []
    elif change == "not read":
        world.catalogs.trouble = Unavailable("Unreachable", "connection refused")
        world.receive(names.UPDATED, EXTENSION)
    else:
        world.remove(catalog)
    if "wanted" in change:
        with world.edited(EXTENSION) as found:
            found["spec"]["source"]["catalog"]["version"] = "1.0.1"
    world.settle()
    assert world.conditions()["Installed"][0] == "True"
    assert progressing(world)[1] == ("Succeeded" if is_kept else "Retrying"), progressing(world)
    assert world.conditions()["Deprecated"][1] == "DeprecationStatusUnknown"
    world.api.delete(SETTINGS)
    world.settle()
    assert SETTINGS in world.objects
    if change == "not read":
        world.catalogs.trouble = None
        world.later(seconds=20)
        assert progressing(world)[1] == "Succeeded"


@pytest.mark.parametrize(
    ("modes", "config", "reported"),
    [
        (("SingleNamespace",), None, 'invalid configuration: required field "watchNamespace" is missing'),
        (("OwnNamespace",), {"watchNamespace": "some-ns"}, f'invalid value "some-ns": must be "{PLACE}"'),
        (("AllNamespaces",), {"watchNamespace": "some-ns"}, 'unknown field "watchNamespace"'),
        (("SingleNamespace",), {"watchNamespace": "invalid-namespace-"}, 'field "watchNamespace" must match pattern'),
    ],
    ids=["I4", "I5", "I8", "I7"],
)  # fmt: skip
def test_v1_md_26_1_i4_i5_i7_i8_a_configuration_that_does_not_fit(modes: Any, config: Any, reported: str) -> None:
    inline = {} if config is None else {"config": {"configType": "Inline", "inline": config}}
    world = a_world(extension=an_extension(spec=inline))
    world.bundles.images["registry/etcd:v1.0.0"] = a_bundle("etcd", "1.0.0", modes=modes)
    world.settle()
    status, reason, message = progressing(world)
    assert (status, reason) == ("False", "InvalidConfiguration")
    assert message.startswith('error for resolved bundle "etcd.v1.0.0" with version "1.0.0": invalid')
    assert reported in message
    world.requests.clear()
    world.later(minutes=10)
    assert world.requests["write"] == 0
    watched = PLACE if modes == ("OwnNamespace",) else "watched"
    world.objects.setdefault_namespace("watched")
    with world.edited(EXTENSION) as found:
        found["spec"].pop("config", None)
        if modes != ("AllNamespaces",):
            found["spec"]["config"] = {"configType": "Inline", "inline": {"watchNamespace": watched}}
    world.settle()
    world.runs()
    assert world.conditions()["Installed"][0] == "True", world.conditions()
    template = world.objects[CONTROLLER]["spec"]["template"]["metadata"]["annotations"]
    assert template["olm.targetNamespaces"] == ("" if modes == ("AllNamespaces",) else watched)


@pytest.mark.parametrize(("mode", "watched"), [("SingleNamespace", "watched"), ("OwnNamespace", PLACE)])
def test_v1_md_26_13_q2_q3_permissions_where_it_watches(mode: str, watched: str) -> None:
    world = a_world(
        extension=an_extension(spec={"config": {"configType": "Inline", "inline": {"watchNamespace": watched}}})
    )
    world.objects.setdefault_namespace("watched")
    version, *others = a_bundle("etcd", "1.0.0", modes=(mode,))
    permissions = version["spec"]["install"]["spec"]
    permissions["permissions"] = permissions["clusterPermissions"]
    world.bundles.images["registry/etcd:v1.0.0"] = (version, *others)
    world.settle()
    world.runs()
    assert world.conditions()["Installed"][0] == "True"
    [binding] = [one for ref, one in world.objects.items() if ref.kind == "RoleBinding"]
    assert metadata(binding)["namespace"] == watched
    assert [(one["name"], one["namespace"]) for one in binding["subjects"]] == [("etcd-operator", PLACE)]


@pytest.mark.parametrize("enforcement", ["Strict", "None"])
def test_v1_md_12_7_an_unsafe_definition_is_refused(enforcement: str) -> None:
    spec = {"install": {"preflight": {"crdUpgradeSafety": {"enforcement": enforcement}}}}
    world = a_world("1.0.0", "1.1.0", extension=an_extension(version="1.0.0", spec=spec))
    csv, _, *others = a_bundle("etcd", "1.1.0")
    unsafe = a_crd("etcds.example.com", scope="Cluster")
    world.bundles.images["registry/etcd:v1.1.0"] = (csv, unsafe, *others)
    world.settle()
    world.runs()
    with world.edited(EXTENSION) as found:
        found["spec"]["source"]["catalog"]["version"] = "1.1.0"
    world.settle()
    assert world.conditions()["Installed"][0] == "True"
    if enforcement == "Strict":
        assert progressing(world) == (
            "True",
            "Retrying",
            (
                'error for resolved bundle "etcd.v1.1.0" with version "1.1.0": validating upgrade for CRD '
                '"etcds.example.com": scope: scope changed : "Namespaced" -> "Cluster"'
            ),
        )
        assert world.revision(2) not in world.objects
    else:
        assert world.revision(2) in world.objects


@pytest.mark.measured
@pytest.mark.parametrize(
    ("image", "why"),
    [
        pytest.param(
            "registry/Etcd:v1",
            'error parsing image reference "registry/Etcd:v1": '
            "invalid reference format: repository name must be lowercase",
            id="not a reference",
        ),
        pytest.param(
            "registry/etcd",
            'error creating reference: "registry/etcd" has neither a tag nor a digest',
            id="neither tag nor digest",
        ),
    ],
)
def test_v1_md_11_2_an_image_that_nobody_can_pull_is_blocked_until_the_catalog_changes(image: str, why: str) -> None:
    world, package = a_world(), a_package("etcd", "1.0.0")
    world.publish(replace(package, bundles={name: replace(one, image=image) for name, one in package.bundles.items()}))
    world.settle()
    about = f'error for resolved bundle "etcd.v1.0.0" with version "1.0.0": {why}'
    assert progressing(world) == ("False", "Blocked", about)
    assert not world.delayed
    world.publish(a_package("etcd", "1.0.0"))
    world.settle()
    assert progressing(world)[1] == "RollingOut"


def test_an_image_that_is_not_there_is_tried_again() -> None:
    world = a_world()
    bundle = world.bundles.images.pop("registry/etcd:v1.0.0")
    world.settle()
    assert progressing(world) == (
        "True",
        "Retrying",
        'error for resolved bundle "etcd.v1.0.0" with version "1.0.0": registry/etcd:v1.0.0: no such image',
    )
    world.bundles.images["registry/etcd:v1.0.0"] = bundle
    world.later(seconds=30)
    world.runs()
    assert world.conditions()["Installed"][0] == "True"


def test_v1_md_26_3_r2_a_namespace_that_is_made_later() -> None:
    world = a_world(extension=an_extension(spec={"namespace": "later"}))
    world.settle()
    assert progressing(world)[1] == "Retrying"
    assert 'namespaces "later" not found' in progressing(world)[2]
    world.objects.setdefault_namespace("later")
    world.later(seconds=20)
    world.runs()
    assert world.conditions()["Installed"][0] == "True"


def test_v1_md_26_3_r5_an_edit_without_consequences_makes_no_revision() -> None:
    world = installed()
    with world.edited(EXTENSION) as found:
        found["spec"]["install"] = {"preflight": {"crdUpgradeSafety": {"enforcement": "None"}}}
        found["metadata"]["generation"] = 2
    world.settle()
    assert world.revision(2) not in world.objects
    assert {one["observedGeneration"] for one in world.status()["conditions"]} == {2}


def test_v1_md_21_4_a_deadline_is_patched_in_place() -> None:
    world = installed()
    with world.edited(EXTENSION) as found:
        found["spec"]["progressDeadlineMinutes"] = 20
    world.settle()
    assert world.objects[world.revision(1)]["spec"]["progressDeadlineMinutes"] == 20
    assert world.revision(2) not in world.objects


def test_v1_md_28_1_a_roll_out_that_hangs_does_not_stop_who_edits_the_spec() -> None:
    world = a_world("1.0.0", "1.1.0", version="1.0.0")
    world.settle()
    world.runs(ready=False)
    world.later(seconds=3)
    assert progressing(world)[1] == "RollingOut"
    with world.edited(EXTENSION) as found:
        found["spec"]["source"]["catalog"]["version"] = "1.1.0"
        found["metadata"]["generation"] = 2
    world.settle()
    world.runs()
    world.later(seconds=20)
    assert world.status()["install"]["bundle"]["version"] == "1.1.0"
    assert world.objects[world.revision(1)]["spec"]["lifecycleState"] == "Archived"


def test_v1_md_13_8_row_29_two_catalogs_that_tie() -> None:
    world = a_world()
    world.put(a_served_catalog("d", "registry/c:v1", world.catalogs.reference("registry/c:v1")))
    world.settle()
    assert progressing(world)[2] == 'found bundles for package "etcd" in multiple catalogs with the same priority [c d]'
    world.remove(CLUSTER_CATALOG.ref("d"))
    world.settle()
    assert CUSTOM_RESOURCE_DEFINITION.ref("etcds.example.com") in world.objects


@pytest.mark.measured
def test_v1_md_11_3_what_is_deprecated_is_reported() -> None:
    world = a_world()
    reported = {"package": "no more", "channel/stable": "use fast", "bundle/etcd.v1.0.0": "broken"}
    world.publish(replace(a_package("etcd", "1.0.0"), deprecations=reported))
    world.settle()
    world.runs()
    assert world.conditions()["Deprecated"] == ("True", "Deprecated", "no more\nuse fast\nbroken")
    assert world.conditions()["BundleDeprecated"] == ("True", "Deprecated", "broken")


@pytest.mark.measured
def test_a_selector_that_is_none_asks_nobody() -> None:
    world = a_world(selector={"matchExpressions": [{"key": "a", "operator": "bad"}]})
    world.settle()
    assert progressing(world)[2] == 'desired catalog selector is invalid: "bad" is not a valid label selector operator'


@pytest.mark.measured
@pytest.mark.parametrize(
    ("state", "why"),
    [
        ({"packages": []}, 'no bundles found for package "etcd"'),
        ({"availabilityMode": "Unavailable"}, 'no bundles found for package "etcd"'),
        ({"resolvedSource": None}, "nil status.resolvedSource value"),
    ],
    ids=["package", "mode", "source"],
)
def test_v1_md_13_2_catalogs_that_have_nothing(state: dict[str, Any], why: str) -> None:
    world = a_world()
    if "packages" in state:
        world.publish(a_package("other", "1.0.0"))
    with world.edited(CLUSTER_CATALOG.ref("c")) as found:
        if "availabilityMode" in state:
            found["spec"]["availabilityMode"] = "Unavailable"
        if "resolvedSource" in state:
            del found["status"]["resolvedSource"]
    world.settle()
    assert why in progressing(world)[2]


def written(package: str, version: str, **package_fields: str) -> tuple[dict[str, Any], ...]:
    """The documents of a package with one version."""
    name = f"{package}.v{version}"
    identity = {"type": "olm.package", "value": {"packageName": package, "version": version}}
    return (
        {"schema": "olm.package", "name": package, **package_fields},
        {"schema": "olm.channel", "name": "stable", "package": package, "entries": [{"name": name}]},
        {
            "schema": "olm.bundle", "name": name, "package": package, "image": f"registry/{package}:v{version}",
            "properties": [identity],
        },
    )  # fmt: skip


def test_v1_md_9_a_package_without_a_default_channel_is_installed() -> None:
    world = a_world()
    world.catalogs.written["etcd"] = written("etcd", "1.0.0")
    world.settle()
    world.runs()
    assert world.status()["install"]["bundle"]["version"] == "1.0.0"


@pytest.mark.measured
@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({"schema": "olm.channel", "package": "etcd", "name": "beta", "entries": 1}, "error loading package"),
        ({"package": "etcd"}, "error loading package"),
        ({"schema": "olm.bundle", "package": "etcd", "name": 7}, 'expected value for key "name" to be a string'),
    ],
    ids=["no list", "no schema", "a number as name"],
)
def test_v1_md_9_what_cannot_be_read_is_reported(document: dict[str, Any], why: str) -> None:
    world = a_world()
    world.catalogs.written["etcd"] = (*written("etcd", "1.0.0"), document)
    world.settle()
    assert why in progressing(world)[2]


@pytest.mark.measured
def test_documents_that_are_not_here_any_more_are_reported() -> None:
    world = a_world()
    world.catalogs.written["etcd"] = written("etcd", "1.0.0")
    world.catalogs.trouble = Unavailable("Unreachable", "connection refused")
    world.settle()
    assert "connection refused" in progressing(world)[2]


@pytest.mark.measured
def test_a_pull_that_was_ended_is_reported() -> None:
    world = a_world()
    outcome = world.decide(Job("cluster_extension/install_bundle", EXTENSION), Attempt(ended="ended after 600 s"))
    write = outcome.writes[0]
    assert isinstance(write, SetStatus)
    assert "the pull was ended after 600 s" in str(write.status)


@pytest.mark.measured
def test_an_object_that_fits_no_secret_is_reported() -> None:
    world = a_world()
    noise = random.Random(1).randbytes(1_250_000).hex()
    csv, crd, settings = a_bundle("etcd", "1.0.0")
    world.bundles.images["registry/etcd:v1.0.0"] = (csv, crd, {**settings, "data": {"noise": noise}})
    world.settle()
    assert "exceeds maximum Secret data size" in progressing(world)[2]


def a_world_of_many(count: int) -> World:
    world = a_world()
    settings = (a_config_map(f"settings-{number:04}") for number in range(count))
    world.bundles.images["registry/etcd:v1.0.0"] = a_bundle("etcd", "1.0.0", *settings)
    return world


def test_a_bundle_of_many_objects_has_several_phases_of_a_kind() -> None:
    world = a_world_of_many(55)
    world.settle()
    world.runs()
    assert progressing(world)[1] == "Succeeded"
    phases = {one["name"]: len(one["objects"]) for one in world.objects[world.revision(1)]["spec"]["phases"]}
    assert (phases["configuration"], phases["configuration-2"]) == (50, 6)
    assert CONFIG_MAP.ref("settings-0054", PLACE) in world.objects


def test_a_bundle_of_a_thousand_objects_becomes_a_revision() -> None:
    made = a_world_of_many(994).decide(Job("cluster_extension/install_bundle", EXTENSION)).writes[-1]
    assert isinstance(made, Create)
    assert [len(phase["objects"]) for phase in made.manifest["spec"]["phases"]] == [50] * 20


@pytest.mark.measured
def test_more_than_a_thousand_objects_are_refused_and_nothing_is_left_of_them() -> None:
    world = a_world_of_many(995)
    world.settle()
    why = "its 1001 objects are 21 phases: a revision has 20 phases of 50 objects at most"
    assert progressing(world)[2].endswith(why)
    assert not any(ref.kind in ("Secret", "ClusterObjectSet") for ref in world.objects)


def test_what_was_made_for_a_revision_that_never_came_goes_with_the_extension() -> None:
    world = a_world()
    world.refused[world.revision(1)] = WriteFailure("forbidden", "you may not", 0, world.revision(1))
    world.settle()
    assert "you may not" in progressing(world)[2]
    delete(world, EXTENSION)
    assert not any(ref.kind == "Secret" for ref in world.objects)


@pytest.mark.parametrize("served", [("cert-manager.io/v1", "Certificate"), ("operator.openshift.io/v1", "ServiceCA")])
def test_certificates_are_made_by_who_is_there(served: tuple[str, str]) -> None:
    class Serving:
        def version(self) -> str:
            return ""

        def find(self, api_version: str, kind: str) -> kinds.Kind | None:
            return kinds.SECRET if (api_version, kind) == served else None

    assert cert_provider(Serving()) == {"Certificate": "cert-manager", "ServiceCA": "openshift-service-ca"}[served[1]]


class Asked(World):
    """A cluster that counts who asks for kinds of cert-manager, which it may serve."""

    asked, is_served = 0, False

    def find(self, api_version: str, kind: str) -> kinds.Kind | None:
        if api_version != "cert-manager.io/v1":
            return super().find(api_version, kind)
        self.asked += 1
        return kinds.Kind(api_version, kind, f"{kind.lower()}s") if self.is_served else None


def an_asked_world(bundle: tuple[Any, ...]) -> Asked:
    world = Asked()
    world.bundles.images["registry/etcd:v1.0.0"] = bundle
    world.publish(a_package("etcd", "1.0.0"))
    for place in (PLACE, "olm"):
        world.objects.setdefault_namespace(place)
    world.put(an_extension())
    return world


def test_who_makes_certificates_is_not_asked_for_a_bundle_that_needs_none() -> None:
    world = an_asked_world(a_bundle("etcd", "1.0.0"))
    world.settle()
    world.runs()
    assert progressing(world)[1] == "Succeeded"
    assert not world.asked
    world.is_served = True
    with world.edited(EXTENSION) as found:
        found["metadata"]["annotations"] = {"touched": "true"}
    world.settle()
    assert not world.asked, "and whoever comes later renders nothing anew"


@pytest.mark.measured
def test_a_bundle_with_webhooks_is_rendered_anew_when_somebody_makes_certificates() -> None:
    world = an_asked_world(with_webhook(a_bundle("etcd", "1.0.0")))
    world.settle()
    assert "webhookDefinitions are not supported" in progressing(world)[2]
    world.is_served = True
    made = world.decide(Job("cluster_extension/install_bundle", EXTENSION)).writes[-1]
    assert isinstance(made, Create)
    world.put({**made.manifest, "status": {"conditions": [{"type": "Succeeded", "status": "True"}]}})
    assert world.decide(Job("cluster_extension/install_bundle", EXTENSION)).message == "no bundle is to be fetched"
    world.is_served = False
    assert "webhookDefinitions" in world.decide(Job("cluster_extension/install_bundle", EXTENSION)).message


@pytest.mark.measured
def test_v1_md_11_an_extension_that_has_no_end_soon_is_told_of() -> None:
    world = a_world()
    world.bundles.images.clear()
    world.settle()
    assert progressing(world)[1] == "Retrying", "at once: that is an end for now"
    slow = a_world()
    slow.decide(Job("cluster_extension/resolve_extension", EXTENSION))
    assert not slow.decide(Job("cluster_extension/resolve_extension", EXTENSION)).writes
    slow.time += QUIET
    assert slow.decide(Job("cluster_extension/resolve_extension", EXTENSION)).writes


def test_a_fight_for_a_field_slows_down_and_is_reported() -> None:
    world = installed()
    for number in range(4):
        world.api.merge(SETTINGS, {"data": {"version": f"mine {number}"}})
        world.settle()
    assert world.objects[SETTINGS]["data"] == {"version": "mine 3"}, "put back once, and not again so soon"
    contested = [one for one in world.events if one.reason == "Contested"]
    assert {one.ref for one in world.events if one not in contested} == {EXTENSION}
    assert f"Object ConfigMap.v1 {PLACE}/{SETTINGS.name}" in contested[0].message
    world.later(seconds=11)
    assert world.objects[SETTINGS]["data"] == {"version": "1.0.0"}
    with world.edited(SETTINGS) as found:
        for entry in found["metadata"]["managedFields"]:
            entry["time"] = "2099-01-01T00:00:00Z"
    world.api.merge(SETTINGS, {"data": {"version": "mine"}})
    world.settle()
    assert world.objects[SETTINGS]["data"] == {"version": "1.0.0"}, "a time that somebody wrote there stops nothing"


def test_v1_md_22_some_archived_revisions_are_kept() -> None:
    world = installed(*(f"1.{minor}.0" for minor in range(9)), version="1.0.0")
    for minor in range(1, 9):
        with world.edited(EXTENSION) as found:
            found["spec"]["source"]["catalog"]["version"] = f"1.{minor}.0"
            found["metadata"]["generation"] = minor + 1
        world.settle()
        world.runs()
        for _ in range(3):
            world.later(seconds=6)
        assert world.status()["install"]["bundle"]["version"] == f"1.{minor}.0"
    left = [ref.name for ref in world.objects if ref.kind == "ClusterObjectSet"]
    assert sorted(left) == [f"etcd-{number}" for number in range(4, 10)]
    secrets = {labels_of(world.objects[ref])[names.V1_REVISION_NAME] for ref in world.objects if ref.kind == "Secret"}
    assert secrets == set(left), "the Secrets of those that went are gone, too"


def test_who_was_killed_between_secrets_and_revision_finds_them_again() -> None:
    world = a_world()
    world.refused[world.revision(1)] = WriteFailure("unavailable", "killed", 0, world.revision(1))
    world.settle()
    [secret] = [ref for ref in world.objects if ref.kind == "Secret"]
    assert [one["kind"] for one in metadata(world.objects[secret])["ownerReferences"]] == ["ClusterExtension"]
    world.refused.clear()
    world.receive(names.UPDATED, EXTENSION)
    world.settle()
    world.runs()
    assert [ref for ref in world.objects if ref.kind == "Secret"] == [secret]
    assert [one["kind"] for one in metadata(world.objects[secret])["ownerReferences"]] == ["ClusterObjectSet"]
    assert world.conditions()["Installed"][0] == "True"


@pytest.mark.measured
def test_what_was_left_behind_belongs_to_the_next_extension_of_that_name() -> None:
    world = installed()
    world.api.delete(EXTENSION, propagation="Orphan")
    world.settle()
    assert not metadata(world.objects[world.revision(1)]).get("ownerReferences")
    assert SETTINGS in world.objects
    again = an_extension()
    world.put({**again, "metadata": {**again["metadata"], "uid": "uid-again"}})
    world.settle()
    assert [one["uid"] for one in metadata(world.objects[world.revision(1)])["ownerReferences"]] == ["uid-again"]
    assert world.status()["install"]["bundle"]["version"] == "1.0.0"
    assert world.revision(2) not in world.objects


def test_v1_md_28_13_a_name_that_no_status_may_have() -> None:
    world = a_world()
    package = a_package("etcd", "1.0.0")
    [bundle] = package.bundles.values()
    named = replace(bundle, name="etcd.v1.0.0+Build")
    channel = replace(package.channels[0], entries=(replace(package.channels[0].entries[0], name=named.name),))
    world.publish(replace(package, channels=(channel,), bundles={named.name: named}))
    world.settle()
    world.runs()
    assert world.conditions()["Installed"][0] == "True"
    assert "install" not in world.status()
