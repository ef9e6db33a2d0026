"""From Subscription to installed operator and onwards, through every step of the catalog side."""

from __future__ import annotations

from datetime import timedelta

import pytest

from eventing.events.job import Job
from functions.subscription.write_install_plan import write_install_plan
from shared import kinds, names
from shared.api.manifest import Manifest, labels_of, metadata, name_of
from shared.api.views import CatalogSource
from shared.domain.catalog.model import Property
from shared.kinds import Kind, Ref
from shared.ports import Attempt, Policy, Unavailable, WriteFailure
from shared.step import Create
from tests.functions.subscription.world import (
    World,
    a_bundle,
    a_catalog_source,
    a_package,
    a_subscription,
    an_operator_group,
)
from tests.kit.kept import kept
from tests.kit.world import NOW

pytestmark = pytest.mark.unmeasured

IMAGE = "registry/local:v1"


@kept
def a_world(*more: Manifest, policy: Policy | None = None, groups: int = 1) -> World:
    """A catalog that offers etcd 1.0.0 and vault 1.0.0, and a namespace with an OperatorGroup."""
    world = World(policy=policy or Policy())
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0"), a_package("vault", "1.0.0"))
    for package in ("etcd", "vault"):
        for version in ("1.0.0", "2.0.0", "3.0.0"):
            world.bundles.images[f"registry/{package}:v{version}"] = a_bundle(package, version)
    for manifest in (a_catalog_source(), *(an_operator_group(name=f"group-{number}") for number in range(groups))):
        world.put(manifest)
    world.settle()
    for manifest in more:
        world.put(manifest)
    world.settle()
    return world


@kept
def installed(*subscriptions: Manifest, policy: Policy | None = None) -> World:
    """The world after everything that could be unpacked was."""
    world = a_world(*subscriptions, policy=policy)
    for _ in range(3):
        world.finish_jobs()
        world.settle()
    return world


def the(world: World, kind: Kind, namespace: str = "ns") -> list[Manifest]:
    return sorted(world.list(kind, namespace), key=lambda one: one.get("spec", {}).get("generation", 0))


def status(world: World, name: str = "etcd") -> Manifest:
    found: Manifest = world.objects[kinds.SUBSCRIPTION.ref(name, "ns")]["status"]
    return found


def conditions(world: World, name: str = "etcd") -> dict[str, tuple[str, str]]:
    """Reason and message of each condition that is True."""
    true = (one for one in status(world, name).get("conditions", ()) if one["status"] == "True")
    return {one["type"]: (one.get("reason", ""), one.get("message", "")) for one in true}


@pytest.mark.parametrize("unpack", ["job", "direct"])
def test_an_automatic_install_goes_from_subscription_to_installed_csv(unpack: str) -> None:
    world = installed(a_subscription(), policy=Policy(unpack=unpack))  # type: ignore[arg-type]  # why: a parameter
    [plan] = the(world, kinds.INSTALL_PLAN)
    assert plan["spec"] == {
        "clusterServiceVersionNames": ["etcd.v1.0.0"], "approval": "Automatic", "approved": True, "generation": 1,
    }  # fmt: skip
    assert plan["status"]["phase"] == "Complete"
    assert plan["status"]["catalogSources"] == ["local"]
    assert {step["status"] for step in plan["status"]["plan"]} == {"Created"}
    reported = status(world)
    assert (reported["state"], reported["installedCSV"], reported["currentCSV"]) == (
        "AtLatestKnown",
        "etcd.v1.0.0",
        "etcd.v1.0.0",
    )
    assert reported["installPlanRef"]["uid"] == reported["installplan"]["uuid"] == metadata(plan)["uid"]
    assert conditions(world) == {}
    assert "operators.coreos.com/etcd.ns" in labels_of(world.objects[kinds.SUBSCRIPTION.ref("etcd", "ns")])


def test_a_plan_creates_what_its_bundle_holds_and_nothing_twice() -> None:
    world = installed(a_subscription())
    [plan] = the(world, kinds.INSTALL_PLAN)
    planned = [step["resource"]["kind"] for step in plan["status"]["plan"]]
    assert planned == [
        "ClusterServiceVersion", "CustomResourceDefinition", "ServiceAccount", "Role", "RoleBinding", "ClusterRole",
        "ClusterRoleBinding",
    ]  # fmt: skip
    manifests = {step["resource"]["manifest"] for step in plan["status"]["plan"]}
    assert len(manifests) == 1, "catalog.md 8.10.120: steps of image bundles are ConfigMap references"
    csv = world.objects[kinds.CLUSTER_SERVICE_VERSION.ref("etcd.v1.0.0", "ns")]
    assert "replaces" not in csv["spec"], "the catalog says what is replaced, not the bundle"
    assert labels_of(csv)[names.MANAGED] == "true"
    [account] = [one for one in the(world, kinds.SERVICE_ACCOUNT) if name_of(one) == "etcd-operator"]
    assert [owner["uid"] for owner in metadata(account)["ownerReferences"]] == [metadata(csv)["uid"]]


def test_at_rest_no_step_writes_and_no_event_enqueues() -> None:
    world = installed(a_subscription(), a_subscription("vault"))
    world.requests.clear()
    for ref in list(world.objects):
        world.receive(names.DEPENDENT_CHANGED, ref)
    world.settle()
    assert world.requests["write"] == 0
    assert world.requests["read"] < 60


