"""What a version would do to a namespace, object by object, and what stands in its way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from eventing.diagnosis.forecast.account import Lacking
from eventing.diagnosis.forecast.forecast import Forecast, Upcoming, forecast, lacking_of_versions
from eventing.diagnosis.forecast.grants import grants
from eventing.diagnosis.forecast.present_objects import PresentObjects
from shared import kinds, names
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest, name_of
from shared.api.views import Csv
from shared.domain.extension.outlook import Difference
from shared.domain.objects.authorizer import PolicyRule
from shared.kinds import Kind, Ref
from shared.policy import Policy
from tests.kit.cluster import FakeCluster

NS = "here"
MODES = [{"type": mode, "supported": True} for mode in ("OwnNamespace", "AllNamespaces")]
NO_MODE = "SingleNamespace InstallModeType not supported, cannot configure to watch one namespace"
RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
CERTIFICATE = Kind("cert-manager.io/v1", "Certificate", "certificates")


def an_object(kind: Kind, name: str, *, meta: Manifest | None = None, **more: Any) -> Manifest:
    place = {"namespace": NS} if kind.is_namespaced else {}
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name, **place, **(meta or {})},
        **more,
    }


def a_csv(version: str = "2", image: str = "op:2", **spec: Any) -> Manifest:
    pod = {"spec": {"serviceAccountName": "op", "containers": [{"name": "m", "image": image}]}}
    deployment = {"name": "op", "spec": {"replicas": 1, "selector": {}, "template": pod}}
    install = {"deployments": [deployment], "permissions": [{"serviceAccountName": "op", "rules": [RULE]}]}
    whole = {"installModes": MODES, "install": {"strategy": "deployment", "spec": install}, **spec}
    return an_object(kinds.CLUSTER_SERVICE_VERSION, f"op.v{version}", spec=whole)


def a_group(*targets: str, **spec: Any) -> Manifest:
    return an_object(kinds.OPERATOR_GROUP, "g", spec={"targetNamespaces": list(targets), **spec}, meta={"uid": "g"})


def a_definition(*versions: str, minimum: int = 1, **spec: Any) -> Manifest:
    scalar = {"type": "object", "properties": {"spec": {"type": "integer", "minimum": minimum}}}
    listed = [
        {"name": one, "served": True, "storage": one == versions[0], "schema": {"openAPIV3Schema": scalar}}
        for one in versions
    ]
    stated = {
        "group": "x.io",
        "names": {"kind": "A", "plural": "as"},
        "scope": "Namespaced",
        "versions": listed,
        **spec,
    }
    return an_object(kinds.CUSTOM_RESOURCE_DEFINITION, "as.x.io", spec=stated)


def an_a(scalar: int, api_version: str = "x.io/v1") -> Manifest:
    return {"apiVersion": api_version, "kind": "A", "metadata": {"name": "one", "namespace": NS}, "spec": scalar}


class Cluster(FakeCluster):
    """A cluster that serves named kinds and some more, and may hide a kind."""

    def __init__(self, objects: Sequence[Manifest], *served: Kind, hidden: str = "", release: str = "v1.35.4") -> None:
        super().__init__(objects)
        self._served, self._hidden, self._release = served, hidden, release

    def find(self, api_version: str, kind: str) -> Kind | None:
        return next((one for one in self._served if (one.api_version, one.kind) == (api_version, kind)), None)

    def version(self) -> str:
        return self._release

    def get(self, ref: Ref) -> Manifest | None:
        self._check(ref.kind)
        return super().get(ref)

    def get_all(self, refs: Sequence[Ref]) -> tuple[Manifest | None, ...]:
        return tuple(map(self.get, refs))

    def list(self, kind: Kind, namespace: str = "", **more: Any) -> tuple[Manifest, ...]:
        self._check(kind.kind)
        return super().list(kind, namespace, **more)

    def _check(self, kind: str) -> None:
        if kind == self._hidden:
            raise ApiError(403, "Forbidden", f"{kind} is forbidden")


def of(*steps: Manifest, csv: Manifest | None = None, replaces: str = "") -> Upcoming:
    return Upcoming([csv or a_csv(), *steps], [], replaces, ("op",))


def told(found: Forecast, grade: str) -> list[str]:
    return [one.text for one in found.findings if one.grade == grade]


def in_files(*objects: Manifest, steps: Sequence[Manifest] = (), **more: Any) -> Forecast:
    present = PresentObjects.of(NS, objects, is_partial=False)
    return forecast([of(*steps, **more)], present, Policy())


def on_cluster(cluster: Cluster, *steps: Manifest, policy: Policy | None = None, **more: Any) -> Forecast:
    return forecast([of(*steps, **more)], PresentObjects(NS, cluster), policy or Policy())


def effects(found: Forecast) -> dict[str, str]:
    return {f"{one.manifest['kind']} {name_of(one.manifest)}": str(one.effect) for one in found.changes}


def test_what_the_installation_makes_is_listed_besides_what_the_plan_writes() -> None:
    owned = {"owned": [{"name": "as.x.io", "version": "v1", "kind": "A"}]}
    csv = a_csv(customresourcedefinitions=owned)
    found = effects(in_files(a_group(NS, "there"), steps=[a_definition("v1")], csv=csv))
    assert {"Deployment op", "OperatorCondition op.v2", "Role op.v2", "RoleBinding op.v2"} <= found.keys()
    assert {f"ClusterRole as.x.io-v1-{one}" for one in ("admin", "edit", "view", "crdview")} <= found.keys()
    elsewhere = [one for one in found if one.startswith("Role op.v2-op-")]
    assert len(elsewhere) == 1, "the permissions in the other namespace of the group"


def test_what_goes_with_the_version_before_is_listed() -> None:
    old = a_csv("1", "op:1")
    old["metadata"]["uid"] = "u1"
    owner = {"ownerReferences": [{"kind": "ClusterServiceVersion", "name": "op.v1", "uid": "u1"}]}
    both = {"ownerReferences": [*owner["ownerReferences"], {"kind": "ClusterServiceVersion", "name": "x", "uid": "x"}]}
    condition = {"ownerReferences": [{"kind": "OperatorCondition", "name": "op.v1", "uid": "c1"}]}
    labels = {"olm.owner": "op.v1", "olm.owner.namespace": NS, "olm.owner.kind": "ClusterServiceVersion"}
    step = {
        "resolving": "op.v1",
        "resource": {"group": "cert-manager.io", "version": "v1", "kind": "Certificate", "name": "c"},
    }
    gone = [
        an_object(kinds.DEPLOYMENT, "older", meta=owner), an_object(kinds.OPERATOR_CONDITION, "op.v1", meta=owner),
        an_object(kinds.ROLE, "op.v1", meta=condition), an_object(kinds.CONFIG_MAP, "old", meta=owner),
        an_object(kinds.VALIDATING_WEBHOOKS, "hook", meta={"labels": labels}),
        an_object(kinds.CLUSTER_ROLE, "wide", meta={"labels": labels}), an_object(CERTIFICATE, "c", meta=owner),
    ]  # fmt: skip
    kept = [
        an_object(kinds.SERVICE_ACCOUNT, "shared", meta=both), an_object(kinds.DEPLOYMENT, "op", meta=owner),
        an_object(kinds.INSTALL_PLAN, "p", status={"plan": [step]}),
    ]  # fmt: skip
    cluster = Cluster([a_group(NS), old, *gone, *kept], CERTIFICATE)
    found = effects(on_cluster(cluster, replaces="op.v1"))
    removed = {name for name, effect in found.items() if effect == "remove"}
    assert removed == {f"{one['kind']} {name_of(one)}" for one in (old, *gone)}
    assert found["Deployment op"] == "change"


def test_of_secrets_that_go_nothing_is_told_but_who_they_are() -> None:
    old = a_csv("1", "op:1")
    step = {"resolving": "op.v1", "resource": {"group": "", "version": "v1", "kind": "Secret", "name": "s"}}
    plan = an_object(kinds.INSTALL_PLAN, "p", status={"plan": [step]})
    owner = {"ownerReferences": [{"kind": "ClusterServiceVersion", "name": "op.v1"}]}
    secret = an_object(kinds.SECRET, "s", meta=owner, data={"password": "aHVzaA=="})
    found = on_cluster(Cluster([a_group(NS), old, plan, secret]), replaces="op.v1")
    [change] = [one for one in found.changes if one.manifest["kind"] == "Secret"]
    assert (str(change.effect), name_of(change.manifest)) == ("remove", "s")
    assert "aHVzaA==" not in str(found)


def test_what_a_plan_only_creates_stays_as_it_is_where_it_is_there() -> None:
    asked = an_object(kinds.SUBSCRIPTION, "needed", spec={"channel": "stable"})
    there = an_object(kinds.SUBSCRIPTION, "needed", spec={"channel": "beta"})
    found = in_files(a_group(NS), a_csv(image="op:1"), there, steps=[asked])
    is_told = {one.manifest["kind"]: (str(one.effect), one.differs) for one in found.changes}
    assert is_told["ClusterServiceVersion"] == is_told["Subscription"] == ("keep", ())


def test_each_field_is_told_with_what_it_is_and_becomes() -> None:
    live = an_object(kinds.CONFIG_MAP, "c", data={"a": "1", "gone": "x"}, meta={"uid": "u"})
    new = an_object(kinds.CONFIG_MAP, "c", data={"a": "2"})
    [change] = [one for one in in_files(live, steps=[new]).changes if name_of(one.manifest) == "c"]
    assert set(change.differs) == {Difference("data.a", "1", "2"), Difference("data.gone", "x", None)}


def test_a_definition_is_told_both_ways_and_keeps_the_conversion_that_its_version_brought() -> None:
    webhook = {"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "s", "namespace": NS}}}}
    live = {**a_definition("v1", conversion=webhook), "status": {"storedVersions": ["v1"]}}
    del live["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["minimum"]
    [change] = [one for one in in_files(live, steps=[a_definition("v1")]).changes if name_of(one.manifest) == "as.x.io"]
    path = "spec.versions[v1].schema.openAPIV3Schema.properties.spec.minimum"
    assert change.differs == (Difference(path, None, 1),)


STORED = {**a_definition("v1", "v2"), "status": {"storedVersions": ["v1"]}}


@pytest.mark.parametrize("api_version", ["x.io/v1", "x.io/v2"])
def test_every_served_version_of_what_is_stored_counts(api_version: str) -> None:
    """Issue 15 §1.5: a file holds an object in one version, and the API server serves it in all."""
    found = told(in_files(STORED, an_a(1, api_version), steps=[a_definition("v1", "v2", minimum=2)]), "blocks")
    assert [one.partition("Kind=")[0][-9:] for one in found] == ["x.io/v1, ", "x.io/v2, "]


def test_a_conversion_by_webhook_is_no_obstacle_as_for_the_plan() -> None:
    webhook = {"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "s", "namespace": NS}}}}
    new = a_definition("v1", "v2", minimum=2, conversion=webhook)
    found = in_files(STORED, an_a(1), steps=[new])
    assert told(found, "blocks") == []
    assert any("webhook conversion strategy" in one for one in told(found, "remark"))


def test_a_capture_without_the_objects_of_a_definition_does_not_say_that_it_is_safe() -> None:
    present = PresentObjects.of(NS, [STORED], is_partial=True)
    found = forecast([of(a_definition("v1", "v2", minimum=2))], present, Policy())
    assert "the capture holds no A of x.io/v1: some may be stored" in told(found, "unknown")


@pytest.mark.parametrize(
    ("served", "policy", "grade", "text"),
    [
        pytest.param(
            (CERTIFICATE,), Policy(), "blocks",
            "Certificate c cannot be a step of a plan; an administrator may allow it: kubectl -n olm set env "
            "deployment/olmf-worker OLMF_BUNDLE_KINDS=Certificate.cert-manager.io "
            "(without our pods: in the environment of `olmf up`)",
            id="a kind that no bundle may hold",
        ),
        pytest.param(
            (), Policy(bundle_kinds=("Certificate",)), "blocks",
            "Certificate c: the API server does not serve cert-manager.io/v1, Kind=Certificate",
            id="a kind that is not served",
        ),
        pytest.param((CERTIFICATE,), Policy(bundle_kinds=("Certificate",)), "", "", id="a kind that may be there"),
    ],
)  # fmt: skip
def test_kinds(served: tuple[Kind, ...], policy: Policy, grade: str, text: str) -> None:
    """Else such a plan would be called safe, and fail."""
    found = on_cluster(Cluster([a_group(NS)], *served), an_object(CERTIFICATE, "c"), policy=policy)
    assert [(one.grade, one.text) for one in found.findings if one.grade != "remark"] == (
        [(grade, text)] if grade else []
    )


def test_files_do_not_say_which_kinds_are_served_unless_they_define_them() -> None:
    monitor = an_object(Kind("monitoring.coreos.com/v1", "ServiceMonitor", "servicemonitors"), "m")
    budget = an_object(Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"), "b")
    found = in_files(a_group(NS), steps=[monitor, budget])
    assert told(found, "unknown") == [
        "ServiceMonitor m: nothing says whether the API server serves monitoring.coreos.com/v1"
    ]
    defined = a_definition("v1", group="monitoring.coreos.com", names={"kind": "ServiceMonitor", "plural": "sms"})
    assert told(in_files(a_group(NS), defined, steps=[monitor]), "unknown") == []


def test_what_may_not_be_read_is_not_known() -> None:
    found = on_cluster(Cluster([a_group(NS)], hidden="Role"), an_object(kinds.ROLE, "r"))
    assert "Role r may exist already: Role is forbidden" in told(found, "unknown")
    assert effects(found)["Role r"] == "create"


@pytest.mark.parametrize(
    ("group", "blocks", "remark"),
    [
        pytest.param(a_group(NS), [], "reaches here", id="a group that says in its spec what it selects"),
        pytest.param(
            a_group("there"), [f"op.v2: {NO_MODE}"], "reaches there", id="a mode that the version does not support",
        ),
        pytest.param(an_object(kinds.OPERATOR_GROUP, "g", spec={}), [], "reaches all namespaces", id="all namespaces"),
    ],
)  # fmt: skip
def test_the_group_of_the_namespace(group: Manifest, blocks: list[str], remark: str) -> None:
    found = in_files(group)
    assert (told(found, "blocks"), remark in told(found, "remark")) == (blocks, True)


def test_where_copies_go_is_told() -> None:
    namespaces = [an_object(kinds.NAMESPACE, name) for name in (NS, "a", "b")]
    found = in_files(an_object(kinds.OPERATOR_GROUP, "g", spec={}), *namespaces)
    assert "op.v2 is copied to 2 namespaces: a, b" in told(found, "remark")


def test_another_version_that_serves_the_namespace_already_is_told() -> None:
    properties = {names.PROPERTIES: '{"properties": [{"type": "olm.package", "value": {"packageName": "op"}}]}'}
    meta = {"annotations": properties, "labels": {names.COPIED_FROM: "wide"}}
    copy = an_object(kinds.CLUSTER_SERVICE_VERSION, "op.v3", meta=meta)
    mine = a_csv()
    mine["metadata"]["annotations"] = properties
    found = told(in_files(a_group(NS), copy, csv=mine), "remark")
    assert (
        "op.v3, which namespace wide installed, works for this namespace already: op.v2 would do the same work, too"
        in found
    )
    assert not [one for one in told(in_files(a_group(NS), copy), "remark") if "op.v3" in one], "of another package"


def test_an_api_that_another_group_provides_blocks() -> None:
    owned = {"owned": [{"name": "as.x.io", "version": "v1", "kind": "A"}]}
    meta = {"namespace": "other", "annotations": {"olm.providedAPIs": "A.v1.x.io"}}
    other = an_object(kinds.OPERATOR_GROUP, "o", meta=meta, status={"namespaces": [NS]})
    found = in_files(a_group(NS), other, csv=a_csv(customresourcedefinitions=owned))
    assert told(found, "blocks") == ["op.v2: intersecting operatorgroups provide the same apis"]


def test_a_server_that_is_too_old_or_lacks_an_api_blocks() -> None:
    csv = a_csv(minKubeVersion="1.36.0", nativeAPIs=[{"group": "x.io", "version": "v1", "kind": "N"}])
    found = told(on_cluster(Cluster([a_group(NS)]), csv=csv), "blocks")
    assert found == [
        "op.v2: CSV version requirement not met: minKubeVersion (1.36.0) > server version (1.35.4)",
        "op.v2: the native API N.v1.x.io is missing",
    ]


ACCOUNT = an_object(kinds.SERVICE_ACCOUNT, "limited")
GIVEN = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}


def bound(*rules: Manifest) -> list[Manifest]:
    subject = {"kind": "ServiceAccount", "name": "limited", "namespace": NS}
    ref = {"kind": "Role", "name": "some"}
    binding = an_object(kinds.ROLE_BINDING, "some", roleRef=ref, subjects=[subject])
    return [an_object(kinds.ROLE, "some", rules=list(rules)), binding]


def test_what_the_account_of_the_group_lacks_blocks() -> None:
    """catalog.md 4.7: the plan would wait for it; what it gives away in a role it needs itself."""
    scoped = a_group(NS, serviceAccountName="limited")
    service = an_object(kinds.SERVICE, "s")
    role = an_object(kinds.ROLE, "r", rules=[{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}])
    rules = [
        {**GIVEN, "apiGroups": ["operators.coreos.com", "apps"]},
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["create"]},
    ]
    found = told(in_files(scoped, ACCOUNT, *bound(*rules), steps=[service, role]), "blocks")
    who = f"system:serviceaccount:{NS}:limited cannot"
    assert found == [
        f'{who} create services in the namespace "{NS}"', f'{who} get secrets in the namespace "{NS}"',
    ]  # fmt: skip
    assert told(in_files(scoped, ACCOUNT, *bound(GIVEN), steps=[service, role]), "blocks") == []


def test_what_the_account_lacks_is_given_by_roles_that_can_be_applied() -> None:
    scoped = a_group(NS, serviceAccountName="limited")
    wide = an_object(kinds.CLUSTER_ROLE, "w", rules=[RULE])
    objects = [scoped, ACCOUNT, *bound(RULE)]
    steps = [an_object(kinds.SERVICE, "s"), an_object(kinds.SERVICE_ACCOUNT, "t"), wide]
    found = grants(in_files(*objects, steps=steps).lacking)
    assert {one["kind"] for one in found} == {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}
    by_kind = {one["kind"]: one for one in found}
    assert {"apiGroups": [""], "resources": ["services", "serviceaccounts"], "verbs": ["create"]} in by_kind["Role"][
        "rules"
    ]
    assert RULE in by_kind["ClusterRole"]["rules"]
    assert by_kind["RoleBinding"]["roleRef"]["name"] == by_kind["Role"]["metadata"]["name"]
    assert by_kind["Role"]["metadata"]["namespace"] == NS
    assert "namespace" not in by_kind["ClusterRole"]["metadata"]
    assert told(in_files(*objects, *found, steps=steps), "blocks") == [], "nothing is lacking then"


def test_accounts_of_one_name_that_lack_the_same_in_one_place_get_bindings_of_their_own() -> None:
    """Else what the second one applies takes the first one's rights away."""
    rule = PolicyRule(("create",), ("",), ("services",))
    lacking = [Lacking(team, "installer", "shared", rule) for team in ("team-a", "team-b")]
    names = [one["metadata"]["name"] for one in grants(lacking)]
    assert (len(names), len(set(names))) == (4, 2)


