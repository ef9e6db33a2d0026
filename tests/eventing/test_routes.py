"""The flow page: every step is reachable, every route's step exists, and keys come from the event alone."""

from __future__ import annotations

import importlib
from datetime import timedelta
from pathlib import Path

import pytest

import functions
from eventing.deploy.flow_chart import mermaid
from eventing.events import event as events
from eventing.events.event import Event
from eventing.events.job import Job
from eventing.events.keys import itself
from eventing.events.predicates import always
from eventing.routes import CRD_SETTLE, DEBOUNCE, GATHER, NOTIFICATIONS, REPORTS, ROUTES, STEPS, Route, jobs_for
from shared import kinds, names
from shared.kinds import Kind, Ref

CSV = kinds.CLUSTER_SERVICE_VERSION


def an_event(ref: Ref, verb: str = "update", **hints: str) -> Event:
    return Event(id="e1", type=f"{names.RESOURCE_EVENT}{verb}", source="test", ref=ref, hints=hints)


def steps_enqueued_by(event: Event) -> set[str]:
    return {job.step for job in jobs_for(event)}


def step_files() -> set[str]:
    root = Path(functions.__file__).parent
    return {
        f"{path.parent.name}/{path.stem}"
        for path in root.glob("*/*.py")
        if path.stem != "__init__" and not path.stem.startswith("_")
    }


def test_every_step_is_reachable_and_every_route_leads_to_a_step() -> None:
    assert {*STEPS, *REPORTS.values()} == step_files()
    assert set(STEPS).isdisjoint(REPORTS.values())
    assert {route.step for route in ROUTES if route.lane == "long"} >= set(REPORTS)


@pytest.mark.parametrize("step", STEPS)
def test_a_step_file_holds_the_function_of_its_name(step: str) -> None:
    group, _, name = step.partition("/")
    assert callable(getattr(importlib.import_module(f"functions.{group}.{name}"), name))


@pytest.mark.parametrize(
    ("phase", "want"),
    [
        pytest.param("Pending", {"check_requirements"}, id="Pending waits for requirements"),
        pytest.param("InstallReady", {"install_operator"}, id="InstallReady installs"),
        pytest.param("Installing", {"probe_operator"}, id="Installing is probed"),
        pytest.param("Succeeded", {"probe_operator"}, id="Succeeded is probed"),
    ],
)
def test_a_phase_wakes_its_own_step(phase: str, want: set[str]) -> None:
    event = an_event(CSV.ref("a", "ns"), phase=phase, copied="false")
    machine = {"check_requirements", "install_operator", "probe_operator"}
    assert {step.partition("/")[2] for step in steps_enqueued_by(event)} & machine == want


def test_a_missing_hint_wakes_every_step_of_the_phase_machine() -> None:
    enqueued = steps_enqueued_by(an_event(CSV.ref("a", "ns")))
    assert {f"cluster_service_version/{name}" for name in ("check_requirements", "install_operator")} <= enqueued


def test_a_copy_wakes_no_step_of_the_original() -> None:
    enqueued = steps_enqueued_by(an_event(CSV.ref("a", "ns"), phase="Succeeded", copied="true"))
    assert enqueued == {"cluster_service_version/copy_csv"}


@pytest.mark.parametrize("verb", [names.ADDED, names.DELETED])
def test_a_copy_that_came_or_went_lets_its_namespace_be_resolved_again(verb: str) -> None:
    event = Event("d", verb, "t", CSV.ref("a", "ns"), hints={"copied": "true"})
    assert Job("subscription/resolve_subscriptions", kinds.NAMESPACE.ref("ns"), "bulk") in jobs_for(event)


ISOLATE = "catalog_source/isolate_unpacking"