def test_each_component_has_a_plan_of_its_own() -> None:
    world = installed(a_subscription(), a_subscription("vault", installPlanApproval="Manual"))
    automatic, manual = sorted(the(world, kinds.INSTALL_PLAN), key=lambda one: str(one["spec"]["approval"]))
    assert (automatic["spec"]["clusterServiceVersionNames"], automatic["status"]["phase"]) == (
        ["etcd.v1.0.0"], "Complete",
    )  # fmt: skip
    assert (manual["spec"]["clusterServiceVersionNames"], manual["status"]["phase"]) == (
        ["vault.v1.0.0"], "RequiresApproval",
    )  # fmt: skip
    assert {automatic["spec"]["generation"], manual["spec"]["generation"]} == {1, 2}
    assert conditions(world, "vault")["InstallPlanPending"][0] == "RequiresApproval"
    assert names.PLAN_WAITING in world.emitted


def test_in_namespace_scope_one_plan_holds_all_and_any_manual_subscription_makes_it_manual() -> None:
    policy = Policy(plan_scope="namespace")
    world = installed(a_subscription(), a_subscription("vault", installPlanApproval="Manual"), policy=policy)
    [plan] = the(world, kinds.INSTALL_PLAN)
    assert plan["spec"]["clusterServiceVersionNames"] == ["etcd.v1.0.0", "vault.v1.0.0"]
    assert plan["spec"]["approval"] == "Manual", "catalog.md 8.7.89: any Manual Subscription makes every plan Manual"
    assert [owner["name"] for owner in metadata(plan)["ownerReferences"]] == ["etcd", "vault"]


def approve(world: World) -> None:
    for plan in the(world, kinds.INSTALL_PLAN):
        world.put({**plan, "spec": {**plan["spec"], "approved": True}})
    world.settle()


def test_starting_csv_and_manual_need_an_approval_for_each_version() -> None:
    """catalog.md 8.7.79: the first plan holds only the starting CSV, the second one the head, again unapproved."""
    subscription = a_subscription(startingCSV="etcd.v1.0.0", installPlanApproval="Manual")
    world = a_world()
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0", "2.0.0"))
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    world.put(subscription)
    world.settle()
    world.finish_jobs()
    world.settle()
    approve(world)
    world.finish_jobs()
    world.settle()
    first, second = the(world, kinds.INSTALL_PLAN)
    assert first["spec"]["clusterServiceVersionNames"] == ["etcd.v1.0.0"]
    assert first["status"]["phase"] == "Complete"
    assert second["spec"]["clusterServiceVersionNames"] == ["etcd.v2.0.0"]
    assert second["spec"]["approved"] is False
    assert status(world)["installedCSV"] == "etcd.v1.0.0"
    assert status(world)["state"] == "UpgradePending"


def test_a_newer_catalog_leads_to_the_next_version() -> None:
    """catalog.md 8.1.27: a new head in a global catalog makes Subscriptions of other namespaces move."""
    world = installed(a_subscription())
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0", "2.0.0", "3.0.0"))
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    for _ in range(4):
        world.settle()
        world.finish_jobs()
    world.settle()
    plans = the(world, kinds.INSTALL_PLAN)
    assert [plan["spec"]["clusterServiceVersionNames"] for plan in plans] == [
        ["etcd.v1.0.0"], ["etcd.v2.0.0"], ["etcd.v3.0.0"],
    ]  # fmt: skip
    replaced = world.objects[kinds.CLUSTER_SERVICE_VERSION.ref("etcd.v3.0.0", "ns")]["spec"]["replaces"]
    assert replaced == "etcd.v2.0.0"
    assert status(world)["installedCSV"] == "etcd.v3.0.0"
    assert status(world)["installPlanGeneration"] == 3


def test_a_catalog_that_polls_finds_the_new_digest_by_itself() -> None:
    """catalog.md 8.3.42: the same tag with a new digest is noticed, and the Subscription upgrades."""
    world = installed(a_subscription())
    poll = {"registryPoll": {"interval": "10m"}}
    world.put(a_catalog_source(updateStrategy=poll) | {"status": the(world, kinds.CATALOG_SOURCE, "olm")[0]["status"]})
    world.settle()
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0", "2.0.0"))
    world.later(minutes=9)
    assert status(world)["currentCSV"] == "etcd.v1.0.0"
    world.later(minutes=2)
    world.finish_jobs()
    world.settle()
    assert status(world)["installedCSV"] == "etcd.v2.0.0"


def test_hold_keeps_the_installed_version_and_reports_it() -> None:
    world = installed(a_subscription())
    subscription = world.objects[kinds.SUBSCRIPTION.ref("etcd", "ns")]
    held = {**metadata(subscription), "annotations": {names.HOLD: "release week"}}
    world.put({**subscription, "metadata": held})
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0", "2.0.0"))
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    world.settle()
    assert len(the(world, kinds.INSTALL_PLAN)) == 1
    assert conditions(world)["Held"] == ("HeldByAnnotation", "etcd.v1.0.0 is held: release week")


def test_a_deleted_csv_is_not_installed_again_and_the_subscription_reports_it() -> None:
    """catalog.md 3.10: AtLatestKnown, CSV deleted, becomes UpgradePending with the reference still set."""
    world = installed(a_subscription())
    world.remove(kinds.CLUSTER_SERVICE_VERSION.ref("etcd.v1.0.0", "ns"))
    world.receive(names.DEPENDENT_CHANGED, kinds.SUBSCRIPTION.ref("etcd", "ns"))
    world.settle()
    assert len(the(world, kinds.INSTALL_PLAN)) == 1
    assert status(world)["state"] == "UpgradePending"
    reason, message = conditions(world)["InstalledCSVMissing"]
    assert reason == "ClusterServiceVersionDeleted"
    assert "delete the Subscription and create it again" in message


