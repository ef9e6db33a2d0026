from datetime import timedelta
from typing import Any

import pytest

from shared.api.manifest import Manifest, uid_of
from shared.kinds import DEPLOYMENT, OPERATOR_GROUP
from shared.names import REQUIREMENT_CHANGED
from shared.step import NOTHING, Emit, Replace
from tests.domain.csv.builders import a_component, a_csv, a_group, a_status, at, owned_crd, phases
from tests.functions.cluster_service_version.world import World, csv_ref

pytestmark = pytest.mark.unmeasured

REF, DEPLOYED = csv_ref("a.v1"), DEPLOYMENT.ref("operator", "ns")
AGAIN = [
    ("Pending", "NeedsReinstall"),
    ("InstallReady", "AllRequirementsMet"),
    ("Installing", "InstallSucceeded"),
    ("Installing", "InstallWaiting"),
]
"""The way of a version whose Deployments must be made again."""


@pytest.mark.parametrize(
    "csv",
    [
        *(
            pytest.param(a_csv(status=a_status(phase)), id=f"csv.md 4: {phase} belongs to other steps")
            for phase in ("Pending", "InstallReady", "Replacing", "Deleting")
        ),
        pytest.param(
            a_csv(status=a_status("Failed", "NoOperatorGroup")), id="csv.md 4.6: not a failure of Deployments"
        ),
        pytest.param(a_csv(status=a_status("Succeeded"), meta={"labels": {"olm.copiedFrom": "x"}}), id="a copy"),
        pytest.param(a_csv(status=a_status("Succeeded"), meta={"deletionTimestamp": at()}), id="it is being deleted"),
        pytest.param(a_csv("other", status=a_status("Succeeded")), id="it is gone"),
    ],
)
def test_nothing_to_do(csv: Manifest) -> None:
    assert World([csv, a_group()]).step("probe") == NOTHING


def installing(*more: Manifest, **csv: Any) -> World:
    world = World([a_csv(**csv), a_group(), *more])
    world.walk_until_rest()
    return world


def succeeded(*more: Manifest, **csv: Any) -> World:
    world = installing(*more, **csv)
    world.available()
    world.walk_until_rest()
    assert phases(world.csv())[-1] == ("Succeeded", "InstallSucceeded")
    return world


def test_it_waits_for_the_deployment_csv_md_4_4() -> None:
    world = installing()
    assert phases(world.csv())[-1] == ("Installing", "InstallWaiting")
    outcome = world.step("probe")
    assert outcome.writes == ()
    assert outcome.again_in == timedelta(minutes=5)
    assert outcome.wait


def test_it_has_succeeded_and_reports_it_to_its_siblings_csv_md_4_9_1() -> None:
    before = a_csv("a.v0", status=a_status("Replacing", "BeingReplaced"))
    world = installing(before, replaces="a.v0")
    world.available()
    outcome = world.does("probe")
    assert phases(world.csv())[-1] == ("Succeeded", "InstallSucceeded")
    assert outcome.emits == (Emit(REQUIREMENT_CHANGED, csv_ref("a.v0")),)


def test_steady_state_writes_and_enqueues_nothing() -> None:
    outcome = succeeded().step("probe")
    assert (outcome.writes, outcome.emits, outcome.again_in, outcome.wait) == ((), (), None, None)


def test_an_installation_that_takes_too_long_starts_anew_csv_md_18_row_17() -> None:
    world = installing()
    world.later(minutes=5)
    world.walk_until_rest()
    assert phases(world.csv())[-5:] == [("Failed", "InstallCheckFailed"), *AGAIN]


def test_a_deleted_deployment_is_made_again_csv_md_6_6_and_18_row_28() -> None:
    world = succeeded()
    del world.objects[DEPLOYED]
    world.walk_until_rest()
    assert phases(world.csv())[-5:] == [("Failed", "ComponentUnhealthy"), *AGAIN]
    assert DEPLOYED in world.objects


def test_an_edited_version_is_rolled_out_csv_md_6_6_and_18_row_62() -> None:
    world = succeeded()
    edited = {"deployments": [a_component(containers=[{"name": "c", "image": "new"}])]}
    world.objects[REF] = {**a_csv(strategy=edited), "status": world.csv()["status"]}
    world.walk_until_rest()
    world.available()
    world.walk_until_rest()
    assert [one for one in phases(world.csv()) if one != ("Installing", "InstallWaiting")][-3:] == [
        ("InstallReady", "ComponentUnhealthy"),
        ("Installing", "InstallSucceeded"),
        ("Succeeded", "InstallSucceeded"),
    ]
    assert world.objects[DEPLOYED]["spec"]["template"]["spec"]["containers"][0]["image"] == "new"


