"""Plans of namespaces in which nothing is done beyond what the authors of the Subscriptions may."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from shared import kinds, names
from shared.adapters.kube.accounts import KubeAccounts
from shared.api.manifest import Manifest, metadata, timestamp
from shared.api.views import InstallPlan, Subscription
from shared.domain.authors import policy
from shared.domain.authors.admission import AdmissionPolicy
from shared.domain.authors.author import planned_for
from shared.domain.objects import plan_record
from shared.domain.plan import compose
from shared.domain.plan.compose import Draft
from shared.kinds import Ref
from shared.ports import Accounts, Denied
from tests.functions.install_plan.test_execute_install_plan import (
    CSV,
    PLAN,
    a_plan,
    an_object,
    installed_condition,
    status,
)
from tests.functions.install_plan.test_scoped_plans import RBAC, made, words
from tests.functions.subscription.world import World, a_crd, an_operator_group
from tests.kit.plans import recorded
from tests.kit.world import NOW


def a_group(value: str = "true") -> Manifest:
    found = an_operator_group()
    return {**found, "metadata": {**metadata(found), "annotations": {names.AUTHOR_BOUND: value}}}


GROUP = a_group()
ALICE = {names.AUTHOR: "alice", names.AUTHOR_GROUPS: "brewers\nsystem:authenticated"}
CSVS = ("operators.coreos.com", "clusterserviceversions", ["create"])
SERVICES = ("", "services", ["create", "update"])
Right = tuple[str, str, list[str]]


class Admitted(KubeAccounts):
    """The accounts of a cluster whose API server checks what is said by a policy, or only stores how it would."""

    is_enforced = True

    def __init__(self, world: World, *, changed: Any = None, checks: AdmissionPolicy = policy.AUTHORS) -> None:
        super().__init__(world.api)
        self.checks = checks
        made_at = timestamp(NOW - timedelta(hours=1))
        stored = {Ref.of(one): one for one in checks.manifests()}
        for one in stored.values():
            one["metadata"] |= {"creationTimestamp": made_at, "generation": 1}
        self.stored: dict[Ref, Any] = stored | (changed or {})

    def get(self, ref: Ref, account: Ref | None) -> Any:
        return self.stored[ref] if ref in self.stored else super().get(ref, account)

    def refusal(self, manifest: Manifest, account: Ref | None) -> Denied | None:
        name = self.checks.name
        if metadata(manifest)["name"] != name:
            return super().refusal(manifest, account)
        why = f"ValidatingAdmissionPolicy '{name}' with binding '{name}' denied request"
        return Denied(f"{why}: {self.checks.answer}") if self.is_enforced else None


def a_subscription(name: str = "tea", **annotations: str) -> Manifest:
    meta = {"name": name, "namespace": "ns", "annotations": annotations or ALICE}
    spec = {"name": name, "source": "local", "sourceNamespace": "olm"}
    return {"apiVersion": kinds.SUBSCRIPTION.api_version, "kind": "Subscription", "metadata": meta, "spec": spec}


def may(*rights: Right, name: str = "some", user: str = "alice", everywhere: bool = False) -> list[Manifest]:
    """A role of the namespace, or of the cluster, with these rules (API group, resource, verbs), and who has it."""
    role, binding = (kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING) if everywhere else (kinds.ROLE, kinds.ROLE_BINDING)
    rules = [{"apiGroups": [group], "resources": [one], "verbs": verbs} for group, one, verbs in rights]
    subject = {"kind": "User", "name": user, "apiGroup": RBAC}
    ref = {"apiGroup": RBAC, "kind": role.kind, "name": name}
    return [made(role, name, rules=rules), made(binding, name, roleRef=ref, subjects=[subject])]


def world_of(*objects: Manifest, subscriptions: tuple[Manifest, ...] = (a_subscription(),), group: Manifest = GROUP,
             plan: Manifest, **admitted: Any) -> World:  # fmt: skip
    """The world after the plan, made for these Subscriptions, was carried out as far as it goes."""
    world = World(group, *objects, *subscriptions)
    world.ports[Accounts] = Admitted(world, **admitted)
    there = Subscription.each(world.objects[Ref.of(one)] for one in subscriptions)
    bound = {names.PLANNED_FOR: planned_for(there)}
    world.put(recorded({**plan, "metadata": {**metadata(plan), "annotations": bound}}))
    world.settle()
    return world


def cannot(verb: str, resource: str, group: str, name: str = "thing", user: str = "alice") -> str:
    named = f' "{name}"' if name else ""
    return f'User "{user}" cannot {verb} resource "{resource}"{named} in API group "{group}" in the namespace "ns"'


def test_it_is_carried_out_where_the_author_may_do_all_of_it() -> None:
    world = world_of(*may(CSVS, SERVICES), plan=a_plan(CSV, an_object("Service")))
    assert (status(world)["phase"], words(world)) == ("Complete", ["Created", "Created"])


def test_a_group_that_the_author_lists_counts() -> None:
    [role, binding] = may(CSVS)
    subject = {"kind": "Group", "name": "brewers", "apiGroup": RBAC}
    world = world_of(role, {**binding, "subjects": [subject]}, plan=a_plan(CSV))
    assert status(world)["phase"] == "Complete"


def test_each_missing_access_is_named_and_it_goes_on_when_it_is_granted() -> None:
    """issue 15: verb, resource, namespace, name; without polling."""
    secret = made(kinds.SECRET, "thing", type="Opaque")
    plan = a_plan(CSV, an_object("Service"), an_object("ConfigMap"), a_crd("etcds.example.com"))
    plan["status"]["plan"].append(
        {**plan["status"]["plan"][0], "resource": {**plan["status"]["plan"][0]["resource"], "kind": "BundleSecret",
         "group": "", "version": "v1", "name": "thing", "manifest": str(secret).replace("'", '"')}}
    )  # fmt: skip
    world = world_of(*may(CSVS), plan=plan)
    assert words(world) == ["Created", "Unknown", "Unknown", "Unknown", "Unknown"]
    first, _, more = status(world)["message"].partition("; besides: ")
    assert first == f"retrying execution due to error: Service thing: {cannot('create', 'services', '')}"
    assert f"ConfigMap thing: {cannot('create', 'configmaps', '')}" in more
    assert 'cannot create resource "customresourcedefinitions" "etcds.example.com"' in more
    assert cannot("create", "secrets", "") in more
    written = world.requests["write"]
    world.later(seconds=290)
    assert world.requests["write"] == written, "it does not poll"
    for one in may(SERVICES, ("", "configmaps", ["create"]), ("", "secrets", ["create"]), name="more"):
        world.put(one)
    for one in may(("apiextensions.k8s.io", "customresourcedefinitions", ["create"]), name="all", everywhere=True):
        world.put(one)
    world.settle()
    world.later(seconds=3)
    assert status(world)["phase"] == "Complete"


def a_role(*verbs: str) -> Manifest:
    rules = [{"apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": list(verbs)}]
    return {**an_object("Role", f"{RBAC}/v1"), "rules": rules}


ROLES: Right = (RBAC, "roles", ["create", "update"])
BINDINGS: Right = (RBAC, "rolebindings", ["create", "update"])
HELD: Right = ("apps", "deployments/scale", ["get", "update"])


@pytest.mark.parametrize(
    ("rights", "missing"),
    [
        pytest.param([HELD], "", id="who has what a role gives may give it"),
        pytest.param([(RBAC, "roles", ["escalate", "bind"])], "", id="who may escalate and bind gives anything"),
        pytest.param([("apps", "deployments/scale", ["get"])], 'cannot update resource "deployments/scale"',
                     id="of what a role gives all has to be held"),
        pytest.param([(RBAC, "roles", ["escalate"])], 'cannot get resource "deployments/scale"',
                     id="to escalate is not to bind"),
    ],
)  # fmt: skip
def test_nobody_gives_what_he_does_not_have(rights: list[Right], missing: str) -> None:
    binding = an_object("RoleBinding", f"{RBAC}/v1")
    plan = a_plan(CSV, a_role("get", "update"), binding)
    world = world_of(*may(CSVS, ROLES, BINDINGS, *rights), plan=plan)
    assert status(world)["phase"] == ("Installing" if missing else "Complete")
    assert missing in status(world).get("message", "")


def test_what_a_bound_role_gives_now_counts_and_not_only_what_the_plan_will_write() -> None:
    """A binding that comes first would give, for a moment or for ever, what a stored role gives."""
    strong = made(kinds.ROLE, "thing", rules=[{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}])
    plan = a_plan(CSV, an_object("RoleBinding", f"{RBAC}/v1"), a_role("get"))
    world = world_of(strong, *may(CSVS, ROLES, BINDINGS, HELD), plan=plan)
    assert 'cannot get resource "secrets" in API group ""' in status(world)["message"]
    assert kinds.ROLE_BINDING.ref("thing", "ns") not in world.objects


def test_who_binds_a_role_that_nobody_knows_has_to_be_allowed_to_bind_it() -> None:
    plan = a_plan(CSV, an_object("RoleBinding", f"{RBAC}/v1"))
    world = world_of(*may(CSVS, BINDINGS), plan=plan)
    assert cannot("bind", "roles", RBAC) in status(world)["message"]


def test_what_a_version_makes_by_itself_is_asked_for_before_it_is_written() -> None:
    deployment = {"name": "kettle", "spec": {"selector": {}, "template": {}}}
    install = {"strategy": "deployment", "spec": {"deployments": [deployment]}}
    csv = {**CSV, "spec": {**CSV["spec"], "install": install}}
    world = world_of(*may(CSVS, ("apps", "deployments", ["create"])), plan=a_plan(csv))
    assert cannot("update", "deployments", "apps", "kettle") in status(world)["message"]
    assert kinds.CLUSTER_SERVICE_VERSION.ref("a.v1", "ns") not in world.objects


def test_each_author_of_a_plan_has_to_be_allowed() -> None:
    both = (a_subscription(), a_subscription("coffee", **{names.AUTHOR: "bob"}))
    world = world_of(*may(CSVS), plan=a_plan(CSV), subscriptions=both)
    assert cannot("create", "clusterserviceversions", "operators.coreos.com", "a.v1", "bob") in status(world)["message"]


POLICY, BINDING = policy.AUTHORS.manifests()
RULE, BOUND = policy.AUTHORS.policy, policy.AUTHORS.binding


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        pytest.param({RULE: None}, "ValidatingAdmissionPolicy olmf-subscription-authors does not exist: apply "
                     "k8s/optional/subscription-authors.yaml", id="no policy"),
        pytest.param({BOUND: None}, "PolicyBinding olmf-subscription-authors does not exist",
                     id="no binding"),
        pytest.param({BOUND: Denied("may not get it")}, "Binding olmf-subscription-authors does not exist",
                     id="one that we may not read"),
        pytest.param({BOUND: {**BINDING, "spec": {**BINDING["spec"], "validationActions": ["Audit"]}}},
                     "since it was made, or is of another release: delete both objects", id="it only warns"),
        pytest.param({RULE: {**POLICY, "metadata": {"generation": 3}}}, "was changed since it was made",
                     id="it was loosened for a while"),
        pytest.param({RULE: {**POLICY, "metadata": {"generation": 1}}}, "nothing tells when",
                     id="it has no age"),
        pytest.param({RULE: {**POLICY, "metadata": {"generation": 1, "creationTimestamp": timestamp(NOW)}}},
                     "Subscription tea was created before the policy about authors was in force", id="it is younger"),
    ],
)  # fmt: skip
def test_no_author_is_believed_while_nothing_checks_his_name(changed: Any, why: str) -> None:
    world = world_of(*may(CSVS), plan=a_plan(CSV), changed=changed)
    told, reason, message = installed_condition(world)
    assert (told, reason) == ("False", "InstallCheckFailed")
    assert why in message
    assert kinds.CLUSTER_SERVICE_VERSION.ref("a.v1", "ns") not in world.objects


def test_a_policy_that_is_stored_and_rests_is_not_believed() -> None:
    world = World(GROUP, *may(CSVS), a_subscription())
    admitted = Admitted(world)
    admitted.is_enforced = False
    world.ports[Accounts] = admitted
    there = Subscription.each([world.objects[kinds.SUBSCRIPTION.ref("tea", "ns")]])
    plan = a_plan(CSV)
    world.put(
        recorded({**plan, "metadata": {**metadata(plan), "annotations": {names.PLANNED_FOR: planned_for(there)}}})
    )
    world.settle()
    assert "is not in force: a dry run of a Subscription with a forged author" in installed_condition(world)[2]
    admitted.is_enforced = True
    world.later(seconds=300)
    assert status(world)["phase"] == "Complete"


def test_a_subscription_without_author_says_who_is_asked_for() -> None:
    world = world_of(*may(CSVS), plan=a_plan(CSV), subscriptions=(a_subscription(other="x"),))
    message = installed_condition(world)[2]
    assert message.startswith("Subscription tea names no author: whoever answers for it runs kubectl annotate")
    tea = world.objects[kinds.SUBSCRIPTION.ref("tea", "ns")]
    world.put({**tea, "metadata": {**tea["metadata"], "annotations": {"other": "x", **ALICE}}})
    world.settle()
    world.later(seconds=300)
    assert status(world)["phase"] == "Complete", "the one who comes takes the plan as it was made"


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param({"annotations": {**ALICE, names.AUTHOR: "root"}}, id="another author"),
        pytest.param({"annotations": {**ALICE, names.VERSION: "1.0.0"}}, id="another pin"),
        pytest.param({"generation": 7}, id="another spec"),
    ],
)
def test_a_plan_is_for_the_subscription_as_it_was(edit: Manifest) -> None:
    """Else a strong author who takes over a Subscription would carry out what a weak one had planned."""
    world = World(GROUP, *may(CSVS), *may(CSVS, name="root", user="root"), a_subscription())
    world.ports[Accounts] = Admitted(world)
    [tea] = Subscription.each([world.objects[kinds.SUBSCRIPTION.ref("tea", "ns")]])
    before = Subscription({**tea.raw, "metadata": {**tea.metadata, **edit}})
    plan = a_plan(CSV)
    bound = {names.PLANNED_FOR: planned_for([before])}
    world.put(recorded({**plan, "metadata": {**metadata(plan), "annotations": bound}}))
    world.settle()
    assert installed_condition(world)[2].startswith(
        "Subscription tea is not what InstallPlan install-abcde was made for"
    )


@pytest.mark.parametrize("text", ["", "not JSON", "[1]", "[{}]", "[" * 100_000])
def test_a_plan_whose_authors_were_rewritten_is_not_what_we_wrote(text: str) -> None:
    world = World(GROUP, *may(CSVS, user="root"), a_subscription(**{names.AUTHOR: "root"}))
    world.ports[Accounts] = Admitted(world)
    there = Subscription.each([world.objects[kinds.SUBSCRIPTION.ref("tea", "ns")]])
    plan = recorded(a_plan(CSV))
    annotations = {**metadata(plan)["annotations"], names.PLANNED_FOR: text or planned_for(there)}
    world.put({**plan, "metadata": {**metadata(plan), "annotations": annotations}})
    world.settle()
    assert installed_condition(world)[1] == "ContentChanged"


def test_a_plan_of_before_is_made_again() -> None:
    world = World(GROUP, *may(CSVS), a_subscription())
    world.ports[Accounts] = Admitted(world)
    world.put(a_plan(CSV))
    world.settle()
    assert "was made before olmf.io/author-bound was set: kubectl delete installplan" in installed_condition(world)[2]


@pytest.mark.parametrize("value", ["", "false"])
def test_elsewhere_nobody_asks_for_authors(value: str) -> None:
    world = World(a_group(value), a_plan(CSV))
    world.settle()
    assert status(world)["phase"] == "Complete"
    assert PLAN in world.objects


def test_of_a_definition_that_is_the_same_only_the_claim_on_it_is_written() -> None:
    """And of a kind that has no name in code the API server tells the resource."""
    definition = a_crd("etcds.example.com")
    alert = an_object("PrometheusRule", "monitoring.coreos.com/v1")
    served = a_crd("prometheusrules.monitoring.coreos.com", kind="PrometheusRule")
    world = world_of(definition, served, *may(CSVS), plan=a_plan(CSV, definition, alert))
    message = status(world)["message"]
    assert 'cannot patch resource "customresourcedefinitions" "etcds.example.com"' in message
    assert 'cannot create resource "prometheusrules" "thing" in API group "monitoring.coreos.com"' in message


def test_with_an_account_both_are_limits() -> None:
    group = a_group()
    scoped = {**group, "spec": {"serviceAccountName": "limited"}}
    account = made(kinds.SERVICE_ACCOUNT, "limited")
    world = world_of(account, *may(CSVS), group=scoped, plan=a_plan(CSV, an_object("Service")))
    first, _, more = status(world)["message"].partition("; besides: ")
    assert 'User "system:serviceaccount:ns:limited" cannot create resource "clusterserviceversions"' in first
    assert "Service thing: " in more
    assert cannot("create", "services", "") in more


def test_many_missing_accesses_of_one_step_are_counted() -> None:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["a", "b", "c", "d", "e", "f", "g"]}]
    role = {**an_object("Role", f"{RBAC}/v1"), "rules": rules}
    world = world_of(*may(CSVS, ROLES), plan=a_plan(CSV, role))
    message = status(world)["message"]
    assert message.endswith("; and 2 more")
    assert message.count("cannot") == 5


def test_a_plan_for_authors_says_whose_it_is_from_the_start() -> None:
    there = Subscription.each([a_subscription()])
    draft = Draft(there, [], is_manual=False, generation=1, is_author_bound=True)
    plan = {**compose.manifest(draft), "status": compose.status(draft)}
    assert json.loads(metadata(plan)["annotations"][names.PLANNED_FOR])[0]["user"] == "alice"
    assert plan_record.is_intact(InstallPlan(plan))