def test_deleting_an_unapproved_plan_makes_a_new_one() -> None:
    """catalog.md 8.6.64: a new plan with the next generation, again RequiresApproval."""
    world = installed(a_subscription(installPlanApproval="Manual"))
    [first] = the(world, kinds.INSTALL_PLAN)
    world.remove(kinds.INSTALL_PLAN.ref(name_of(first), "ns"))
    world.settle()
    [second] = the(world, kinds.INSTALL_PLAN)
    assert name_of(second) != name_of(first)
    assert (second["spec"]["generation"], second["status"]["phase"]) == (2, "RequiresApproval")
    assert status(world)["installPlanRef"]["name"] == name_of(second)


def test_deleting_the_plan_of_an_upgrade_that_is_offered_no_more_leaves_the_installed_version() -> None:
    """catalog.md 3.6: without a new plan the Subscription stands where it stood, and does not seem to resolve."""
    world = installed(a_subscription())
    before = status(world)["installPlanRef"]["name"]
    manual = a_subscription(installPlanApproval="Manual")
    world.put({**world.objects[kinds.SUBSCRIPTION.ref("etcd", "ns")], "spec": manual["spec"]})
    for versions in (("1.0.0", "2.0.0"), ("1.0.0",)):
        world.catalogs.publish(IMAGE, a_package("etcd", *versions))
        world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
        world.settle()
        world.finish_jobs()
        world.settle()
    pending = status(world)["installPlanRef"]["name"]
    assert (pending != before, status(world)["currentCSV"]) == (True, "etcd.v2.0.0")
    world.remove(kinds.INSTALL_PLAN.ref(pending, "ns"))
    world.settle()
    reported = status(world)
    assert (reported["state"], reported["installedCSV"], reported["currentCSV"]) == (
        "AtLatestKnown",
        "etcd.v1.0.0",
        "etcd.v1.0.0",
    )
    assert "installPlanRef" not in reported


def test_a_failing_unpack_is_reported_and_tried_again() -> None:
    """catalog.md 3.7 H, 5.6, 8.7.74 and 8.13.158: BundleUnpackFailed with reason and message; currentCSV stays."""
    world = a_world()
    bundle = world.bundles.images.pop("registry/etcd:v1.0.0")
    world.put(a_subscription())
    world.settle()
    assert conditions(world) == {"BundleUnpacking": ("UnpackingInProgress", "")}
    assert the(world, kinds.INSTALL_PLAN) == []
    world.finish_jobs()
    world.settle()
    reason, message = conditions(world)["BundleUnpackFailed"]
    assert "BundleUnpacking" not in conditions(world)
    assert reason == "BundleUnpackFailed"
    assert message.startswith("Bundle unpacking failed - DeadlineExceeded: too slow. Auto-retry in ~5 min after job")
    assert [event.reason for event in world.events] == ["BundleUnpackFailed"]
    world.bundles.images["registry/etcd:v1.0.0"] = bundle
    world.later(minutes=6)
    world.finish_jobs()
    world.settle()
    assert status(world)["installedCSV"] == "etcd.v1.0.0"
    assert conditions(world) == {}, "catalog.md 3.7 H and 8.13.159: no unpack conditions after success"


def test_a_failure_stays_in_its_component() -> None:
    world = installed(a_subscription(), a_subscription("nothing"))
    assert status(world)["installedCSV"] == "etcd.v1.0.0"
    reason, message = conditions(world, "nothing")["ResolutionFailed"]
    assert reason == "ConstraintsNotSatisfiable"
    line = (
        "constraints not satisfiable: no operators found in package nothing in the catalog referenced by subscription "
        "nothing, subscription nothing exists"
    )
    assert message.splitlines()[:2] == [
        line,
        "Subscription nothing cannot be satisfied, because all of this is so:",
    ]
    assert len(message.splitlines()) <= 6, "OLM's line, and five of ours"
    assert [(event.ref.kind, event.reason) for event in world.events] == [("Namespace", "ResolutionFailed")]


@pytest.mark.parametrize("groups", [0, 2])
def test_without_exactly_one_operator_group_every_subscription_reports_it(groups: int) -> None:
    """catalog.md 8.7.88: OLM only logs it."""
    world = a_world(a_subscription(), groups=groups)
    reason, message = conditions(world)["ResolutionFailed"]
    assert reason == "ErrorPreventedResolution"
    assert message.splitlines()[0] == f"expected 1 OperatorGroup in the namespace, found {groups}"
    end = "delete operatorgroup group-1" if groups else "else for ns only: olmf install etcd -n ns"
    assert message.splitlines()[1].endswith(end)
    for group in the(world, kinds.OPERATOR_GROUP):
        world.remove(kinds.OPERATOR_GROUP.ref(name_of(group), "ns"))
    world.put(an_operator_group())
    world.settle()
    world.finish_jobs()
    world.settle()
    assert status(world)["installedCSV"] == "etcd.v1.0.0"


def test_a_needed_api_is_named_and_found_once_it_is_installed() -> None:
    """catalog.md 8.7.87: the resolution error names the API and goes away when somebody provides it."""
    needs = Property("olm.gvk.required", {"group": "example.com", "version": "v1", "kind": "Vault"})
    gives = Property("olm.gvk", {"group": "example.com", "version": "v1", "kind": "Vault"})
    world = a_world()
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0", properties=[needs]))
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    world.put(a_subscription())
    world.settle()
    reason, message = conditions(world)["ResolutionFailed"]
    assert reason == "ConstraintsNotSatisfiable"
    assert (
        "bundle etcd.v1.0.0 requires an operator providing an API with group: example.com, version: v1, kind: Vault"
        in message
    )
    world.catalogs.publish(
        IMAGE, a_package("etcd", "1.0.0", properties=[needs]), a_package("vault", "1.0.0", properties=[gives])
    )
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    for _ in range(3):
        world.settle()
        world.finish_jobs()
    world.settle()
    assert status(world)["installedCSV"] == "etcd.v1.0.0"
    assert world.get(kinds.SUBSCRIPTION.ref("vault-stable-local-olm", "ns")) is not None
    assert conditions(world) == {}