def test_an_annotation_of_the_version_reaches_the_pods_csv_md_6_6() -> None:
    world = succeeded()
    with world.edited(REF) as csv:
        csv["metadata"]["annotations"]["new"] = "1"
    world.walk_until_rest()
    assert world.objects[DEPLOYED]["spec"]["template"]["metadata"]["annotations"]["new"] == "1"


def rolled(world: World, *conditions: Manifest) -> None:
    """What the Deployment controller says between an update and its end."""
    state = {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 1, "conditions": list(conditions)}
    world.objects[DEPLOYED] = {**world.objects[DEPLOYED], "status": state}


def test_an_annotation_of_the_version_costs_one_write_and_no_phase() -> None:
    world = succeeded()
    before = phases(world.csv())
    with world.edited(REF) as csv:
        csv["metadata"]["annotations"]["new"] = "1"
    outcome = world.does("probe")
    assert [type(write) for write in outcome.writes] == [Replace]
    rolled(world, {"type": "Available", "status": "True"})
    outcome = world.step("probe")
    assert outcome.writes == ()
    assert outcome.wait
    assert phases(world.csv()) == before


def test_a_rollout_that_makes_the_operator_unavailable_is_no_success_csv_md_4_9_10() -> None:
    world = succeeded()
    rolled(world, {"type": "Available", "status": "False"})
    world.does("probe")
    assert phases(world.csv())[-1] == ("Failed", "ComponentUnhealthy")


def test_pods_that_are_not_rolled_are_installed_anew_csv_md_6_6() -> None:
    component = a_component()
    component["spec"]["strategy"] = {"type": "Recreate"}
    world = succeeded(strategy={"deployments": [component]})
    with world.edited(REF) as csv:
        csv["metadata"]["annotations"]["new"] = "1"
    world.does("probe")
    assert phases(world.csv())[-1] == ("InstallReady", "ComponentUnhealthy")


def test_an_annotation_that_somebody_took_from_the_pods_of_a_template_stays_away_csv_md_6_5() -> None:
    component = a_component()
    component["spec"]["template"]["metadata"]["annotations"] = {"mine": "1"}
    world = succeeded(strategy={"deployments": [component]})
    with world.edited(DEPLOYED) as deployment:
        del deployment["spec"]["template"]["metadata"]["annotations"]["mine"]
    assert world.step("probe").writes == ()


def test_an_unmanaged_deployment_of_the_same_shape_does_not_matter_csv_md_18_row_18() -> None:
    world = succeeded()
    twin = {**world.objects[DEPLOYED], "metadata": {"name": "twin", "namespace": "ns"}}
    world.objects[DEPLOYMENT.ref("twin", "ns")] = {**twin, "status": {}}
    assert world.step("probe").writes == ()


def test_an_equally_named_deployment_without_owner_labels_is_missing_csv_md_18_row_14() -> None:
    world = installing()
    world.objects[DEPLOYED] = {**world.objects[DEPLOYED], "metadata": {"name": "operator", "namespace": "ns"}}
    world.does("probe")
    assert world.csv()["status"]["message"] == "installing: missing deployment with name=operator"


def test_a_hot_fix_frees_a_deployment_that_gave_up_csv_md_19_13() -> None:
    world = installing()
    gave_up = {"conditions": [{"type": "Progressing", "reason": "ProgressDeadlineExceeded"}], "observedGeneration": 1}
    world.objects[DEPLOYED] = {**world.objects[DEPLOYED], "status": gave_up}
    world.walk_until_rest()
    assert phases(world.csv())[-1] == ("Failed", "InstallCheckFailed")
    fixed = {"deployments": [a_component(containers=[{"name": "c", "image": "new"}])]}
    world.objects[REF] = {**a_csv(strategy=fixed), "status": world.csv()["status"]}
    world.does("probe")
    assert phases(world.csv())[-1] == ("InstallReady", "NeedsReinstall")


