"""What the steps that decide for a namespace say of each package: refs and codes, which programs read."""

from __future__ import annotations

from typing import get_args

import pytest

from eventing.events.job import Job
from functions.subscription.write_install_plan import write_install_plan
from shared import kinds
from shared.api import views
from shared.api.manifest import name_of
from shared.domain.unpack import report
from shared.domain.unpack.result import SOON, Broken, Missing, Running, Stale, Unpacked, UnpackResult, job_of
from shared.kinds import CLUSTER_SERVICE_VERSION, JOB, SUBSCRIPTION, Ref
from shared.ports import Attempt, WriteFailure
from shared.step import Code, Create, Outcome
from tests.functions.subscription.test_install import a_world, installed, the
from tests.functions.subscription.world import World, a_subscription

PLACE = kinds.NAMESPACE.ref("ns")
RESOLVE, UNPACK = Job("subscription/resolve_subscriptions", PLACE), Job("bundle/unpack_bundle", PLACE)
ETCD, VAULT = SUBSCRIPTION.ref("etcd", "ns"), SUBSCRIPTION.ref("vault", "ns")
CSV = CLUSTER_SERVICE_VERSION.ref("etcd.v1.0.0", "ns")


def reported(outcome: Outcome) -> dict[Code, tuple[Ref, ...]]:
    return {one.code: one.about for one in outcome.statements}


def a_crowd() -> World:
    """One package that can be installed, one that cannot."""
    return a_world(a_subscription(), a_subscription("vault", channel="nosuch"))


def test_a_resolution_speaks_of_each_subscription() -> None:
    outcome = a_crowd().run(RESOLVE)
    assert reported(outcome) == {Code.CHOSEN: (ETCD, CSV), Code.UNSATISFIABLE: (VAULT,)}
    assert outcome.message == "; ".join(one.message for one in outcome.statements)
    assert outcome.wait is not None
    assert outcome.wait.about == (VAULT,)


def test_an_installed_version_belongs_to_what_is_said_of_its_subscription() -> None:
    assert reported(installed(a_subscription()).run(RESOLVE)) == {Code.UNCHANGED: (ETCD, CSV)}


def test_unpacking_speaks_of_each_bundle() -> None:
    world = a_crowd()
    (job,) = the(world, JOB, "olm")
    outcome = world.run(UNPACK)
    assert reported(outcome) == {Code.UNPACKING: (CSV, JOB.ref(name_of(job), "olm"), ETCD)}
    assert outcome.wait is not None
    assert outcome.wait.about == (ETCD,)


def planned(world: World, attempt: Attempt) -> Outcome:
    return write_install_plan(PLACE, world, world.catalogs, attempt, world, world.policy)


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_plan_ties_its_versions_and_subscriptions_together(is_refused: bool) -> None:
    world = a_world(a_subscription())
    world.finish_jobs()
    (plan,) = (Ref.of(write.manifest) for write in planned(world, Attempt()).writes if isinstance(write, Create))
    failure = WriteFailure("forbidden", "exceeded quota", 0, plan) if is_refused else None
    outcome = planned(world, Attempt(1, failure))
    (declared,) = outcome.statements
    assert declared.about == (plan, CSV, ETCD)
    if is_refused:
        assert (declared.code, declared.message) == (Code.PLAN_REFUSED, "etcd.v1.0.0: exceeded quota")
        assert outcome.wait is not None
        assert outcome.wait.about == declared.about
    else:
        assert (declared.code, declared.message) == (Code.PLANNED, "planned etcd.v1.0.0")


def test_every_result_of_unpacking_has_a_code() -> None:
    assert set(report.CODES) == set(get_args(UnpackResult))


@pytest.mark.parametrize(
    ("result", "want"),
    [
        pytest.param(Missing("unpack-1"), "unpack-1", id="the one that is made"),
        pytest.param(Running(views.Job({"metadata": {"name": "unpack-2"}})), "unpack-2", id="the one that runs"),
        pytest.param(Stale(views.Job({"metadata": {"name": "unpack-3"}})), "unpack-3", id="the one that is made anew"),
        pytest.param(Broken("Malformed", "no", SOON), "", id="unpacked without a Job"),
        pytest.param(Unpacked(views.ConfigMap({})), "", id="done"),
    ],
)
def test_the_job_of_a_result(result: UnpackResult, want: str) -> None:
    assert job_of(result) == want