def test_a_catalog_that_cannot_be_read_leaves_the_last_good_snapshot_in_use() -> None:
    world = installed(a_subscription())
    world.catalogs.trouble = Unavailable("Unreachable", "no route to registry")
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    world.settle()
    [source] = the(world, kinds.CATALOG_SOURCE, "olm")
    assert source["status"]["reason"] == "RegistryServerError"
    assert source["status"]["connectionState"]["lastObservedState"] == "TRANSIENT_FAILURE"
    assert CatalogSource(source).content.startswith("registry/local@sha256:")
    assert conditions(world)["CatalogSourcesUnhealthy"] == (
        "UnhealthyCatalogSourceFound", "targeted catalogsource olm/local unhealthy",
    )  # fmt: skip
    world.catalogs.trouble = None
    world.later(minutes=1)
    assert conditions(world) == {}


def test_a_subscription_before_its_catalog_waits_for_it() -> None:
    """catalog.md 8.5.48: the target catalog is missing, then it comes."""
    world = World()
    world.put(an_operator_group())
    world.put(a_subscription())
    world.settle()
    assert conditions(world)["CatalogSourcesUnhealthy"][0] == "NoCatalogSourcesFound"
    assert "no operators found from catalog local in namespace olm" in conditions(world)["ResolutionFailed"][1]
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0"))
    world.bundles.images["registry/etcd:v1.0.0"] = a_bundle("etcd", "1.0.0")
    world.put(a_catalog_source())
    world.settle()
    world.finish_jobs()
    world.settle()
    assert status(world)["installedCSV"] == "etcd.v1.0.0"


def test_an_existing_csv_of_that_name_is_adopted() -> None:
    """catalog.md 8.7.81: the Subscription ends AtLatestKnown with that CSV, which is not created again."""
    csv = a_bundle("etcd", "1.0.0")[0]
    csv["metadata"]["namespace"] = "ns"
    world = a_world(csv)
    uid = metadata(world.objects[kinds.CLUSTER_SERVICE_VERSION.ref("etcd.v1.0.0", "ns")])["uid"]
    world.put(a_subscription())
    world.settle()
    world.finish_jobs()
    world.settle()
    [plan] = the(world, kinds.INSTALL_PLAN)
    assert plan["status"]["plan"][0]["status"] == "Present"
    assert status(world)["state"] == "AtLatestKnown"
    assert metadata(world.objects[kinds.CLUSTER_SERVICE_VERSION.ref("etcd.v1.0.0", "ns")])["uid"] == uid


def a_copy(home: str = "operators") -> Manifest:
    """The etcd 1.0.0 that serves the namespace from another one."""
    csv = a_bundle("etcd", "1.0.0")[0]
    meta = {**metadata(csv), "namespace": "ns", "labels": {names.COPIED_FROM: home}}
    return {**csv, "metadata": meta, "status": {"phase": "Succeeded", "reason": "Copied"}}


def test_a_copied_csv_of_that_name_refuses_the_subscription_and_its_end_installs_it() -> None:
    world = installed(a_copy(), a_subscription(), a_subscription("vault"))
    reason, message = conditions(world)["ResolutionFailed"]
    assert reason == "ConstraintsNotSatisfiable"
    assert message == (
        "constraints not satisfiable: etcd.v1.0.0 is installed for this namespace already, from namespace operators, "
        "and its copy here has the same name, subscription etcd exists. Use that one and delete the Subscription, or "
        "leave this namespace out of the OperatorGroup of namespace operators; the install goes on by itself once the "
        "copy is gone."
    )
    assert status(world, "vault")["installedCSV"] == "vault.v1.0.0", "its neighbour goes on"
    assert [plan["spec"]["clusterServiceVersionNames"] for plan in the(world, kinds.INSTALL_PLAN)] == [["vault.v1.0.0"]]
    world.remove(Ref.of(a_copy()))
    world.settle()
    world.finish_jobs()
    world.settle()
    assert (status(world)["state"], status(world)["installedCSV"]) == ("AtLatestKnown", "etcd.v1.0.0")
    assert "ResolutionFailed" not in conditions(world)
    assert names.COPIED_FROM not in labels_of(world.objects[Ref.of(a_copy())])


def test_a_copy_that_comes_before_its_plan_is_carried_out_is_told_on_the_subscription() -> None:
    world = installed(a_subscription(installPlanApproval="Manual"))
    world.put(a_copy())
    approve(world)
    world.later(minutes=10)
    reason, message = conditions(world)["InstallPlanPending"]
    assert (reason, "from namespace operators" in message) == ("Installing", True)
    world.remove(Ref.of(a_copy()))
    world.later(seconds=5)
    assert status(world)["state"] == "AtLatestKnown"


def test_an_interrupted_run_leaves_no_second_plan() -> None:
    world = a_world(a_subscription())
    world.finish_jobs()
    world.settle()
    [plan] = the(world, kinds.INSTALL_PLAN)
    subscription = world.objects[kinds.SUBSCRIPTION.ref("etcd", "ns")]
    world.remove(kinds.CLUSTER_SERVICE_VERSION.ref("etcd.v1.0.0", "ns"))
    world.jobs.clear()
    world.put({**plan, "status": {}})
    world.put({**subscription, "status": {"lastUpdated": "2026-01-01T00:00:00Z"}})
    world.settle()
    [again] = the(world, kinds.INSTALL_PLAN)
    assert name_of(again) == name_of(plan)
    assert again["status"]["phase"] == "Complete"
    assert status(world)["installedCSV"] == "etcd.v1.0.0"