@pytest.mark.parametrize(
    ("ref", "verb", "enqueues"),
    [
        pytest.param(kinds.CATALOG_SOURCE.ref("c", "ns"), "add", True, id="a catalog is new, or a watcher begins"),
        pytest.param(kinds.CATALOG_SOURCE.ref("c", "ns"), "update", True, id="that it is new may have been missed"),
        pytest.param(kinds.CATALOG_SOURCE.ref("c", "ns"), "delete", False, id="its policy goes with it"),
        pytest.param(kinds.NETWORK_POLICY.ref("c-unpack-bundles", "ns"), "add", False, id="its policy was just made"),
        pytest.param(kinds.NETWORK_POLICY.ref("c-unpack-bundles", "ns"), "update", True, id="its policy was edited"),
        pytest.param(kinds.NETWORK_POLICY.ref("c-unpack-bundles", "ns"), "delete", True, id="its policy is gone"),
    ],
)
def test_catalog_md_8_1_row_21_the_policy_of_a_catalog_is_looked_at(ref: Ref, verb: str, enqueues: bool) -> None:
    event = Event("i", f"{names.RESOURCE_EVENT}{verb}", "t", ref)  # its owner may have been edited away
    assert (Job(ISOLATE, kinds.CATALOG_SOURCE.ref("c", "ns")) in jobs_for(event)) == enqueues


def test_a_policy_that_is_called_otherwise_is_nobodys() -> None:
    event = Event("i", f"{names.RESOURCE_EVENT}update", "t", kinds.NETWORK_POLICY.ref("c", "ns"))
    assert ISOLATE not in steps_enqueued_by(event)


@pytest.mark.parametrize(
    "missed", [kinds.CATALOG_SOURCE.ref("c", "ns"), kinds.NETWORK_POLICY.ref("c-unpack-bundles", "ns")]
)
def test_what_an_audit_finds_has_the_policy_looked_at(missed: Ref) -> None:
    event = Event("i", names.DEPENDENT_CHANGED, "t", missed)
    assert Job(ISOLATE, kinds.CATALOG_SOURCE.ref("c", "ns")) in jobs_for(event)


RESOLVE = "subscription/resolve_subscriptions"


def test_whatever_changes_in_a_version_lets_its_namespace_be_resolved_again_after_a_while() -> None:
    """So all that a resolution reads enqueues it: what was read of catalogs last is what would be read now."""
    original, copy = (an_event(CSV.ref("a", "ns"), phase="Succeeded", copied=text) for text in ("false", "true"))
    assert Job(RESOLVE, kinds.NAMESPACE.ref("ns"), "bulk", GATHER) in jobs_for(original)
    assert RESOLVE not in steps_enqueued_by(copy)


@pytest.mark.parametrize("kind", [kinds.SUBSCRIPTION, kinds.OPERATOR_GROUP])
@pytest.mark.parametrize("verb", ["add", "update", "delete"])
def test_whatever_else_it_reads_in_a_namespace_enqueues_it_at_once(kind: Kind, verb: str) -> None:
    assert Job(RESOLVE, kinds.NAMESPACE.ref("ns")) in jobs_for(an_event(kind.ref("one", "ns"), verb))


UNPACKS = {"unpack": "true", "owners": ""}


@pytest.mark.parametrize(
    ("ref", "verb", "hints", "enqueues"),
    [
        pytest.param(kinds.CONFIG_MAP.ref("h", "olm"), "update", UNPACKS, True, id="a bundle is unpacked"),
        pytest.param(kinds.CONFIG_MAP.ref("h", "olm"), "update", {"unpack": "false"}, False, id="it is not yet"),
        pytest.param(kinds.CONFIG_MAP.ref("h", "olm"), "delete", UNPACKS, False, id="it was deleted"),
        pytest.param(kinds.JOB.ref("h", "olm"), "update", UNPACKS | {"phase": ""}, False, id="a Job goes on"),
        pytest.param(kinds.JOB.ref("h", "olm"), "update", UNPACKS | {"phase": "Over"}, True, id="a Job has ended"),
        pytest.param(kinds.JOB.ref("h", "olm"), "delete", UNPACKS | {"phase": ""}, True, id="a Job is gone"),
        pytest.param(kinds.JOB.ref("h", "olm"), "update", {}, True, id="nobody says how far the Job is"),
    ],
)
def test_who_waits_for_a_bundle_hears_of_its_content_and_of_the_end_of_its_job(
    ref: Ref, verb: str, hints: dict[str, str], enqueues: bool
) -> None:
    event = Event("i", f"{names.RESOURCE_EVENT}{verb}", "t", ref, hints=hints)
    assert ("bundle/collect_bundle" in steps_enqueued_by(event)) == enqueues


