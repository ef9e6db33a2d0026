"""Kinds that OLM does not let a bundle hold: an administrator allows and grants them, and is told how."""

from __future__ import annotations

import pytest

from shared.kinds import Kind
from shared.ports import Policy, WriteFailure
from tests.functions.install_plan.test_execute_install_plan import CSV, a_plan, an_object, status, steps
from tests.functions.subscription.world import World, an_operator_group
from tests.kit.plans import recorded

CERTIFICATE = Kind("cert-manager.io/v1", "Certificate", "certificates")
REF = CERTIFICATE.ref("thing", "ns")
PLAN = a_plan(CSV, an_object("Certificate", CERTIFICATE.api_version))
INVALID = "the InstallPlan contains invalid data: Certificate thing cannot be a step of a plan"
ALLOW = "kubectl -n olm set env deployment/olmf-worker OLMF_BUNDLE_KINDS="


def world_of(*kinds: str, refused: str = "") -> World:
    world = World(an_operator_group(), recorded(PLAN), served=[CERTIFICATE], policy=Policy(bundle_kinds=kinds))
    if refused:
        world.refused[REF] = WriteFailure("forbidden", refused, 0, REF)
    world.settle()
    return world


@pytest.mark.parametrize("setting", ["Certificate", "Certificate.cert-manager.io"])
def test_a_kind_that_is_allowed_is_written_like_those_of_olm(setting: str) -> None:
    world = world_of("Other", setting)
    assert (status(world)["phase"], steps(world)) == ("Complete", ["Created", "Created"])
    assert [one["name"] for one in world.objects[REF]["metadata"]["ownerReferences"]] == ["a.v1"]


def test_a_kind_that_is_not_allowed_is_told_with_the_command_that_allows_it() -> None:
    """catalog.md 8.10.112; the setting keeps what it allowed before."""
    world = world_of("Other", "Certificate.elsewhere.io")
    assert steps(world) == ["Created", "UnsupportedResource"]
    setting = "Other,Certificate.elsewhere.io,Certificate.cert-manager.io"
    without_pods = " (without our pods: in the environment of `olmf up`)"
    told = f"{INVALID}; an administrator may allow it: {ALLOW}{setting}{without_pods}"
    assert status(world)["message"] == f"retrying execution due to error: {told}"


def test_a_kind_that_would_allow_another_one_is_not_advised() -> None:
    plan = a_plan(CSV, an_object("Certificate,Secret", CERTIFICATE.api_version))
    world = World(an_operator_group(), recorded(plan))
    world.settle()
    assert status(world)["message"].endswith("Certificate,Secret thing cannot be a step of a plan")


def test_a_right_that_we_lack_is_told_with_the_command_that_grants_it_and_the_plan_waits() -> None:
    world = world_of("Certificate", refused="certificates is forbidden")
    assert status(world)["message"] == (
        "retrying execution due to error: Certificate thing: certificates is forbidden; an administrator may grant it: "
        'echo \'{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":'
        '"olmf-bundle-certificates.cert-manager.io","labels":{"olmf.io/aggregate-to-bundle-kinds":"true"}},"rules":'
        '[{"apiGroups":["cert-manager.io"],"resources":["certificates"],"verbs":["get","list","create","update","patch",'
        '"delete"]}]}\' | kubectl apply -f -'
    )
    world.later(seconds=300)
    assert status(world)["phase"] == "Installing", "rights may be granted at any time"
    world.refused.clear()
    world.later(seconds=6)
    assert status(world)["phase"] == "Complete"


def test_of_a_kind_that_has_rights_here_nothing_is_advised() -> None:
    """Admission and quota answer 403, too; whether our roles are as they should be is what `olmf doctor` looks at."""
    world = World(an_operator_group(), recorded(a_plan(CSV, an_object("Service"))))
    ref = Kind("v1", "Service", "services").ref("thing", "ns")
    world.refused[ref] = WriteFailure("forbidden", "exceeded quota", 0, ref)
    world.settle()
    assert status(world)["message"] == "retrying execution due to error: Service thing: exceeded quota"
