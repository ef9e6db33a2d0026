"""Who may write objects in one namespace gains nothing elsewhere through what we write; and what a version requires."""

from __future__ import annotations

import time
from typing import Any

from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest, labels_of, name_of
from shared.domain.defaults import defaults
from shared.kinds import (
    API_SERVICE,
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CLUSTER_SERVICE_VERSION,
    CUSTOM_RESOURCE_DEFINITION,
    OLM_CONFIG,
    OPERATOR_GROUP,
    SUBSCRIPTION,
    Ref,
)
from tests.kit.installation import (
    REST_SECONDS,
    Installation,
    a_namespace,
    a_subscription,
    an_operator_group,
)
from tests.kit.waiting import wait_for

BEACONS = "beacons.samples.olmf.io"
ROLES = [f"{BEACONS}-v1-{word}" for word in ("admin", "crdview", "edit", "view")]
SECRETS = {
    "name": "secrets", "group": "", "version": "v1", "kind": "Secret",
    "deploymentName": "evil", "displayName": "x", "description": "x",
}  # fmt: skip


def a_version(namespace: str, name: str = "evil.v1", **spec: Any) -> Manifest:
    """As a person writes it who may write nothing else; its Deployment needs no pod."""
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    deployment = {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    modes = [{"type": mode, "supported": True} for mode in ("OwnNamespace", "SingleNamespace", "AllNamespaces")]
    strategy = {"deployments": [{"name": name.partition(".")[0], "spec": deployment}], **spec.pop("strategy", {})}
    return {
        "apiVersion": CLUSTER_SERVICE_VERSION.api_version,
        "kind": CLUSTER_SERVICE_VERSION.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "displayName": name, "version": "1.0.0", "installModes": modes,
            "install": {"strategy": "deployment", "spec": strategy}, **spec,
        },
    }  # fmt: skip


def roles_about(installation: Installation, word: str) -> list[str]:
    return sorted(name_of(role) for role in installation.cluster.list(CLUSTER_ROLE) if word in name_of(role))


def test_default_objects_are_there(installation: Installation) -> None:
    """csv.md 15.3: after `olmf up`, as after a deployment: the scheduler's first event makes them."""
    for manifest in defaults("olm"):
        found = installation.until(Ref.of(manifest), lambda _: True, "existence")
        assert found.get("rules") == manifest.get("rules")
    config = installation.until(OLM_CONFIG.ref("cluster"), lambda one: one["status"]["conditions"], "its condition")
    assert config["status"]["conditions"][0]["reason"] == "CopiedCSVsEnabled"
    group = OPERATOR_GROUP.ref("global-operators", "operators")
    installation.until(group, lambda one: one["status"]["namespaces"] == [""], "all namespaces")


def test_a_claim_to_secrets_makes_nobody_read_them(installation: Installation, namespace: str) -> None:
    """A version that works is edited to own the core API: it stops to be Succeeded, and no role is written."""
    cluster = installation.cluster
    installation.apply(an_operator_group(namespace, targets=(namespace,)), a_version(namespace))
    installation.until_phase("evil.v1", namespace)
    evil = CLUSTER_SERVICE_VERSION.ref("evil.v1", namespace)
    cluster.merge(evil, {"spec": {"apiservicedefinitions": {"owned": [SECRETS]}}})
    reported = installation.until(evil, lambda csv: csv["status"]["phase"] == "Failed", "Failed")
    assert reported["status"]["reason"] == "OwnerConflict"
    installation.until_it_rests()
    assert roles_about(installation, "secrets-v1") == []
    view = cluster.get(CLUSTER_ROLE.ref("view"))
    assert view is not None
    assert not any("secrets" in (rule.get("resources") or ()) for rule in view["rules"])


def test_permissions_for_an_api_are_for_who_really_provides_it(installation: Installation, namespace: str) -> None:
    """A tenant claims the API of another operator: nothing comes of it, and nothing stays when that operator goes."""
    cluster, victim = installation.cluster, f"{namespace}-v"[:60]
    installation.apply(a_namespace(victim), an_operator_group(victim, targets=(victim,)))
    installation.apply(a_subscription("beacon", victim))
    installation.until_phase("beacon.v1.1.0", victim)
    for name in ROLES:
        installation.until(CLUSTER_ROLE.ref(name), lambda role: role["rules"], "its rules")
    owned = {"owned": [{"name": BEACONS, "version": "v1", "kind": "Beacon"}]}
    installation.apply(an_operator_group(namespace, targets=(namespace,)))
    installation.apply(a_version(namespace, customresourcedefinitions=owned))
    installation.until_phase("evil.v1", namespace)
    installation.until_it_rests()
    own = {"olm.owner": f"{namespace}-group", "olm.owner.kind": OPERATOR_GROUP.kind}
    roles = [role for role in cluster.list(CLUSTER_ROLE) if own.items() <= labels_of(role).items()]
    assert len(roles) == 3
    assert not [role for role in roles if role.get("rules") or role.get("aggregationRule")]
    cluster.delete(SUBSCRIPTION.ref("beacon", victim))
    cluster.delete(CLUSTER_SERVICE_VERSION.ref("beacon.v1.1.0", victim))
    for name in ROLES:
        installation.until_gone(CLUSTER_ROLE.ref(name))
    assert cluster.get(CUSTOM_RESOURCE_DEFINITION.ref(BEACONS)), "definitions stay, as in OLM"
    time.sleep(REST_SECONDS)
    assert roles_about(installation, f"{BEACONS}-v1") == []
    cluster.delete(Ref.of(a_namespace(victim)))