def test_with_a_retry_interval_a_failed_job_is_followed_by_another_one() -> None:
    """catalog.md 8.13.160: the image is pushed later, and the retry annotation brings it in."""
    world = a_world()
    [group] = the(world, kinds.OPERATOR_GROUP)
    world.put({**group, "metadata": {**metadata(group), "annotations": {names.UNPACK_RETRY_INTERVAL: "1s"}}})
    bundle = world.bundles.images.pop("registry/etcd:v1.0.0")
    world.put(a_subscription())
    world.settle()
    world.finish_jobs()
    world.settle()
    world.bundles.images["registry/etcd:v1.0.0"] = bundle
    world.later(seconds=5)
    world.finish_jobs()
    world.settle()
    assert len(the(world, kinds.JOB, "olm")) == 2
    assert status(world)["installedCSV"] == "etcd.v1.0.0"


@pytest.mark.measured
@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        pytest.param(
            {names.UNPACK_TIMEOUT: "invalid"},
            "failed to parse unpack timeout annotation(operatorframework.io/bundle-unpack-timeout: invalid): "
            'time: invalid duration "invalid"',
            id="catalog.md 8.13.155: a timeout that is no duration",
        ),
        pytest.param(
            {names.UNPACK_RETRY_INTERVAL: "5x"},
            "failed to parse unpack retry annotation(operatorframework.io/bundle-unpack-min-retry-interval: 5x): "
            'time: unknown unit "x" in duration "5x"',
            id="catalog.md 8.13.155: a retry interval that is no duration",
        ),
    ],
)
def test_a_bad_unpack_annotation_is_reported(annotation: Manifest, message: str) -> None:
    world = a_world()
    [group] = the(world, kinds.OPERATOR_GROUP)
    world.put({**group, "metadata": {**metadata(group), "annotations": annotation}})
    world.put(a_subscription())
    world.settle()
    assert conditions(world)["BundleUnpackFailed"] == ("ErrorPreventedUnpacking", message)
    world.put(group)
    world.settle()
    assert set(conditions(world)) == {"BundleUnpacking"}


def test_a_bundle_without_api_version_is_reported_and_not_planned() -> None:
    """catalog.md 8.13.161: a CSV without apiVersion."""
    world = a_world()
    csv, crd = a_bundle("etcd", "1.0.0")
    world.bundles.images["registry/etcd:v1.0.0"] = ({**csv, "apiVersion": ""}, crd)
    world.put(a_subscription())
    world.settle()
    world.finish_jobs()
    world.settle()
    assert conditions(world)["BundleUnpackFailed"] == (
        "ErrorPreventedUnpacking", "bundle CSV etcd.v1.0.0 missing APIVersion",
    )  # fmt: skip


@pytest.mark.measured
def test_a_stale_job_is_deleted_and_made_again() -> None:
    """catalog.md 8.13.166: our container changed while a Job was under way."""
    world = a_world(a_subscription())
    [job] = the(world, kinds.JOB, "olm")
    world.policy = Policy(unpack_image="olm-functions:newer", unpack_timeout=timedelta(minutes=3))
    world.receive(names.BUNDLE_COLLECTED, kinds.NAMESPACE.ref("ns"))
    world.settle()
    [again] = the(world, kinds.JOB, "olm")
    assert metadata(again)["uid"] != metadata(job)["uid"]
    assert again["spec"]["template"]["spec"]["containers"][0]["image"] == "olm-functions:newer"
    assert again["spec"]["activeDeadlineSeconds"] == 180


def test_what_is_stuck_says_what_it_waits_for_and_since_when() -> None:
    world = a_world(a_subscription("nothing"))
    world.time += timedelta(hours=1)
    outcome = world.run(Job("subscription/resolve_subscriptions", kinds.NAMESPACE.ref("ns")))
    assert outcome.wait is not None
    assert outcome.wait.what.startswith("nothing: constraints not satisfiable: ")
    assert outcome.wait.since == NOW
    assert outcome.writes == ()


def test_a_running_unpack_says_what_it_waits_for() -> None:
    world = a_world(a_subscription())
    outcome = world.run(Job("bundle/unpack_bundle", kinds.NAMESPACE.ref("ns")))
    assert outcome.wait is not None
    assert (outcome.wait.what, outcome.wait.since) == ("etcd: its bundle is being unpacked", NOW)


def test_no_upgrade_is_planned_while_a_plan_is_carried_out() -> None:
    """Better than OLM, which decides again as soon as the CSV exists."""
    world = a_world()
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0", "2.0.0"))
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    role = kinds.SERVICE_ACCOUNT.ref("etcd-operator", "ns")
    world.refused[role] = WriteFailure("forbidden", "no", 0, role)
    world.put(a_subscription(startingCSV="etcd.v1.0.0"))
    world.settle()
    world.finish_jobs()
    world.settle()
    assert status(world)["installedCSV"] == "etcd.v1.0.0"
    assert len(the(world, kinds.INSTALL_PLAN)) == 1
    world.refused.clear()
    for _ in range(3):
        world.later(seconds=6)
        world.finish_jobs()
    world.settle()
    assert status(world)["installedCSV"] == "etcd.v2.0.0"


def test_with_direct_unpacking_an_image_that_is_missing_is_reported_and_tried_again() -> None:
    world = a_world(policy=Policy(unpack="direct"))
    bundle = world.bundles.images.pop("registry/etcd:v1.0.0")
    world.put(a_subscription())
    world.settle()
    assert "NotFound: registry/etcd:v1.0.0: no such image" in conditions(world)["BundleUnpackFailed"][1]
    world.bundles.images["registry/etcd:v1.0.0"] = bundle
    world.later(minutes=2)
    assert status(world)["installedCSV"] == "etcd.v1.0.0"
    assert the(world, kinds.JOB, "olm") == []