@pytest.mark.measured
@pytest.mark.parametrize(
    "env",
    [
        pytest.param([{"name": "MINE"}], id="csv.md 11.3-3 and 18 row 145: it was removed"),
        pytest.param([{"name": "OPERATOR_CONDITION_NAME", "value": "x"}], id="csv.md 11.3-3: a wrong value"),
    ],
)
def test_its_pods_are_reported_again_where_to_report(env: list[Manifest]) -> None:
    world = succeeded()
    before = world.csv()
    with world.edited(DEPLOYED) as deployment:
        deployment["spec"]["template"]["spec"]["containers"][0]["env"] = env
    world.walk_until_rest()
    (written,) = world.objects[DEPLOYED]["spec"]["template"]["spec"]["containers"]
    kept = [item for item in env if item["name"] == "MINE"]
    assert written["env"] == [*kept, {"name": "OPERATOR_CONDITION_NAME", "value": "a.v1"}]
    assert world.csv() == before


def test_pods_of_another_version_are_told_nothing_csv_md_18_row_145() -> None:
    world = succeeded()
    group = world.objects[OPERATOR_GROUP.ref("og", "ns")]
    another = {**{key: group[key] for key in ("apiVersion", "kind")}, "name": "og", "uid": uid_of(group)}
    with world.edited(DEPLOYED) as deployment:
        deployment["metadata"]["ownerReferences"] = [another]
        deployment["spec"]["template"]["spec"]["containers"][0]["env"] = []
    assert world.step("probe").writes == ()


def test_a_successor_replaces_it_csv_md_4_5_1_and_18_row_50() -> None:
    world = succeeded()
    world.objects[csv_ref("a.v2")] = a_csv("a.v2", replaces="a.v1")
    outcome = world.does("probe")
    assert phases(world.csv())[-1] == ("Replacing", "BeingReplaced")
    assert outcome.emits == (Emit(REQUIREMENT_CHANGED, csv_ref("a.v2")),)


def test_new_requirements_of_an_edited_version_are_judged_csv_md_4_5_5() -> None:
    world = succeeded()
    group = a_group()
    group["metadata"]["annotations"] = {"olm.providedAPIs": "Thing.v1.example.com"}
    world = World([group, *(item for ref, item in world.objects.items() if ref.kind != "OperatorGroup")])
    edited = a_csv(customresourcedefinitions=owned_crd())
    world.objects[REF] = {**edited, "status": world.csv()["status"]}
    outcome = world.does("probe")
    assert phases(world.csv())[-1] == ("Pending", "RequirementsUnknown")
    assert outcome.emits == ()
    world.walk_until_rest()
    assert phases(world.csv())[-1] == ("Pending", "RequirementsNotMet")


@pytest.mark.measured
def test_two_versions_that_name_the_same_deployment_do_not_fight_without_end() -> None:
    world = World([a_csv(), a_csv("b.v1"), a_group()])
    world.is_prompt = True
    world.walk_until_rest()
    resting = [csv for csv in ("a.v1", "b.v1") if world.step("probe", csv).again_in]
    assert len(resting) == 1
    assert phases(world.csv(resting[0]))[-1] == ("Failed", "ComponentUnhealthy")
    (other,) = {"a.v1", "b.v1"} - set(resting)
    reported = f"missing deployment with name=operator: {other} installs one of that name, too"
    assert world.csv(resting[0])["status"]["message"].startswith(f"installing: {reported}")
    wait = world.step("probe", resting[0]).wait
    assert wait
    assert wait.what.startswith(reported)


def test_install_modes_are_checked_first_csv_md_18_rows_23_and_129() -> None:
    world = succeeded()
    edited = a_csv(modes=("AllNamespaces",))
    world.objects[REF] = {**edited, "status": world.csv()["status"]}
    world.does("probe")
    assert phases(world.csv())[-1] == ("Failed", "UnsupportedOperatorGroup")
    assert DEPLOYED in world.objects


def test_it_fails_forward_csv_md_4_6_1() -> None:
    failed = a_csv(status=a_status("Failed", "ComponentUnhealthy"))
    world = World([failed, a_csv("a.v2", replaces="a.v1"), a_group(upgradeStrategy="TechPreviewUnsafeFailForward")])
    world.does("probe")
    assert phases(world.csv())[-1] == ("Replacing", "BeingReplaced")


def test_a_group_that_comes_back_heals_csv_md_18_rows_24_and_25() -> None:
    world = succeeded()
    group = next(ref for ref in world.objects if ref.kind == "OperatorGroup")
    kept = world.objects.pop(group)
    world.walk_until_rest()
    assert phases(world.csv())[-1] == ("Failed", "NoOperatorGroup")
    assert DEPLOYED in world.objects
    world.objects[group] = kept
    world.walk_until_rest()
    assert phases(world.csv())[-1] == ("Succeeded", "InstallSucceeded")
