"""The write of one step of a plan, by the kind of its object (catalog.md §4.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from shared import kinds, names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, name_of
from shared.api.views import Csv, Object, OwnerReference, PlanStep
from shared.domain.objects.ownership import labels_for, reference_to
from shared.kinds import Kind, Ref

Owner = Literal["none", "reference", "label", "labels"]
StepStatus = Literal["Unknown", "NotPresent", "Present", "Created", "WaitingForApi", "UnsupportedResource"]

INVALID_PLAN = "the InstallPlan contains invalid data"


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule for writing objects of a kind."""

    kind: Kind
    owner: Owner = "none"
    """How the object refers to its ClusterServiceVersion."""
    is_updated: bool = True
    """Whether an existing object is updated; otherwise it is not changed."""


RULES: Mapping[str, Rule] = {
    "ClusterServiceVersion": Rule(kinds.CLUSTER_SERVICE_VERSION, is_updated=False),
    "Subscription": Rule(kinds.SUBSCRIPTION, is_updated=False),
    "BundleSecret": Rule(kinds.SECRET, "reference"),
    "ServiceAccount": Rule(kinds.SERVICE_ACCOUNT),
    "Role": Rule(kinds.ROLE),
    "RoleBinding": Rule(kinds.ROLE_BINDING),
    "ClusterRole": Rule(kinds.CLUSTER_ROLE, "label"),
    "ClusterRoleBinding": Rule(kinds.CLUSTER_ROLE_BINDING, "label"),
    "Service": Rule(kinds.SERVICE, "reference"),
    "ConfigMap": Rule(kinds.CONFIG_MAP, "reference"),
}
"""The kinds that OLM knows; CustomResourceDefinitions are in `crds.py`."""


@dataclass(frozen=True, slots=True)
class StepOwner:
    """The namespace and name of a plan, and the name of the version to which a step belongs."""

    namespace: str
    plan: str
    csv: str


@dataclass(frozen=True, slots=True)
class Action:
    """The action of a step: its new status, and the object to create, to replace or to patch, if any."""

    status: StepStatus
    create: Manifest | None = None
    replace: Manifest | None = None
    patch: tuple[Ref, Manifest] | None = None
    """A JSON merge patch of the object, whatever others write at the same time."""
    index: int = 0
    """The index of the step in its plan."""
    is_ours: bool = False
    """Written with our own rights, whoever carries out the plan."""

    @property
    def ref(self) -> Ref | None:
        """What it writes."""
        written = self.create or self.replace
        return Ref.of(written) if written else self.patch[0] if self.patch else None


def warned(step: PlanStep) -> str:
    """The message of the Event about the server's warnings for a step; see `Create.on_warning`."""
    where = f'installation of operator "{step.csv}"' if step.csv else "operator installation"
    return f'warning(s) generated during {where} ({step.kind} "{step.name}")'


def rule_for(served: Kind) -> Rule:
    """The rule for a kind that has no row in `RULES`."""
    return Rule(served, "reference" if served.is_namespaced else "labels")


def prepared(manifest: ReadOnly, rule: Rule, owner: StepOwner) -> Manifest:
    """The object to write: in the namespace of the plan, with labels, and with the owner that the rule demands.

    A step that names no version, of a plan made by hand, leaves the owners as its manifest states them.
    """
    object_ = Object(manifest)
    labels = {**object_.labels, names.MANAGED: "true", **_owner_labels(rule, owner)}
    meta = {**object_.metadata, "labels": labels}
    meta.pop("namespace", None)
    if rule.kind.is_namespaced:
        meta["namespace"] = owner.namespace
    if rule.kind == kinds.SUBSCRIPTION:
        meta["annotations"] = {**object_.annotations, names.GENERATED_BY: owner.plan}
    if rule.owner == "reference" and owner.csv:
        reference = OwnerReference(reference_to(kinds.CLUSTER_SERVICE_VERSION, owner.csv))
        meta["ownerReferences"] = _united(object_.owners, (reference,))
    whole = {**manifest, "apiVersion": rule.kind.api_version, "kind": rule.kind.kind, "metadata": meta}
    return {key: value for key, value in whole.items() if key != "status"}


def copied(secret: ReadOnly, owner: StepOwner) -> Manifest:
    """A copy of the Secret in the namespace of the plan, without an owner."""
    meta = {"name": name_of(secret), "namespace": owner.namespace, "labels": {names.MANAGED: "true"}}
    content = {key: secret[key] for key in ("type", "data") if key in secret}
    return {"apiVersion": kinds.SECRET.api_version, "kind": kinds.SECRET.kind, "metadata": meta, **content}


def act(desired: Manifest, live: ReadOnly | None, rule: Rule) -> Action:
    """Create the object when it is missing, update it when it exists."""
    if live is None:
        return Action("Created", create=desired)
    return Action("Present", replace=merged(desired, live) if rule.is_updated else None)


def merged(desired: Manifest, live: ReadOnly) -> Manifest:
    """The wanted object, with the metadata that others added to the live one, and with its immutable fields."""
    old, new = Object(live), Object(desired)
    united = {
        "labels": {**old.labels, **new.labels},
        "annotations": {**old.annotations, **new.annotations},
        "ownerReferences": _united(old.owners, new.owners),
    }
    filled = {key: value for key, value in united.items() if value}
    meta = {**new.metadata, "resourceVersion": old.resource_version, **filled}
    kept = {key: live[key] for key in ("secrets", "imagePullSecrets") if key in live and desired["kind"] == _ACCOUNT}
    whole = {**kept, **desired, "metadata": meta}
    if desired["kind"] == kinds.SERVICE.kind:
        addresses = {key: value for key, value in fields.part(live, "spec").items() if key in _ADDRESSES}
        whole["spec"] = {**addresses, **fields.part(desired, "spec")}
    return whole


_ACCOUNT = kinds.SERVICE_ACCOUNT.kind
_ADDRESSES = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort")
"""The fields that the server allocated for a Service and that cannot change."""


def _united(old: Iterable[OwnerReference], new: Iterable[OwnerReference]) -> list[ReadOnly]:
    """Both lists, each owner once; an owner without uid is not created yet, so it replaces an older one of its name."""
    coming = {(one.kind, one.name) for one in new if not one.uid}
    kept = [one for one in old if (one.kind, one.name) not in coming]
    return list({(one.kind, one.name, one.uid): one.raw for one in (*kept, *new)}.values())


def _owner_labels(rule: Rule, owner: StepOwner) -> dict[str, str]:
    match rule.owner if owner.csv else "none":
        case "label":
            return {names.OWNER: owner.csv}
        case "labels":
            return labels_for(owner.csv, owner.namespace)
    return {}


def not_served(kind: str, name: str, group: str, version: str) -> str:
    """The message for an API that the server does not serve."""
    return (
        f"api-server resource not found installing {kind} {name}: GroupVersionKind {group}/{version}, Kind={kind} "
        "not found on the cluster. This API may have been deprecated and removed, see "
        "https://kubernetes.io/docs/reference/using-api/deprecation-guide/ for more information."
    )


def with_uids(manifest: Manifest, csvs: Mapping[str, Csv]) -> Manifest:
    """The object with the uids of the live ClusterServiceVersions that own it."""
    view = Object(manifest)
    if not view.owners:
        return manifest
    refreshed = [
        {**one.raw, "uid": csvs[one.name].uid} if one.kind == _CSV and one.name in csvs else one.raw
        for one in view.owners
    ]
    return {**manifest, "metadata": {**view.metadata, "ownerReferences": refreshed}}


_CSV = kinds.CLUSTER_SERVICE_VERSION.kind