def test_a_slow_job_is_asked_for_the_troubles_of_its_pods() -> None:
    """catalog.md 8.13.153 and 3.7 F: an image that cannot be pulled is told on the Subscription."""
    world = a_world(a_subscription())
    [job] = the(world, kinds.JOB, "olm")
    trouble = {"name": "extract", "ready": False, "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no"}}}
    meta = {"name": "p", "namespace": "olm", "labels": {"job-name": name_of(job)}}
    pod = {"phase": "Pending", "containerStatuses": [trouble]}
    world.put({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "status": pod})
    world.later(seconds=20)
    assert conditions(world)["BundleUnpacking"][1].startswith("Bundle image pull failed. Common causes: Missing ICSP")


def test_a_csv_with_unreadable_properties_prevents_decisions_and_states_which() -> None:
    """resolver.md 2.5: the whole snapshot of what exists fails."""
    csv = a_bundle("vault", "1.0.0")[0]
    csv["metadata"] |= {"namespace": "ns", "annotations": {names.PROPERTIES: "nonsense"}}
    world = a_world(csv, a_subscription())
    reason, message = conditions(world)["ResolutionFailed"]
    assert reason == "ErrorPreventedResolution"
    assert message.startswith('error using catalogsource ns/@existing: failed to retrieve properties of csv "vault.v1')


def test_a_bundle_that_vanished_before_its_plan_is_unpacked_again() -> None:
    world = a_world(a_subscription())
    world.finish_jobs()
    [config_map] = the(world, kinds.CONFIG_MAP, "olm")
    world.remove(kinds.CONFIG_MAP.ref(name_of(config_map), "olm"))
    outcome = world.run(Job("subscription/write_install_plan", kinds.NAMESPACE.ref("ns")))
    assert outcome.writes == ()
    for ref in [ref for ref in world.objects if ref.kind == "Job"]:
        world.remove(ref)
    for _ in range(2):
        world.settle()
        world.finish_jobs()
    world.settle()
    assert status(world)["installedCSV"] == "etcd.v1.0.0"


def test_a_plan_that_the_server_refuses_is_reported_and_its_siblings_go_on() -> None:
    """catalog.md 8.7.76: BundleUnpackFailed with EnsureInstallPlanFailed, tried again."""
    world = a_world(a_subscription(), a_subscription("vault"))
    world.finish_jobs()
    outcome = write_install_plan(kinds.NAMESPACE.ref("ns"), world, world.catalogs, Attempt(), world, world.policy)
    etcd, _ = (Ref.of(write.manifest) for write in outcome.writes if isinstance(write, Create))
    world.refused[etcd] = WriteFailure("forbidden", "exceeded quota", 0, etcd)
    world.settle()
    reported = ("EnsureInstallPlanFailed", "error ensuring InstallPlan: exceeded quota")
    assert conditions(world) == {"BundleUnpackFailed": reported}
    assert status(world, "vault")["installedCSV"] == "vault.v1.0.0"
    world.refused.clear()
    world.later(seconds=31)
    assert (status(world)["installedCSV"], conditions(world)) == ("etcd.v1.0.0", {})


@pytest.mark.measured
def test_each_of_several_refused_plans_is_reported() -> None:
    world = a_world(a_subscription(), a_subscription("vault"))
    world.finish_jobs()
    outcome = write_install_plan(kinds.NAMESPACE.ref("ns"), world, world.catalogs, Attempt(), world, world.policy)
    for plan in [Ref.of(write.manifest) for write in outcome.writes if isinstance(write, Create)]:
        world.refused[plan] = WriteFailure("forbidden", "exceeded quota", 0, plan)
    world.settle()
    world.later(seconds=31)
    assert [conditions(world, name)["BundleUnpackFailed"][0] for name in ("etcd", "vault")] == [
        "EnsureInstallPlanFailed", "EnsureInstallPlanFailed",
    ]  # fmt: skip


def unpacked(world: World) -> None:
    """Everything under way goes as far as it can."""
    for _ in range(3):
        world.settle()
        world.finish_jobs()
    world.settle()


def test_a_group_may_leave_the_global_catalogs_out() -> None:
    """catalog.md 2.12 and 8.7.86: excluded by the annotation; its change is a trigger by itself."""
    world = a_world(groups=0)
    group = an_operator_group()
    excluded = {
        **metadata(group),
        "annotations": {"olm.operatorframework.io/exclude-global-namespace-resolution": "true"},
    }
    world.put({**group, "metadata": excluded})
    world.put(a_subscription())
    world.settle()
    assert conditions(world)["ResolutionFailed"][1].splitlines()[0] == (
        "constraints not satisfiable: no operators found from catalog local in namespace olm referenced by "
        "subscription etcd, subscription etcd exists"
    )
    world.put(group)
    unpacked(world)
    assert status(world)["installedCSV"] == "etcd.v1.0.0"


