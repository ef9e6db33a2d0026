"""The OperatorCondition of a ClusterServiceVersion, and its Role and RoleBinding (csv.md §11)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, metadata, timestamp
from shared.api.views import ABSENT, Csv, InstallStrategy, Object, OperatorCondition
from shared.domain.objects.ownership import component_labels, owner_reference
from shared.kinds import OPERATOR_CONDITION, ROLE, ROLE_BINDING, Kind


def operator_condition(csv: Csv) -> Manifest:
    """The OperatorCondition to create, without `overrides` and conditions, which others write."""
    whole, labels = _object(OPERATOR_CONDITION, csv, owner=csv), component_labels(csv)
    return {
        **whole,
        "metadata": {**whole["metadata"], **({"labels": labels} if labels else {})},
        "spec": {
            "serviceAccounts": list(_accounts(csv.install)) or ["default"],
            "deployments": [deployment.name for deployment in csv.install.deployments],
        },
    }


def _accounts(install: InstallStrategy) -> Iterator[str]:
    for permission in (*install.cluster_permissions, *install.permissions):
        yield fields.text(permission, "serviceAccountName")


def _object(kind: Kind, like: Object, *, owner: Object) -> Manifest:
    meta = {
        "name": like.name,
        "namespace": like.namespace,
        "ownerReferences": [owner_reference(owner, controller=True)],
    }
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}


def repair(desired: ReadOnly, present: OperatorCondition) -> Manifest:
    """The merge patch that restores owner, accounts and Deployments of an OperatorCondition; empty: not needed."""
    patch: Manifest = {}
    if changed := {key: value for key, value in desired["spec"].items() if fields.value(present.spec, key) != value}:
        patch["spec"] = changed
    owners = metadata(desired)["ownerReferences"]
    if [one.raw for one in present.owners] != owners:
        patch["metadata"] = {"ownerReferences": owners}
    return patch


def role(condition: OperatorCondition, *, owner: Object) -> Manifest:
    """The Role that lets an operator write its conditions; the owner is the stored OperatorCondition, if it exists."""
    rule = {
        "verbs": ["get", "update", "patch"],
        "apiGroups": [OPERATOR_CONDITION.group],
        "resources": [OPERATOR_CONDITION.plural],
        "resourceNames": [condition.name],
    }
    return {**_managed(ROLE, condition, owner), "rules": [rule]}


def role_binding(condition: OperatorCondition, *, owner: Object) -> Manifest:
    """The RoleBinding of that Role to the accounts of the operator."""
    accounts = dict.fromkeys(fields.texts(condition.raw, "spec", "serviceAccounts"))
    return {
        **_managed(ROLE_BINDING, condition, owner),
        "roleRef": {"apiGroup": ROLE.group, "kind": ROLE.kind, "name": condition.name},
        "subjects": [{"kind": "ServiceAccount", "name": account} for account in accounts],
    }


def _managed(kind: Kind, condition: OperatorCondition, owner: Object) -> Manifest:
    manifest = _object(kind, condition, owner=owner)
    manifest["metadata"]["labels"] = {names.MANAGED: "true"}
    return manifest


def corrected(desired: ReadOnly, present: Object) -> Manifest | None:
    """The object with the wanted owner and rules or subjects, or None when they are correct; labels are ignored."""
    granting = [key for key in ("rules", "roleRef", "subjects") if key in desired]
    owners = metadata(desired)["ownerReferences"]
    is_ours = [one.raw for one in present.owners] == owners
    if is_ours and all(desired[key] == fields.value(present.raw, key) for key in granting):
        return None
    meta = {**present.metadata, "ownerReferences": owners}
    return {**present.raw, "metadata": meta, **{key: desired[key] for key in granting}}


def is_ours(present: Object) -> bool:
    """Whether a Role or RoleBinding was made for an OperatorCondition of its name, of this one or of one before.

    Who names a version chooses that name, and may have no right to what somebody else has called so.
    """
    if not present.owners:
        return present.labels.get(names.MANAGED) == "true"
    return any((one.kind, one.name) == (OPERATOR_CONDITION.kind, present.name) for one in present.owners)


def mirrored(condition: OperatorCondition, now: datetime) -> Manifest:
    """The status with the conditions of the spec; conditions already copied at this generation are not changed."""
    generation, status = condition.generation, dict(condition.status)
    taken = {one.type: dict(one.raw) for one in condition.conditions}
    for report in condition.reported:
        present = condition.condition(report.type)
        is_same = present != ABSENT and present.status == report.status
        if is_same and present.observed_generation == generation:
            continue
        since = present.since_text if is_same else ""
        taken[report.type] = {
            "type": report.type,
            "status": report.status,
            "reason": report.reason,
            "message": report.message,
            "lastTransitionTime": since or report.since_text or timestamp(now),
            "observedGeneration": generation,
        }
    return {**status, "conditions": list(taken.values())} if taken else status