def test_what_the_account_lacks_to_install_a_version_that_is_there() -> None:
    scoped = a_group(NS, serviceAccountName="limited")
    there = PresentObjects.of(NS, [scoped, ACCOUNT, a_csv(), *bound(RULE)], is_partial=False)
    found = list(lacking_of_versions([Csv(a_csv())], there, Policy()))
    assert 'system:serviceaccount:here:limited cannot create deployments.apps in the namespace "here"' in map(
        str, found
    )
    assert not any("clusterserviceversions" in str(one) for one in found), "it is there already"
    whole = PresentObjects.of(NS, [scoped, ACCOUNT, a_csv(), *bound(GIVEN)], is_partial=False)
    assert list(lacking_of_versions([Csv(a_csv())], whole, Policy())) == []


@pytest.mark.parametrize("is_live", [True, False])
def test_what_a_version_makes_is_what_the_next_one_finds(*, is_live: bool) -> None:
    """catalog.md 4.7: the account may change it then, or not; definitions of the namespace are changed with ours."""
    role, binding = bound({**GIVEN, "verbs": ["create"]}, RULE)
    there = [a_group(NS, serviceAccountName="limited"), ACCOUNT, a_csv("1"), role, binding]
    known = PresentObjects(NS, Cluster(there)) if is_live else PresentObjects.of(NS, there, is_partial=False)
    steps = [an_object(kinds.SERVICE, "s"), a_definition("v1")]
    first = forecast([of(*steps, replaces="op.v1")], known, Policy())
    assert first.lacking == ()
    later = known.after(first.changes)
    assert [[name_of(one) for one in each.csvs()] for each in (known, later)] == [["op.v1"], ["op.v2"]]
    again = forecast([of(*steps)], later, Policy())
    assert {str(one.effect) for one in again.changes} == {"keep"}
    second = forecast([of(steps[0], a_definition("v1", "v2"), csv=a_csv("3"), replaces="op.v2")], later, Policy())
    assert [str(one).partition("cannot ")[2] for one in second.lacking] == [
        f'get, update {what} in the namespace "{NS}"' for what in ("services", "deployments.apps")
    ]