def test_a_plan_names_its_owners_and_bundles() -> None:
    """catalog.md 4.2 and 1.6: non-blocking owners; lookups are kept without conditions; steps name their catalog."""
    [plan] = the(installed(a_subscription()), kinds.INSTALL_PLAN)
    [owner] = metadata(plan)["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("Subscription", "etcd")
    assert (owner["controller"], owner["blockOwnerDeletion"]) == (False, False)
    assert name_of(plan).startswith("install-")
    [lookup] = plan["status"]["bundleLookups"]
    assert (lookup["path"], lookup["identifier"]) == ("registry/etcd:v1.0.0", "etcd.v1.0.0")
    assert lookup["catalogSourceRef"] == {"namespace": "olm", "name": "local"}
    assert "conditions" not in lookup
    sources = {(one["resource"]["sourceName"], one["resource"]["sourceNamespace"]) for one in plan["status"]["plan"]}
    assert sources == {("local", "olm")}


@pytest.mark.measured
def test_in_namespace_scope_all_subscriptions_own_a_plan_and_only_some_follow_it() -> None:
    """catalog.md 4.2 and 3.7 G: owned by all of the namespace; currentCSV of those that it is for."""
    world = installed(a_subscription(), policy=Policy(plan_scope="namespace"))
    world.put(a_subscription("vault"))
    unpacked(world)
    _, second = the(world, kinds.INSTALL_PLAN)
    assert [owner["name"] for owner in metadata(second)["ownerReferences"]] == ["etcd", "vault"]
    assert status(world)["installPlanGeneration"] == 1
    assert (status(world, "vault")["installPlanGeneration"], status(world, "vault")["installedCSV"]) == (
        2,
        "vault.v1.0.0",
    )


@pytest.mark.parametrize("left", [{}, {"phase": "RequiresApproval"}], ids=["its status", "its steps"])
def test_a_plan_whose_steps_somebody_deleted_is_made_again(left: Manifest) -> None:
    """Nobody can carry it out, so its Subscription would wait for ever."""
    world = installed(a_subscription(installPlanApproval="Manual"))
    [lost] = the(world, kinds.INSTALL_PLAN)
    world.put({**world.objects[Ref.of(lost)], "status": left})
    world.settle()
    [again] = (plan for plan in the(world, kinds.INSTALL_PLAN) if plan["metadata"]["name"] != lost["metadata"]["name"])
    assert (again["status"]["phase"], again["spec"]["approved"]) == ("RequiresApproval", False)
    [subscription] = the(world, kinds.SUBSCRIPTION)
    assert subscription["status"]["installPlanRef"]["name"] == again["metadata"]["name"]


def test_a_subscription_follows_the_status_of_its_plan() -> None:
    """catalog.md 8.6.63: written by hand, phase after phase, then deleted; without phase ours waits for approval."""
    world = installed(a_subscription(installPlanApproval="Manual"))
    [plan] = the(world, kinds.INSTALL_PLAN)
    ref, steps = Ref.of(plan), plan["status"]["plan"]
    condition = {"type": "Installed", "status": "False", "reason": "InstallComponentFailed"}
    kept = plan["status"]["conditions"]
    for changed, want in (
        ({"phase": ""}, {"InstallPlanPending": ("RequiresApproval", "")}),
        ({"phase": "RequiresApproval"}, {"InstallPlanPending": ("RequiresApproval", "")}),
        ({"phase": "Failed"}, {"InstallPlanFailed": ("InstallPlanFailed", "")}),
        ({"phase": "Failed", "conditions": [condition, *kept]}, {"InstallPlanFailed": ("InstallComponentFailed", "")}),
    ):
        status = {**plan["status"], "catalogSources": ["local"], "plan": steps, **changed}
        world.put({**world.objects[ref], "status": status})
        world.settle()
        reported = conditions(world)
        assert ("Blocked" in reported) is (changed["phase"] == "Failed")
        assert {kind: text for kind, text in reported.items() if kind != "Blocked"} == want
    world.remove(ref)
    world.settle()
    assert conditions(world) == {"InstallPlanPending": ("RequiresApproval", "")}, "a new plan, at once"


def test_a_catalog_that_was_mended_is_healthy_again() -> None:
    """catalog.md 8.5.49 and 2.3: unhealthy while its spec is invalid; the reason goes with its cause."""
    world = installed(a_subscription())
    ref = kinds.CATALOG_SOURCE.ref("local", "olm")
    good = world.objects[ref]["spec"]
    world.put({**world.objects[ref], "spec": {**good, "sourceType": "nope"}})
    world.settle()
    assert conditions(world)["CatalogSourcesUnhealthy"] == (
        "UnhealthyCatalogSourceFound", "targeted catalogsource olm/local unhealthy",
    )  # fmt: skip
    world.put({**world.objects[ref], "spec": good})
    world.settle()
    assert (conditions(world), world.objects[ref]["status"].get("reason")) == ({}, None)


def test_generations_count_on_from_the_plans_there() -> None:
    """catalog.md 3.7 G and 8.7.71: an existing plan of generation 1, the new one and the Subscription have 2."""
    spec = {"clusterServiceVersionNames": ["old.v1"], "approval": "Automatic", "approved": True, "generation": 1}
    meta = {"name": "install-old", "namespace": "ns"}
    old = {"apiVersion": kinds.INSTALL_PLAN.api_version, "kind": "InstallPlan", "metadata": meta, "spec": spec}
    world = installed(old, a_subscription())
    assert [plan["spec"]["generation"] for plan in the(world, kinds.INSTALL_PLAN)] == [1, 2]
    assert status(world)["installPlanGeneration"] == 2


def test_no_second_plan_is_made_while_one_waits_for_approval() -> None:
    """catalog.md 4.9 and 3.7 D: a newer head published meanwhile does not matter."""
    world = installed(a_subscription(installPlanApproval="Manual"))
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0", "2.0.0"))
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    unpacked(world)
    [plan] = the(world, kinds.INSTALL_PLAN)
    assert plan["spec"]["clusterServiceVersionNames"] == ["etcd.v1.0.0"]


@pytest.mark.parametrize(
    ("approval", "want"),
    [
        pytest.param("Manual", "RequiresApproval", id="catalog.md 3.1: Manual"),
        pytest.param("manual", "Complete", id="catalog.md 3.1: only the exact value means manual"),
        pytest.param("", "Complete", id="catalog.md 3.1: empty means automatic"),
    ],
)
def test_approval(approval: str, want: str) -> None:
    [plan] = the(installed(a_subscription(installPlanApproval=approval)), kinds.INSTALL_PLAN)
    assert plan["status"]["phase"] == want


def test_a_plan_that_failed_after_its_csv_leaves_the_subscription_at_that_csv() -> None:
    """catalog.md 4.10 and 8.11.135: AtLatestKnown with InstallPlanFailed=True."""
    world = a_world()
    account = kinds.SERVICE_ACCOUNT.ref("etcd-operator", "ns")
    world.refused[account] = WriteFailure("invalid", "no", 0, account)
    world.put(a_subscription())
    unpacked(world)
    world.later(seconds=61)
    assert conditions(world)["InstallPlanFailed"] == ("InstallComponentFailed", "ServiceAccount etcd-operator: no")
    assert (status(world)["state"], status(world)["installedCSV"]) == ("AtLatestKnown", "etcd.v1.0.0")


def test_a_deleted_catalog_leaves_the_operator_alone_and_comes_back() -> None:
    """catalog.md 2.11 and 8.1.30: what is installed stays; a catalog made anew serves its new content."""
    world = installed(a_subscription())
    world.remove(kinds.CATALOG_SOURCE.ref("local", "olm"))
    world.settle()
    assert conditions(world)["CatalogSourcesUnhealthy"][0] == "NoCatalogSourcesFound"
    assert status(world)["state"] == "AtLatestKnown"
    assert kinds.CLUSTER_SERVICE_VERSION.ref("etcd.v1.0.0", "ns") in world.objects
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0", "2.0.0"))
    world.put(a_catalog_source())
    unpacked(world)
    assert (status(world)["installedCSV"], conditions(world)) == ("etcd.v2.0.0", {})


def test_without_subscriptions_nothing_is_resolved() -> None:
    """catalog.md 3.7 A: there is no plan, no Job, no Event, and no condition anywhere."""
    world = a_world()
    before = dict(world.objects)
    world.receive(names.RESYNC_REQUESTED, kinds.OPERATOR_GROUP.ref("group", "ns"))
    world.settle()
    assert (dict(world.objects), world.events) == (before, [])


def test_another_image_in_the_spec_is_read_at_once() -> None:
    """catalog.md 8.1.9: the Subscription sees the other content and upgrades."""
    world = installed(a_subscription())
    world.catalogs.publish("registry/other:v1", a_package("etcd", "1.0.0", "2.0.0"))
    source = world.objects[kinds.CATALOG_SOURCE.ref("local", "olm")]
    world.put({**source, "spec": {**source["spec"], "image": "registry/other:v1"}})
    unpacked(world)
    assert status(world)["installedCSV"] == "etcd.v2.0.0"


def test_another_address_in_the_spec_is_asked_at_once() -> None:
    """catalog.md 8.1.25: a catalog that is served elsewhere; the Subscription sees the other content and upgrades."""
    world = a_world(a_subscription())
    world.put(a_catalog_source(image="", address="one:50051"))
    world.catalogs.publish("grpc://one:50051", a_package("etcd", "1.0.0"))
    world.catalogs.publish("grpc://two:50051", a_package("etcd", "1.0.0", "2.0.0"))
    unpacked(world)
    assert status(world)["installedCSV"] == "etcd.v1.0.0"
    source = world.objects[kinds.CATALOG_SOURCE.ref("local", "olm")]
    world.put({**source, "spec": {**source["spec"], "address": "two:50051"}})
    unpacked(world)
    assert status(world)["installedCSV"] == "etcd.v2.0.0"


def test_a_second_catalog_is_listed_and_changes_nothing_else() -> None:
    """catalog.md 8.5.53: a global catalog was added, still False."""
    world = installed(a_subscription())
    world.catalogs.publish("registry/more:v1", a_package("vault", "1.0.0"))
    world.put(a_catalog_source("more"))
    unpacked(world)
    listed = [(one["catalogSourceRef"]["name"], one["healthy"]) for one in status(world)["catalogHealth"]]
    assert listed == [("local", True), ("more", True)]
    assert conditions(world) == {}
    assert len(the(world, kinds.INSTALL_PLAN)) == 1


LABEL = "operators.coreos.com/etcd.ns"


def test_an_operator_finds_its_parts() -> None:
    """catalog.md 3.3: the label on the Subscription, its installed CSV and its newest plan; older plans lose it."""
    world = installed(a_subscription())
    csv = kinds.CLUSTER_SERVICE_VERSION.ref("etcd.v1.0.0", "ns")
    [plan] = the(world, kinds.INSTALL_PLAN)
    for part in (plan, world.objects[csv], world.objects[kinds.SUBSCRIPTION.ref("etcd", "ns")]):
        assert labels_of(part)[LABEL] == ""
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0", "2.0.0"))
    world.receive(names.RESYNC_REQUESTED, kinds.CATALOG_SOURCE.ref("local", "olm"))
    unpacked(world)
    assert [LABEL in labels_of(one) for one in the(world, kinds.INSTALL_PLAN)] == [False, True]


def test_what_was_there_before_its_subscription_becomes_a_part() -> None:
    csv = a_bundle("etcd", "1.0.0")[0]
    csv["metadata"]["namespace"] = "ns"
    world = a_world(csv)
    world.put(a_subscription())
    unpacked(world)
    assert LABEL in labels_of(world.objects[Ref.of(csv)])


def test_a_deleted_subscription_is_nothing_to_do() -> None:
    world = World()
    assert world.run(Job("subscription/track_subscription", kinds.SUBSCRIPTION.ref("gone", "ns"))).writes == ()
