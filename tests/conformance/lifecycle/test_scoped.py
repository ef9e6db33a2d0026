"""Scoped execution: an OperatorGroup names a ServiceAccount, and everything is installed with its rights and no others.

What is granted wakes what waits for it: without an event a plan would be tried again only after minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from shared.api.manifest import Manifest, name_of
from shared.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CLUSTER_SERVICE_VERSION,
    DEPLOYMENT,
    INSTALL_PLAN,
    NAMESPACE,
    OPERATOR_GROUP,
    ROLE,
    ROLE_BINDING,
    SERVICE,
    SERVICE_ACCOUNT,
    SUBSCRIPTION,
    Kind,
    Ref,
)
from tests.kit.installation import Installation, a_namespace, a_subscription, an_operator_group
from tests.kit.waiting import wait_for

INSTALLER = "installer"
ALL = ("create", "get", "list", "update", "patch", "delete")
SERVICES: Manifest = {"apiGroups": [""], "resources": ["services"], "verbs": list(ALL)}
BUT_SERVICES: Sequence[Manifest] = [
    {"apiGroups": ["operators.coreos.com"], "resources": ["clusterserviceversions"], "verbs": list(ALL)},
    {"apiGroups": [""], "resources": ["serviceaccounts", "configmaps", "secrets"], "verbs": list(ALL)},
    {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "rolebindings"], "verbs": list(ALL)},
    {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": list(ALL)},
    {
        "apiGroups": ["samples.olmf.io"], "resources": ["beacons", "beacons/status"],
        "verbs": ["get", "list", "watch", "update", "patch"],
    },
]  # fmt: skip
"""Whoever gives rights away must have them: the last rule is what the operator asks for."""
EVERYTHING = [*BUT_SERVICES, SERVICES]


@pytest.fixture
def cluster_wide(installation: Installation) -> Iterator[list[Ref]]:
    """Objects outside of the namespace, deleted after the test."""
    made: list[Ref] = []
    yield made
    for ref in made:
        installation.cluster.delete(ref)


def an_account(namespace: str, name: str = INSTALLER) -> Manifest:
    return an_object(SERVICE_ACCOUNT, name, namespace)


def an_object(kind: Kind, name: str, namespace: str = "", **fields: Any) -> Manifest:
    meta = {"name": name, **({"namespace": namespace} if kind.is_namespaced else {})}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **fields}


def a_binding(kind: Kind, role: Kind, namespace: str, name: str, *, group: str = "") -> Manifest:
    """A binding of the role of that name to the account, or to a group."""
    api = "rbac.authorization.k8s.io"
    account = {"kind": "ServiceAccount", "name": INSTALLER, "namespace": namespace}
    subject = {"kind": "Group", "name": group, "apiGroup": api} if group else account
    ref = {"apiGroup": api, "kind": role.kind, "name": name}
    return an_object(kind, name, namespace, roleRef=ref, subjects=[subject])


def a_beacon(namespace: str) -> Manifest:
    return a_subscription("beacon", namespace, channel="stable")


def a_scoped_group(namespace: str, account: str = INSTALLER) -> Manifest:
    group = an_operator_group(namespace, targets=(namespace,))
    return {**group, "spec": {**group["spec"], "serviceAccountName": account}}


def plan_of(installation: Installation, namespace: str) -> Manifest:
    """The only plan of a namespace."""
    wait_for(lambda: installation.cluster.list(INSTALL_PLAN, namespace), "a plan")
    [plan] = installation.cluster.list(INSTALL_PLAN, namespace)
    return plan


def until_plan(installation: Installation, namespace: str, holds: Callable[[Manifest], object], what: str) -> Manifest:
    ref = Ref.of(plan_of(installation, namespace))
    found: Manifest = installation.until(ref, lambda plan: holds(plan["status"]), what)["status"]
    return found


def lacks(resource: str, verb: str = "create") -> Callable[[Manifest], bool]:
    """Whether a status says that a right is missing, and whose."""
    output = f'cannot {verb} resource "{resource}"'
    return lambda status: output in status.get("message", "") and f":{INSTALLER}" in status["message"]


def lacks_only(resource: str) -> Callable[[Manifest], bool]:
    """The same, and that it is the only one."""
    return lambda status: lacks(resource)(status) and "besides" not in status["message"]


def is_complete(status: Manifest) -> bool:
    return bool(status["phase"] == "Complete")


def test_a_plan_waits_for_each_right_of_its_account(installation: Installation, namespace: str) -> None:
    """catalog.md 8.12 rows 143 to 147: refused, granted, refused for the Service alone, granted."""
    installation.apply(an_account(namespace), a_scoped_group(namespace), a_beacon(namespace))
    status = until_plan(installation, namespace, lacks("clusterserviceversions"), "what it lacks")
    where = f'in API group "operators.coreos.com" in the namespace "{namespace}"'
    assert where in status["message"]
    besides = status["message"].partition("; besides: ")[2]
    assert lacks("services")({"message": besides})
    assert lacks("roles")({"message": besides})
    assert (status["phase"], {step["status"] for step in status["plan"]}) == ("Installing", {"Unknown"})
    assert status["attenuatedServiceAccountRef"]["name"] == INSTALLER
    installation.until_it_rests()

    installation.apply(an_object(ROLE, "some", namespace, rules=BUT_SERVICES))
    installation.apply(a_binding(ROLE_BINDING, ROLE, namespace, "some"))
    status = until_plan(installation, namespace, lacks_only("services"), "the Service alone")
    done = {step["resource"]["kind"]: step["status"] for step in status["plan"]}
    assert done["ClusterServiceVersion"] in ("Created", "Present")
    assert installation.cluster.get(SERVICE.ref("beacon-metrics", namespace)) is None

    installation.apply(an_object(ROLE, "some", namespace, rules=EVERYTHING))
    status = until_plan(installation, namespace, is_complete, "Complete")
    assert {step["status"] for step in status["plan"]} <= {"Created", "Present"}
    [reported] = [one for one in status["conditions"] if one["type"] == "Installed"]
    assert (reported["status"], reported.get("reason", ""), reported.get("message", "")) == ("True", "", "")
    installation.until_phase("beacon.v1.0.0", namespace)
    installation.cluster.merge(SUBSCRIPTION.ref("beacon", namespace), {"spec": {"channel": "fast"}})
    installation.until_phase("beacon.v1.1.0", namespace)


def test_an_account_that_loses_its_permissions_in_the_middle_of_a_plan(
    installation: Installation, namespace: str
) -> None:
    """What was written stays, nothing more is written, least of all with our rights; and the same plan goes on."""
    installation.apply(an_account(namespace), an_object(ROLE, "some", namespace, rules=BUT_SERVICES))
    installation.apply(a_binding(ROLE_BINDING, ROLE, namespace, "some"))
    installation.apply(a_scoped_group(namespace), a_beacon(namespace))
    before = until_plan(installation, namespace, lacks("services"), "the Service alone")
    version = CLUSTER_SERVICE_VERSION.ref("beacon.v1.0.0", namespace)
    assert installation.cluster.get(version)

    installation.apply(an_object(ROLE, "some", namespace, rules=[SERVICES]))
    until_plan(installation, namespace, lacks("serviceaccounts"), "what it lacks now")
    installation.until_it_rests()
    assert installation.cluster.get(SERVICE.ref("beacon-metrics", namespace)), "for which the right was still there"
    assert installation.cluster.get(version), "from before"
    made = [one for kind in (ROLE, ROLE_BINDING) for one in installation.cluster.list(kind, namespace)]
    named = {name_of(one) for one in made if not is_reporting(one)}
    assert named == {"some"}
    assert installation.cluster.list(DEPLOYMENT, namespace) == ()

    installation.cluster.delete(ROLE_BINDING.ref("some", namespace))
    installation.apply(an_object(ROLE, "some", namespace, rules=EVERYTHING))
    installation.until_it_rests()
    assert lacks("serviceaccounts")(plan_of(installation, namespace)["status"]), "nobody is bound to it"
    installation.apply(a_binding(ROLE_BINDING, ROLE, namespace, "some"))
    after = until_plan(installation, namespace, is_complete, "Complete")
    assert after["startTime"] == before["startTime"]
    installation.until_phase("beacon.v1.0.0", namespace)


def is_reporting(right: Manifest) -> bool:
    """Whether it lets an operator write its OperatorCondition: these are ours, as in OLM."""
    return any(one["kind"] == "OperatorCondition" for one in right["metadata"].get("ownerReferences", ()))


def grants(namespace: str) -> dict[str, list[Manifest]]:
    """Every way to give an account rights in its namespace."""
    all_of_it = f"system:serviceaccounts:{namespace}"
    to_all = a_binding(CLUSTER_ROLE_BINDING, CLUSTER_ROLE, namespace, namespace, group=all_of_it)
    label = {f"olmf-test/{namespace}": "true"}
    parts = an_object(CLUSTER_ROLE, f"{namespace}-part", rules=EVERYTHING)
    parts["metadata"]["labels"] = label
    whole = an_object(CLUSTER_ROLE, namespace, aggregationRule={"clusterRoleSelectors": [{"matchLabels": label}]})
    role = an_object(CLUSTER_ROLE, namespace, rules=EVERYTHING)
    return {
        "a ClusterRole in the namespace": [role, a_binding(ROLE_BINDING, CLUSTER_ROLE, namespace, namespace)],
        "a ClusterRole everywhere": [role, a_binding(CLUSTER_ROLE_BINDING, CLUSTER_ROLE, namespace, namespace)],
        "a group of accounts": [role, to_all],
        "an aggregated role": [whole, a_binding(ROLE_BINDING, CLUSTER_ROLE, namespace, namespace), parts],
    }


@pytest.mark.parametrize("way", grants("x"))
def test_it_does_not_matter_how_a_right_is_granted(
    installation: Installation, cluster_wide: list[Ref], way: str
) -> None:
    """catalog.md 8.12 row 145: the same plan goes on, woken by whatever RBAC object."""
    namespace = f"granted-by-{way.replace(' ', '-').lower()}"
    cluster_wide.append(NAMESPACE.ref(namespace))
    installation.apply(a_namespace(namespace))
    installation.apply(an_account(namespace), a_scoped_group(namespace), a_beacon(namespace))
    until_plan(installation, namespace, lacks("clusterserviceversions"), "what it lacks")
    installation.until_it_rests()
    for manifest in grants(namespace)[way]:
        if not manifest["metadata"].get("namespace"):
            cluster_wide.append(Ref.of(manifest))
        installation.apply(manifest)
    until_plan(installation, namespace, is_complete, "Complete")
    installation.until_phase("beacon.v1.0.0", namespace)


def test_an_account_that_comes_and_goes(installation: Installation, namespace: str) -> None:
    """csv.md 18.5 row 119, §8.4; the plan and the group say that it is missing, and go on when it is there."""
    installation.apply(a_scoped_group(namespace), a_beacon(namespace))
    group = OPERATOR_GROUP.ref(name_of(a_scoped_group(namespace)), namespace)
    reported = installation.until(group, lambda one: one["status"]["conditions"], "its condition")["status"][
        "conditions"
    ]
    assert [(one["type"], one["reason"], one["message"]) for one in reported] == [
        ("OperatorGroupServiceAccount", "ServiceAccountNotFound", f"ServiceAccount {INSTALLER} not found")
    ]
    why = f"please make sure the service account exists. sa={INSTALLER} operatorgroup={namespace}/{group.name}"
    until_plan(installation, namespace, lambda one: why in [c["message"] for c in one["conditions"]], "why")
    assert installation.cluster.get(CLUSTER_SERVICE_VERSION.ref("beacon.v1.0.0", namespace)) is None

    installation.apply(an_account(namespace))
    status = until_plan(installation, namespace, lacks("clusterserviceversions"), "what it lacks")
    first = status["attenuatedServiceAccountRef"]["uid"]
    installation.cluster.delete(SERVICE_ACCOUNT.ref(INSTALLER, namespace))
    until_plan(installation, namespace, lambda one: why in [c["message"] for c in one["conditions"]], "why, again")
    installation.apply(an_account(namespace), an_object(ROLE, "all", namespace, rules=EVERYTHING))
    installation.apply(a_binding(ROLE_BINDING, ROLE, namespace, "all"))
    account = until_plan(installation, namespace, is_complete, "Complete")["attenuatedServiceAccountRef"]["uid"]
    assert account != first, "another account of the same name"
    installation.until(
        group,
        lambda one: one["status"]["serviceAccountRef"]["uid"] == account and "conditions" not in one["status"],
        "the account",
    )


def test_a_version_is_installed_with_the_permissions_of_the_account(installation: Installation, namespace: str) -> None:
    """csv.md §8.4, rows 74 and 75: its Deployment is refused, and its change too, until that is granted."""
    rules = [rule for rule in EVERYTHING if rule["apiGroups"] != ["apps"]]
    installation.apply(an_account(namespace), an_object(ROLE, "most", namespace, rules=rules))
    installation.apply(a_binding(ROLE_BINDING, ROLE, namespace, "most"))
    installation.apply(a_scoped_group(namespace), a_beacon(namespace))
    csv = CLUSTER_SERVICE_VERSION.ref("beacon.v1.0.0", namespace)
    failed = installation.until(csv, lambda one: one["status"]["reason"] == "InstallComponentFailedNoRetry", "why not")
    assert failed["status"]["message"].startswith("install strategy failed: install strategy failed: deployments.apps")
    assert lacks("deployments")(failed["status"])
    assert installation.cluster.get(DEPLOYMENT.ref("beacon-controller", namespace)) is None
    installation.until_it_rests()

    installation.cluster.merge(
        OPERATOR_GROUP.ref(name_of(a_scoped_group(namespace)), namespace), {"spec": {"serviceAccountName": None}}
    )
    installation.until_phase("beacon.v1.0.0", namespace)