@pytest.mark.parametrize(
    ("name", "is_granted"),
    [
        (f"system:serviceaccounts:{NS}", True),
        ("system:serviceaccounts", True),
        ("system:authenticated", True),
        ("system:serviceaccounts:other", False),
    ],
)
def test_what_the_groups_of_an_account_may_do_it_may_do(name: str, *, is_granted: bool) -> None:
    role, binding = bound(GIVEN)
    to_group = {**binding, "subjects": [{"kind": "Group", "name": name}]}
    found = on_cluster(Cluster([a_group(NS, serviceAccountName="limited"), ACCOUNT, role, to_group]))
    assert (told(found, "blocks") == []) == is_granted


def test_what_an_account_may_do_where_nobody_may_look_is_not_known() -> None:
    scoped = a_group(NS, serviceAccountName="limited")
    found = on_cluster(Cluster([scoped, ACCOUNT, *bound(GIVEN)], hidden="ClusterRole"))
    why = f"what ServiceAccount {NS}/limited may do is not known: clusterroles may not be listed"
    assert (why in told(found, "unknown"), told(found, "blocks")) == (False, []), (
        "it has all that it needs in its Roles"
    )
    found = on_cluster(Cluster([scoped, ACCOUNT], hidden="ClusterRole"))
    assert (why in told(found, "unknown"), told(found, "blocks")) == (True, [])


@pytest.mark.parametrize("group", [f"system:serviceaccounts:{NS}", "system:serviceaccounts", "system:authenticated"])
def test_files_may_bind_a_group_of_the_account(group: str) -> None:
    """Its rights are known then, and what it lacks blocks."""
    role, binding = bound(RULE)
    binding = {**binding, "subjects": [{"kind": "Group", "name": group}]}
    found = in_files(a_group(NS, serviceAccountName="limited"), ACCOUNT, role, binding)
    assert [one for one in told(found, "unknown") if "the files lack" in one] == []
    assert any("limited cannot create" in one for one in told(found, "blocks"))
    other = {**binding, "subjects": [{"kind": "Group", "name": "system:serviceaccounts:other"}]}
    found = in_files(a_group(NS, serviceAccountName="limited"), ACCOUNT, role, other)
    assert any("the files lack Roles and RoleBindings of" in one for one in told(found, "unknown"))


def test_an_account_that_is_not_there() -> None:
    scoped = a_group(NS, serviceAccountName="limited")
    text = "ServiceAccount limited of OperatorGroup g is not there"
    assert text in told(in_files(scoped), "unknown")
    assert text in told(on_cluster(Cluster([scoped])), "blocks")
