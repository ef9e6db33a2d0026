"""With whose rights the plans and versions of a namespace are carried out (catalog.md §4.3, csv.md §8.4).

A group that names a ServiceAccount limits everything to its rights. Whoever cannot be told for sure is nobody: our own
rights are used only where exactly one group manages the namespace, and names no account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared.api.manifest import Manifest
from shared.api.views import Object, OperatorGroup
from shared.kinds import Ref


@dataclass(frozen=True, slots=True)
class Identity:
    """Who acts in a namespace."""

    account: Ref | None = None
    """The ServiceAccount; None: this program, with its own rights."""
    reference: Manifest | None = None
    """The account as a status refers to it."""


@dataclass(frozen=True, slots=True)
class Nobody:
    """Nobody may act in the namespace."""

    message: str
    is_account_missing: bool = False
    """There is a group, but not the account that it names."""


def managing(groups: Sequence[OperatorGroup]) -> Sequence[OperatorGroup]:
    """Those of a namespace that have selected namespaces."""
    return [group for group in groups if group.selected]


def account_named(groups: Sequence[OperatorGroup]) -> str:
    """The ServiceAccount that the only managing group of a namespace names; empty without one."""
    match managing(groups):
        case [group]:
            return group.service_account
    return ""


def identity(groups: Sequence[OperatorGroup], account: Object | None) -> Identity | Nobody:
    """Who acts, or why nobody may; `account` is the one of `account_named`, if it exists and is not being deleted."""
    match managing(groups):
        case []:
            return Nobody("no operator group found that is managing this namespace")
        case [group]:
            return _of_group(group, account)
        case several:
            return Nobody(f"more than one operator group(s) are managing this namespace count={len(several)}")


def _of_group(group: OperatorGroup, account: Object | None) -> Identity | Nobody:
    name = group.service_account
    if not name:
        return Identity()
    if account is None:
        text = f"please make sure the service account exists. sa={name} operatorgroup={group.namespace}/{group.name}"
        return Nobody(text, is_account_missing=True)
    return Identity(Ref.of(account), reference(account))


def reference(account: Object) -> Manifest:
    """A ServiceAccount as statuses refer to it."""
    ref = Ref.of(account)
    named = {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
    return {**named, "uid": account.uid, "resourceVersion": account.resource_version}


def is_same(recorded: object, account: Manifest) -> bool:
    """Whether a status refers to that account; its resourceVersion does not matter, as others write the account."""
    return isinstance(recorded, dict) and all(recorded.get(key) == account[key] for key in ("namespace", "name", "uid"))
