"""Who may approve, and as whom, where the policy about approvals is served; nowhere else is a name believed."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from eventing.deploy import rbac
from shared import names
from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import Manifest, annotations_of
from shared.domain.authors import admission, approval
from shared.domain.authors.approval import APPROVALS
from shared.kinds import INSTALL_PLAN, SERVICE_ACCOUNT, SUBSCRIPTION, Kind, Ref
from tests.conformance.lifecycle.test_author_bound import given, refused
from tests.kit.installation import Installation, a_subscription, an_operator_group, condition
from tests.kit.waiting import wait_for

OURS = SERVICE_ACCOUNT.ref("olmf-subscription", rbac.NAMESPACE)
WRITER = {
    "apiGroups": ["operators.coreos.com"], "resources": ["installplans", "subscriptions"],
    "verbs": ["create", "get", "list", "patch", "update"],
}  # fmt: skip
APPROVER = {**WRITER, "resources": ["installplans"], "verbs": [approval.VERB]}


def user(account: Ref) -> str:
    """The name of a ServiceAccount among users."""
    return f"system:serviceaccount:{account.namespace}:{account.name}"


def a_patch(plan: Manifest, approver: str = "", **annotations: str) -> Manifest:
    """What approves a plan as it was read."""
    content = {names.PLAN_CONTENT: annotations_of(plan)[names.PLAN_CONTENT]}
    named = {names.APPROVED_BY: approver} if approver else {}
    return {"metadata": {"annotations": {**content, **named, **annotations}}, "spec": {"approved": True}}


def a_waiting_plan(installation: Installation, namespace: str) -> Manifest:
    """The plan of a Subscription, as soon as it waits for approval."""
    subscription = a_subscription("tide", namespace, installPlanApproval="Manual", startingCSV="tide.v0.1.0")
    installation.apply(an_operator_group(namespace, targets=(namespace,)), subscription)
    wait_for(lambda: installation.cluster.list(INSTALL_PLAN, namespace), "a plan")
    [plan] = installation.cluster.list(INSTALL_PLAN, namespace)
    waits = "RequiresApproval"
    return installation.until(Ref.of(plan), lambda each: (each.get("status") or {}).get("phase") == waits, waits)


def approved_by(installation: Installation, plan: Manifest) -> str:
    """What the plan says of its approval when it has ended."""
    done = installation.until(Ref.of(plan), lambda each: each["status"]["phase"] == "Complete", "Complete")
    return str(condition(done, "Approved")["message"])


def test_no_approver_is_believed_without_the_policy(installation: Installation, namespace: str) -> None:
    plan = a_waiting_plan(installation, namespace)
    installation.olmf("approve", plan["metadata"]["name"], "-n", namespace)
    told = approved_by(installation, plan)
    assert (
        f"with the name {installation.cluster.user_name()!r}, which nobody checked (ValidatingAdmissionPolicy" in told
    )
    assert "was set by olmf-approve (Update)" in told


@pytest.fixture(scope="module")
def checked(installation: Installation) -> Iterator[None]:
    """The policy is in force, and has been for as long as it takes until names are believed."""
    if installation.cluster.find(admission.API, admission.POLICY) is None:
        pytest.skip("the sandbox serves no admission policies")
    installation.apply(*APPROVALS.manifests())
    wait_for(lambda: refused(installation.cluster, approval.probe("default")), "the policy")
    time.sleep(admission.SPREAD.total_seconds() + 1)
    yield
    for one in APPROVALS.manifests():
        installation.cluster.delete(Ref.of(one))
    wait_for(lambda: not refused(installation.cluster, approval.probe("default")), "the end of the policy")


def a_person(installation: Installation, namespace: str, *rules: Manifest) -> tuple[KubeClient, str]:
    """A client with the rights of an account that has these rules, and the account's name among users."""
    account = SERVICE_ACCOUNT.ref("author", namespace)
    meta = {"name": account.name, "namespace": namespace}
    installation.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    installation.apply(*given("person", namespace, rules=list(rules)))
    return installation.cluster.acting_as(account), user(account)


def sent(client: KubeClient, kind: Kind, name: str, namespace: str, patch: Manifest) -> str:
    """Why a patch was refused; empty when it was taken."""
    try:
        client.merge(kind.ref(name, namespace), patch)
    except ApiError as error:
        return error.message
    return ""