@pytest.mark.parametrize(
    ("verb", "hints", "enqueues"),
    [
        pytest.param("update", {"phase": ""}, True, id="its status has other content, or is well again"),
        pytest.param("update", {}, True, id="nobody says what its status says"),
        pytest.param("update", {"phase": "Pulling"}, False, id="it only says how far a pull is"),
        pytest.param("add", {"phase": "Pulling"}, True, id="it is new"),
        pytest.param("delete", {"phase": "Pulling"}, True, id="it is gone"),
    ],
)
def test_the_users_of_a_catalog_hear_of_each_change_of_it(verb: str, hints: dict[str, str], enqueues: bool) -> None:
    """Whoever reads after that event reads nothing older, so what it is compared with is what counts."""
    event = Event("i", f"{names.RESOURCE_EVENT}{verb}", "t", kinds.CATALOG_SOURCE.ref("c", "olm"), hints=hints)
    assert ("catalog_source/notify_catalog_users" in steps_enqueued_by(event)) == enqueues


def test_an_owned_deployment_enqueues_its_csv() -> None:
    event = an_event(kinds.DEPLOYMENT.ref("d", "ns"), owners="ClusterServiceVersion/a")
    assert {(job.step, job.ref) for job in jobs_for(event)} == {
        ("cluster_service_version/probe_operator", CSV.ref("a", "ns"))
    }


OWNED = {"owners": "ClusterServiceVersion/ns/a"}


@pytest.mark.parametrize(
    ("ref", "verb", "hints", "want"),
    [
        pytest.param(
            kinds.SUBSCRIPTION.ref("s", "ns"), "update", {}, {"subscription/track_subscription"},
            id="csv.md 1.4: a Subscription is looked at, which enqueues what it installed",
        ),
        pytest.param(
            kinds.DEPLOYMENT.ref("d", "ns"), "delete", OWNED, {"cluster_service_version/probe_operator"},
            id="csv.md 1.4: an owned Deployment enqueues its CSV",
        ),
        pytest.param(
            kinds.CLUSTER_ROLE.ref("r"), "update", OWNED, {"cluster_service_version/check_requirements"},
            id="csv.md 1.4: what only carries owner labels enqueues, too",
        ),
        pytest.param(
            kinds.ROLE.ref("r", "ns"), "add", {"owners": ""}, {"fanout/notify_dependents"},
            id="csv.md 1.4: rights that nobody owns may be what a CSV waits for",
        ),
        pytest.param(
            kinds.NAMESPACE.ref("ns"), "add", {}, {"fanout/notify_dependents"},
            id="csv.md 1.4: a Namespace concerns the groups that select it",
        ),
        pytest.param(
            CSV.ref("a", "ns"), "delete", {"copied": "false"},
            {
                "cluster_service_version/copy_csv", "cluster_service_version/copy_csvs",
                "cluster_service_version/replace_operator", "operator_group/update_provided_apis",
                "fanout/notify_subscriptions",
            },
            id="csv.md 1.4 and 3.5: a deleted CSV concerns its copies, its group, its successor",
        ),
        pytest.param(
            kinds.OPERATOR_GROUP.ref("g", "ns"), "delete", {},
            {
                "operator_group/grant_access", "operator_group/select_namespaces",
                "operator_group/update_provided_apis", "fanout/notify_install_plans",
            },
            id="csv.md 1.4 and 8.11: a deleted group loses its roles and labels, its members hear of it",
        ),
        pytest.param(
            CSV.ref("a", "t"), "delete", {"copied": "true"}, {"cluster_service_version/copy_csv"},
            id="csv.md 1.4: a copy concerns its original",
        ),
        pytest.param(
            kinds.OPERATOR_CONDITION.ref("a", "ns"), "update", OWNED,
            {"cluster_service_version/sync_operator_condition"}, id="csv.md 1.3: an OperatorCondition enqueues its CSV",
        ),
        pytest.param(
            kinds.CUSTOM_RESOURCE_DEFINITION.ref("things.example.com"), "update", {}, {"fanout/notify_api_users"},
            id="csv.md 19-1: a definition concerns those that own or require it",
        ),
        pytest.param(
            kinds.API_SERVICE.ref("v1.example.com"), "update", {}, {"fanout/notify_api_users"},
            id="csv.md 5.4: an APIService concerns those that require it",
        ),
        *(
            pytest.param(
                kind.ref("v1.example.com"), "add", OWNED, {"cluster_service_version/replace_operator"},
                id=f"csv.md 18 row 94: a {kind.kind} of a version that is not there",
            )
            for kind in (kinds.API_SERVICE, *kinds.WEBHOOK_CONFIGURATIONS)
        ),
        pytest.param(
            kinds.OLM_CONFIG.ref("cluster"), "update", {}, {"maintenance/report_copying"},
            id="csv.md 1.3: the OLMConfig concerns the copies of global groups",
        ),
    ],
)  # fmt: skip
def test_who_is_concerned(ref: Ref, verb: str, hints: dict[str, str], want: set[str]) -> None:
    assert want <= steps_enqueued_by(an_event(ref, verb, **hints))


