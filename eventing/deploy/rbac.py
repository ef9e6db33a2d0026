"""One ServiceAccount and ClusterRole per group of steps; the fused worker is bound to all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from eventing.deploy.rules import BUNDLED_API_GROUPS, READ, RULES, V1_API_GROUPS, WRITE, Rule
from shared.api.manifest import Manifest
from shared.domain.authors.approval import APPROVALS
from shared.domain.authors.policy import AUTHORS
from shared.kinds import SECRET, WATCHED
from shared.names import AGGREGATE_TO_BUNDLES

NAMESPACE = "olm"
RBAC = "rbac.authorization.k8s.io"
WORKER = "olmf-worker"
WATCHER = "olmf-watch"
BUNDLES = "olmf-bundle-kinds"
"""The ClusterRole of what administrators let bundles hold besides the kinds that have a name in code."""
_FOLLOW = ("get", "list", "watch")


def files() -> dict[str, list[Manifest]]:
    """File name to objects."""
    found = {f"{_dashed(group)}.yaml": list(_of_group(group)) for group in RULES}
    found["worker.yaml"] = [
        service_account(WORKER),
        *(binding(WORKER, account_of(group)) for group in RULES),
        binding(WORKER, BUNDLES),
    ]
    found["bundle-kinds.yaml"] = [_gathered(), binding(account_of("install_plan"), BUNDLES)]
    found["watch.yaml"] = [
        service_account(WATCHER),
        role(WATCHER, [*rules(Rule(kind, _FOLLOW) for kind in WATCHED), *_bundled(V1_API_GROUPS, _FOLLOW)]),
        binding(WATCHER, WATCHER),
    ]
    return found


def certificate_reader() -> list[Manifest]:
    """The right of the watcher to see Secrets: it asks for metadata of labelled ones alone, which RBAC cannot say."""
    name = "olmf-certificates"
    return [role(name, rules([Rule(SECRET, ("list", "watch"))])), binding(WATCHER, name)]


def rules_by_role() -> dict[str, list[Manifest]]:
    """The rules of the ClusterRole of each group, by its name."""
    return {account_of(group): _rules_of(group) for group in RULES}


def bindings() -> list[Manifest]:
    """Every ClusterRoleBinding of ours."""
    return [one for listed in files().values() for one in listed if one["kind"] == "ClusterRoleBinding"]


def account_of(group: str) -> str:
    """Name of the ServiceAccount, and of the ClusterRole, of a group."""
    return f"olmf-{_dashed(group)}"


def service_account(name: str) -> Manifest:
    """A ServiceAccount in the namespace of the installation."""
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": NAMESPACE}}


def rules(granted: Iterable[Rule]) -> list[Manifest]:
    """PolicyRules: one per API group and set of verbs, resources sorted."""
    verbs: dict[tuple[str, str], set[str]] = defaultdict(set)
    for right in granted:
        verbs[right.kind.group, right.resource] |= set(right.verbs)
    merged: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for (group, resource), allowed in verbs.items():
        merged[group, tuple(sorted(allowed))].append(resource)
    return [
        {"apiGroups": [group], "resources": sorted(resources), "verbs": list(allowed)}
        for (group, allowed), resources in sorted(merged.items())
    ]


def rule_of_one(right: Rule, name: str) -> Manifest:
    """A PolicyRule for the object of a name alone; who may create it needs a rule without a name."""
    return {**rules([right])[0], "resourceNames": [name]}


def _of_group(group: str) -> Iterator[Manifest]:
    name = account_of(group)
    yield service_account(name)
    yield role(name, _rules_of(group))
    yield binding(name, name)


def _rules_of(group: str) -> list[Manifest]:
    written = _bundled(_BEYOND_KINDS.get(group, {}), (*READ, *WRITE))
    return [*rules(RULES[group]), *written, *STORED.get(group, ()), *ASKED.get(group, ())]


STORED: Mapping[str, tuple[Manifest, ...]] = {
    "install_plan": ({"apiGroups": ["*"], "resources": ["*"], "verbs": ["list"]},),
}
"""The one rule with a wildcard: which definitions a plan changes is known only at run time, and what is stored in them
has to fit. It adds nothing for who may give any rights away."""


ASKED: Mapping[str, tuple[Manifest, ...]] = {
    "install_plan": (
        {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]},
        {
            "apiGroups": ["admissionregistration.k8s.io"],
            "resources": ["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
            "resourceNames": [APPROVALS.name, AUTHORS.name], "verbs": ["get"],
        },
    ),
}  # fmt: skip
"""What authors of Subscriptions may, and whether their names, and those of approvers, can be believed."""


_BEYOND_KINDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "install_plan": BUNDLED_API_GROUPS,
    "cluster_object_set": V1_API_GROUPS,
}
"""Group to the kinds of bundles that it writes beside those that have a name in code."""


def _bundled(groups: Mapping[str, tuple[str, ...]], verbs: tuple[str, ...]) -> Iterator[Manifest]:
    for group, resources in groups.items():
        yield {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def role(name: str, allowed: list[Manifest]) -> Manifest:
    """A ClusterRole with these rules."""
    return {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": allowed}


def granted(name: str, allowed: list[Manifest], subjects: list[Manifest], namespace: str = NAMESPACE) -> list[Manifest]:
    """A Role of a namespace, and the RoleBinding of whoever has it."""
    meta = {"name": name, "namespace": namespace}
    return [
        {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": meta, "rules": allowed},
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": meta,
            "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": name},
            "subjects": subjects,
        },
    ]


def subject(account: str) -> Manifest:
    """An account of the installation, as bindings name it."""
    return {"kind": "ServiceAccount", "name": account, "namespace": NAMESPACE}


def _gathered() -> Manifest:
    """The rules of all ClusterRoles with the label: the API server fills them in."""
    meta = {"name": BUNDLES}
    selector = {"matchLabels": {AGGREGATE_TO_BUNDLES: "true"}}
    kind = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": meta}
    return {**kind, "aggregationRule": {"clusterRoleSelectors": [selector]}}


def binding(account: str, to: str) -> Manifest:
    """The ClusterRoleBinding of an account to a ClusterRole; named after both, unless they have one name."""
    name = account if account == to else f"{account}-{to.removeprefix('olmf-')}"
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": to},
        "subjects": [subject(account)],
    }


def _dashed(group: str) -> str:
    return group.replace("_", "-")
