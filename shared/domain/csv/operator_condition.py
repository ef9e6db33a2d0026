"""The OperatorCondition of a ClusterServiceVersion, and its Role and RoleBinding (csv.md §11)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from shared import names
from shared.api.manifest import Manifest, ReadOnly, metadata, name_of, namespace_of, timestamp
from shared.domain.objects.ownership import owner_reference
from shared.kinds import OPERATOR_CONDITION, ROLE, ROLE_BINDING, Kind


def operator_condition(csv: ReadOnly) -> Manifest:
    """The OperatorCondition to create, without `overrides` and conditions, which others write."""
    details = ((csv.get("spec") or {}).get("install") or {}).get("spec") or {}
    return {
        **_object(OPERATOR_CONDITION, csv, owner=csv),
        "spec": {
            "serviceAccounts": list(_accounts(details)) or ["default"],
            "deployments": [str(deployment.get("name")) for deployment in details.get("deployments") or ()],
        },
    }


def _accounts(details: ReadOnly) -> Iterator[str]:
    for permission in (*(details.get("clusterPermissions") or ()), *(details.get("permissions") or ())):
        yield str(permission.get("serviceAccountName"))


def _object(kind: Kind, like: ReadOnly, *, owner: ReadOnly) -> Manifest:
    meta = {
        "name": name_of(like),
        "namespace": namespace_of(like),
        "ownerReferences": [owner_reference(owner, controller=True)],
    }
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}


def repair(wanted: ReadOnly, present: ReadOnly) -> Manifest:
    """The merge patch that restores owner, accounts and Deployments of an OperatorCondition; empty: not needed."""
    patch: Manifest = {}
    spec = present.get("spec") or {}
    if changed := {key: value for key, value in wanted["spec"].items() if spec.get(key) != value}:
        patch["spec"] = changed
    owners = metadata(wanted)["ownerReferences"]
    if (metadata(present).get("ownerReferences") or []) != owners:
        patch["metadata"] = {"ownerReferences": owners}
    return patch


def role(condition: ReadOnly, *, owner: ReadOnly) -> Manifest:
    """The Role that lets an operator write its conditions; the owner is the stored OperatorCondition, if it exists."""
    rule = {
        "verbs": ["get", "update", "patch"],
        "apiGroups": [OPERATOR_CONDITION.group],
        "resources": [OPERATOR_CONDITION.plural],
        "resourceNames": [name_of(condition)],
    }
    return {**_managed(ROLE, condition, owner), "rules": [rule]}


def role_binding(condition: ReadOnly, *, owner: ReadOnly) -> Manifest:
    """The RoleBinding of that Role to the accounts of the operator."""
    accounts = dict.fromkeys(condition["spec"]["serviceAccounts"])
    return {
        **_managed(ROLE_BINDING, condition, owner),
        "roleRef": {"apiGroup": ROLE.group, "kind": ROLE.kind, "name": name_of(condition)},
        "subjects": [{"kind": "ServiceAccount", "name": account} for account in accounts],
    }


def _managed(kind: Kind, condition: ReadOnly, owner: ReadOnly) -> Manifest:
    manifest = _object(kind, condition, owner=owner)
    manifest["metadata"]["labels"] = {names.MANAGED: "true"}
    return manifest


def corrected(wanted: ReadOnly, present: ReadOnly) -> Manifest | None:
    """The object with the wanted owner and rules or subjects, or None when they are correct; labels are ignored."""
    owners = metadata(present).get("ownerReferences") or ()
    rights = [key for key in ("rules", "roleRef", "subjects") if key in wanted]
    if list(owners) == metadata(wanted)["ownerReferences"] and all(wanted[key] == present.get(key) for key in rights):
        return None
    meta = {**metadata(present), "ownerReferences": metadata(wanted)["ownerReferences"]}
    return {**present, "metadata": meta, **{key: wanted[key] for key in rights}}


def mirrored(condition: ReadOnly, now: datetime) -> Manifest:
    """The status with the conditions of the spec; conditions already copied at this generation are not changed."""
    generation = int(metadata(condition).get("generation") or 0)
    status = dict(condition.get("status") or {})
    taken = {entry["type"]: entry for entry in status.get("conditions") or ()}
    for report in (condition.get("spec") or {}).get("conditions") or ():
        present = taken.get(report["type"])
        is_same = present is not None and present.get("status") == report.get("status")
        if present and is_same and present.get("observedGeneration") == generation:
            continue
        since = (present or {}).get("lastTransitionTime") if is_same else None
        taken[report["type"]] = {
            **{key: report.get(key, "") for key in ("type", "status", "reason", "message")},
            "lastTransitionTime": since or report.get("lastTransitionTime") or timestamp(now),
            "observedGeneration": generation,
        }
    return {**status, "conditions": list(taken.values())} if taken else status