@pytest.mark.usefixtures("checked")
def test_only_who_may_approve_does_and_under_his_own_name(installation: Installation, namespace: str) -> None:
    plan = a_waiting_plan(installation, namespace)
    name = plan["metadata"]["name"]
    person, person_name = a_person(installation, namespace, WRITER)
    label = {"metadata": {"labels": {"a": "b"}}}
    wait_for(lambda: not sent(person, INSTALL_PLAN, name, namespace, label), "the right to change plans")

    assert approval.NOT_ALLOWED in sent(person, INSTALL_PLAN, name, namespace, a_patch(plan, person_name))
    assert approval.NOT_ALLOWED in sent(person, INSTALL_PLAN, name, namespace, a_patch(plan))
    made = {**approval.probe(namespace), "metadata": {"name": "made", "namespace": namespace}}
    assert approval.NOT_ALLOWED in refused(person, made)
    assert approval.NOT_ALLOWED in refused(person, a_subscription("beacon", namespace))
    automatic = {"spec": {"installPlanApproval": "Automatic"}}
    assert approval.NOT_ALLOWED in sent(person, SUBSCRIPTION, "tide", namespace, automatic)
    assert refused(person, a_subscription("beacon", namespace, installPlanApproval="Manual")) == ""

    a_person(installation, namespace, WRITER, APPROVER)
    wait_for(lambda: not refused(person, made), "the right to approve")
    forged = a_patch(plan, "system:admin")
    assert approval.WRONG_APPROVER in sent(person, INSTALL_PLAN, name, namespace, forged)
    other = a_patch(plan, person_name, **{names.PLAN_CONTENT: "sha256:0"})
    assert approval.OTHER_CONTENT in sent(person, INSTALL_PLAN, name, namespace, other)
    assert installation.cluster.list(INSTALL_PLAN, namespace)[0]["spec"]["approved"] is False

    assert sent(person, INSTALL_PLAN, name, namespace, a_patch(plan, person_name)) == ""
    renamed = {"metadata": {"annotations": {names.APPROVED_BY: "system:admin"}}}
    for somebody in (person, installation.cluster):
        assert approval.WRONG_APPROVER in sent(somebody, INSTALL_PLAN, name, namespace, renamed)
    told = approved_by(installation, plan)
    assert f"was set by {person_name}, whose name the policy {APPROVALS.name} checked, with " in told
    assert told.endswith(f", for {annotations_of(plan)[names.PLAN_CONTENT]}")
    installation.until_phase("tide.v0.1.0", namespace)


@pytest.mark.usefixtures("checked")
def test_the_verbs_name_who_uses_them(installation: Installation, namespace: str) -> None:
    plan = a_waiting_plan(installation, namespace)
    installation.olmf("approve", "tide", "-n", namespace)
    checked_name = f"{installation.cluster.user_name()}, whose name the policy {APPROVALS.name} checked"
    assert f"was set by {checked_name}" in approved_by(installation, plan)

    def why() -> str:
        """As the journal has it, which a run enters when it ends: after it has written the status."""
        words = ("why", f"InstallPlan/{plan['metadata']['name']}", "-n", namespace)
        return " ".join(installation.olmf(*words).stdout.split())

    wait_for(lambda: f"approved by {checked_name}" in why(), "the journal names who approved")


@pytest.mark.usefixtures("checked")
def test_plans_that_nobody_has_to_approve_are_still_written(installation: Installation, namespace: str) -> None:
    """Also with no more than the rights of our own ServiceAccount."""
    installation.apply(*rbac.files()["subscription.yaml"])
    made = {**approval.probe(namespace), "metadata": {"name": "made", "namespace": namespace}}
    ours = installation.cluster.acting_as(OURS)
    wait_for(lambda: not refused(ours, made), "the right of our account")
    installation.apply(an_operator_group(namespace, targets=(namespace,)), a_subscription("tide", namespace))
    version = installation.until(
        SUBSCRIPTION.ref("tide", namespace), lambda each: each["status"]["state"] == "AtLatestKnown", "AtLatestKnown"
    )
    installation.until_phase(version["status"]["installedCSV"], namespace)
