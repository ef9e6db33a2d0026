"""Rights that are given on purpose, so that it is known that a gain would be seen: each way to give one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_ROLE, Ref
from tests.conformance.attacks.gains import Look, Permissions
from tests.conformance.http import Api
from tests.kit.installation import Installation
from tests.kit.waiting import wait_for

RBAC = "rbac.authorization.k8s.io"
SECRETS = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}
ESCALATION = {"apiGroups": [RBAC], "resources": ["roles"], "verbs": ["escalate"]}
LEVELS = ("view", "edit", "admin")
PATHS = {"nonResourceURLs": ["/logs"], "verbs": ["get"]}


@dataclass(frozen=True)
class Given:
    """One right, and the words that must be in a line of what was gained."""

    objects: tuple[Manifest, ...]
    seen: tuple[tuple[str, ...], ...]


def given(look: Look) -> Iterator[Given]:
    """All ways."""
    tenant, place, own = look.tenants[0], look.places[0], look.own
    user = {"apiGroup": RBAC, "kind": "User", "name": tenant}
    group = {"apiGroup": RBAC, "kind": "Group", "name": f"system:serviceaccounts:{own}"}
    everybody = {"apiGroup": RBAC, "kind": "Group", "name": "system:authenticated"}
    account = {"kind": "ServiceAccount", "name": "default", "namespace": own}
    nobody = {"apiGroup": RBAC, "kind": "Group", "name": "system:unauthenticated"}
    escalates = _role("control-escalates", own, ESCALATION)
    yield Given((_binding("control-user", place, "view", user),), ((f"{tenant} in {place}: ", "get", "pods"),))
    yield Given(
        (_binding("control-account", place, "edit", account),),
        ((f"{look.account('default')} in {place}", "reviewed", "create", "configmaps"),),
    )
    yield Given((_binding("control-group", "", "view", group),), ((f"{look.account('default')} in {place}: ", "pods"),))
    yield Given(
        (_role("control-reads", "", SECRETS, {f"{RBAC}/aggregate-to-view": "true"}),),
        (("ClusterRole//view", "secrets"), *((f"{viewer} in ", ": get  secrets") for viewer in look.others[:1])),
    )
    yield Given(
        (_binding("control-anonymous", "", "view", nobody),),
        (("system:anonymous in the cluster, reviewed", "get  pods"),),
    )
    yield Given(
        (escalates, _binding("control-own", own, "control-escalates", user, kind="Role")),
        ((f"{tenant} in {own}: escalate", "roles"),),
    )
    yield Given(
        (_role("control-paths", "", PATHS), _binding("control-paths", "", "control-paths", everybody)),
        (("stranger in ", "/logs"), ("ClusterRoleBinding//control-paths",)),
    )


def _role(name: str, namespace: str, rule: Manifest, labels: Manifest | None = None) -> Manifest:
    kind = "Role" if namespace else "ClusterRole"
    meta = {"name": name, "labels": labels or {}, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": meta, "rules": [rule]}


def _binding(name: str, namespace: str, role: str, subject: Manifest, *, kind: str = "ClusterRole") -> Manifest:
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {
        "apiVersion": f"{RBAC}/v1", "kind": "RoleBinding" if namespace else "ClusterRoleBinding", "metadata": meta,
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": role}, "subjects": [subject],
    }  # fmt: skip


def unseen(installation: Installation, api: Api, look: Look, before: Permissions) -> list[str]:
    """The given rights that a comparison does not show while they hold, and those that it shows afterwards."""
    ways = list(given(look))
    for way in ways:
        installation.apply(*way.objects)
    try:
        wait_for(lambda: len(_gathering(installation)) == len(LEVELS), f"the rules that {LEVELS} gather")
        found = look.gained(before, look.permissions(installation, api))
    finally:
        for way in ways:
            for each in way.objects:
                installation.cluster.delete(Ref.of(each))
    wait_for(lambda: not _gathering(installation), f"{LEVELS} without what they gathered")
    expected = [words for way in ways for words in way.seen]
    missing = [words for words in expected if not any(all(word in line for word in words) for line in found)]
    after = look.gained(before, look.permissions(installation, api))
    return [*(f"not seen: {' '.join(words)}" for words in missing), *(f"seen for ever: {line}" for line in after)]


def _gathering(installation: Installation) -> list[str]:
    """Which roles have the rule: each gathers from the one before, some time after that one."""
    roles = {name: installation.cluster.get(CLUSTER_ROLE.ref(name)) for name in LEVELS}
    return [name for name, role in roles.items() if role is not None and SECRETS in role["rules"]]