@pytest.mark.parametrize(
    ("ref", "hints", "want"),
    [
        (kinds.CUSTOM_RESOURCE_DEFINITION.ref("things.example.com"), {}, CRD_SETTLE),
        (kinds.CUSTOM_RESOURCE_DEFINITION.ref("things.example.com"), {"owners": ""}, CRD_SETTLE),
        (kinds.CUSTOM_RESOURCE_DEFINITION.ref("things.example.com"), {"owners": "ClusterObjectSet/a-1"}, DEBOUNCE),
        (kinds.API_SERVICE.ref("v1.example.com"), {}, CRD_SETTLE),
        (kinds.API_SERVICE.ref("v1.example.com"), {"automatic": "false"}, CRD_SETTLE),
        (kinds.API_SERVICE.ref("v1.example.com"), {"automatic": "true"}, DEBOUNCE),
    ],
    ids=["unknown owners", "of nobody", "of a revision", "an unknown server", "a server of its own", "the API server"],
)
def test_what_comes_in_numbers_is_looked_at_together(ref: Ref, hints: dict[str, str], want: timedelta) -> None:
    jobs = [job for job in jobs_for(an_event(ref, **hints)) if job.step == "fanout/notify_api_users"]
    assert [job.delay for job in jobs] == [want]


@pytest.mark.parametrize(
    ("ref", "hints", "want"),
    [
        (kinds.CUSTOM_RESOURCE_DEFINITION.ref("things.example.com"), {}, "direct"),
        (kinds.CUSTOM_RESOURCE_DEFINITION.ref("things.example.com"), {"owners": "ClusterObjectSet/a-1"}, "bulk"),
        (kinds.API_SERVICE.ref("v1.example.com"), {"automatic": "false"}, "direct"),
        (kinds.API_SERVICE.ref("v1.example.com"), {"automatic": "true"}, "bulk"),
    ],
    ids=["a definition", "of a revision", "a server of its own", "the API server"],
)
def test_an_api_that_an_install_may_wait_for_waits_for_no_copies(ref: Ref, hints: dict[str, str], want: str) -> None:
    jobs = [job for job in jobs_for(an_event(ref, **hints)) if job.step == "fanout/notify_api_users"]
    assert [job.lane for job in jobs] == [want]