def test_roles_go_while_another_server_serves_the_api_group(installation: Installation, namespace: str) -> None:
    """A role names the API group, not who serves it: rights on the definition would be rights on what that serves."""
    cluster, group = installation.cluster, BEACONS.partition(".")[2]
    served = {
        "apiVersion": API_SERVICE.api_version, "kind": API_SERVICE.kind, "metadata": {"name": f"v9.{group}"},
        "spec": {
            "group": group, "version": "v9", "groupPriorityMinimum": 10, "versionPriority": 10,
            "service": {"name": "away", "namespace": namespace}, "insecureSkipTLSVerify": True,
        },
    }  # fmt: skip
    installation.apply(an_operator_group(namespace, targets=(namespace,)), a_subscription("beacon", namespace))
    installation.until_phase("beacon.v1.1.0", namespace)
    for name in ROLES:
        installation.until(CLUSTER_ROLE.ref(name), lambda role: role["rules"], "its rules")
    installation.until_it_rests()
    try:
        installation.apply(served)
        for name in ROLES:
            installation.until_gone(CLUSTER_ROLE.ref(name))
    finally:
        _delete(installation, API_SERVICE.ref(f"v9.{group}"))
    for name in ROLES:
        installation.until(CLUSTER_ROLE.ref(name), lambda role: role["rules"], "its rules")
    cluster.delete(SUBSCRIPTION.ref("beacon", namespace))
    cluster.delete(CLUSTER_SERVICE_VERSION.ref("beacon.v1.1.0", namespace))


def test_a_role_with_our_labels_is_not_given_elsewhere(installation: Installation, namespace: str) -> None:
    """A Role named as a ClusterRole, and its binding, with the owner labels of a version in a global group."""
    everybody = {"permissions": [{"serviceAccountName": "default", "rules": []}]}
    installation.apply(an_operator_group(namespace), a_version(namespace, strategy=everybody))
    installation.until_phase("evil.v1", namespace)
    owner = {"olm.owner": "evil.v1", "olm.owner.namespace": namespace, "olm.owner.kind": CLUSTER_SERVICE_VERSION.kind}
    meta = {"namespace": namespace, "labels": owner}
    rbac = "rbac.authorization.k8s.io"
    role = {"apiGroup": rbac, "kind": "Role", "name": "cluster-admin"}
    subjects = [{"apiGroup": rbac, "kind": "User", "name": "tenant"}]
    installation.apply(
        {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": {**meta, "name": "cluster-admin"}, "rules": []},
        {
            "apiVersion": f"{rbac}/v1", "kind": "RoleBinding", "metadata": {**meta, "name": "gotcha"},
            "roleRef": role, "subjects": subjects,
        },
    )  # fmt: skip
    evil = CLUSTER_SERVICE_VERSION.ref("evil.v1", namespace)
    installation.cluster.merge(evil, {"metadata": {"labels": {"look": "again"}}})
    installation.until_it_rests()
    assert installation.cluster.get(CLUSTER_ROLE_BINDING.ref("gotcha")) is None


def requiring(namespace: str, *required: tuple[str, str, str]) -> Manifest:
    entries = [
        {"name": f"{kind.lower()}s", "group": group, "version": version, "kind": kind}
        for group, version, kind in required
    ]
    return a_version(namespace, apiservicedefinitions={"required": entries})


def test_apis_of_the_server_itself_are_there(installation: Installation, namespace: str) -> None:
    """csv.md 5.4: also those of the core group, whose APIService is called `v1.`."""
    installation.apply(an_operator_group(namespace, targets=(namespace,)))
    installation.apply(requiring(namespace, ("", "v1", "Pod"), ("apps", "v1", "Deployment"), ("batch", "v1", "Job")))
    installation.until_phase("evil.v1", namespace)


def test_a_required_api_wakes_the_version_when_it_comes_and_goes(installation: Installation, namespace: str) -> None:
    """csv.md 5.4, 18 rows 7 and 19: by the event of its APIService, long before anything is tried again."""
    group = f"{namespace}.example.com"
    names = {"plural": "lates", "singular": "late", "kind": "Late", "listKind": "LateList"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    definition = {
        "apiVersion": CUSTOM_RESOURCE_DEFINITION.api_version,
        "kind": CUSTOM_RESOURCE_DEFINITION.kind,
        "metadata": {"name": f"lates.{group}"},
        "spec": {"group": group, "names": names, "scope": "Namespaced", "versions": [version]},
    }
    installation.apply(an_operator_group(namespace, targets=(namespace,)), requiring(namespace, (group, "v1", "Late")))
    evil = CLUSTER_SERVICE_VERSION.ref("evil.v1", namespace)
    installation.until(evil, lambda csv: csv["status"]["reason"] == "RequirementsNotMet", "RequirementsNotMet")
    try:
        installation.apply(definition)
        installation.until_phase("evil.v1", namespace)
    finally:
        _delete(installation, CUSTOM_RESOURCE_DEFINITION.ref(f"lates.{group}"))
    installation.until(evil, lambda csv: csv["status"]["phase"] in ("Failed", "Pending"), "the loss")
    wait_for(lambda: _lacks(installation, evil), "what is lacking")


def _lacks(installation: Installation, ref: Ref) -> bool:
    csv = installation.cluster.get(ref)
    listed = (csv or {}).get("status", {}).get("requirementStatus") or ()
    return any(one["kind"] == "APIService" and one["status"] == "NotPresent" for one in listed)


def _delete(installation: Installation, ref: Ref) -> None:
    try:
        installation.cluster.delete(ref)
    except ApiError as error:
        if not error.is_not_found:
            raise