@pytest.mark.parametrize("verb", ["update", "delete"])
@pytest.mark.parametrize(
    ("owner", "want"),
    [
        pytest.param(
            "OperatorGroup/ns/a", ("operator_group/grant_access", kinds.OPERATOR_GROUP.ref("a", "ns")),
            id="csv.md 8.7: of a group",
        ),
        pytest.param(
            "CustomResourceDefinition/things.example.com",
            ("fanout/notify_providers", kinds.CUSTOM_RESOURCE_DEFINITION.ref("things.example.com")),
            id="csv.md 8.8: of an API",
        ),
        pytest.param(
            "ClusterServiceVersion/ns/a", ("cluster_service_version/restore_permissions", CSV.ref("a", "ns")),
            id="csv.md 8.9: lifted for an operator",
        ),
    ],
)  # fmt: skip
def test_a_role_that_was_edited_or_deleted_is_looked_after(verb: str, owner: str, want: tuple[str, Ref]) -> None:
    ref = kinds.CLUSTER_ROLE.ref("role")
    assert want in {(job.step, job.ref) for job in jobs_for(an_event(ref, verb, owners=owner))}
    assert want not in {(job.step, job.ref) for job in jobs_for(an_event(ref, "add", owners=owner))}


def test_an_owned_object_whose_event_names_no_owner_is_looked_up() -> None:
    assert steps_enqueued_by(an_event(kinds.DEPLOYMENT.ref("d", "ns"))) == {"fanout/notify_dependents"}


def test_a_resync_request_counts_as_a_change_of_its_object() -> None:
    resync = Event(id="p", type=names.RESYNC_REQUESTED, source="test", ref=kinds.CATALOG_SOURCE.ref("c", "ns"))
    assert "catalog_source/snapshot_catalog" in steps_enqueued_by(resync)


def test_a_reference_event_counts_as_a_resource_event() -> None:
    ref = Event(id="r", type=f"{names.REF_EVENT}update", source="test", ref=kinds.SUBSCRIPTION.ref("s", "ns"))
    assert steps_enqueued_by(ref) == {"subscription/track_subscription", "subscription/resolve_subscriptions"}


def test_an_event_enqueues_each_job_once() -> None:
    jobs = jobs_for(
        an_event(kinds.SERVICE_ACCOUNT.ref("s", "ns"), owners="ClusterServiceVersion/a,ClusterServiceVersion/a")
    )
    assert len(jobs) == len(set(jobs))


def test_a_kind_nobody_routes_enqueues_nothing() -> None:
    assert jobs_for(an_event(kinds.POD.ref("p", "ns"))) == ()


def test_every_emitted_event_that_enqueues_is_routed() -> None:
    routed = {route.on for route in ROUTES if isinstance(route.on, str)}
    ours = {value for name, value in vars(names).items() if name.isupper() and str(value).startswith("io.olmf.")}
    no_routes = {names.DEPENDENT_CHANGED, names.RESYNC_REQUESTED, names.WORK_READY}
    assert ours - set(NOTIFICATIONS) - no_routes == routed


def test_a_route_names_a_kind_that_is_watched_and_every_watched_kind_has_a_route() -> None:
    assert {route.on for route in ROUTES if isinstance(route.on, kinds.Kind)} == set(kinds.WATCHED)
    with pytest.raises(ValueError, match="nobody watches Pod; say `watched` of it"):
        Route(kinds.POD, "bundle/collect_bundle", itself, always)


def test_the_chart_shows_every_step_and_every_watched_kind() -> None:
    chart = mermaid()
    assert all(step.partition("/")[2] in chart for step in STEPS)
    assert all(kind.kind in chart for kind in kinds.WATCHED)


def test_hints_are_written_once() -> None:
    assert len({events.PHASE, events.OWNERS, events.COPIED, events.UNPACK}) == 4
