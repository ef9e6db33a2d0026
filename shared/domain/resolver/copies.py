"""Copied ClusterServiceVersions: they install nothing, but occupy a name in the namespace (csv.md §10)."""

from __future__ import annotations

from shared import names
from shared.api.manifest import ReadOnly, annotations_of, labels_of, namespace_of


def is_copy(csv: ReadOnly) -> bool:
    """The CSV was copied here from another namespace (resolver.md §2.5)."""
    operator_namespace = annotations_of(csv).get(names.OPERATOR_NAMESPACE, namespace_of(csv))
    is_told_so = (csv.get("status") or {}).get("reason") == "Copied"
    return is_told_so or names.COPIED_FROM in labels_of(csv) or operator_namespace != namespace_of(csv)


def home_of(copy: ReadOnly) -> str:
    """The namespace of the original; empty when the copy does not say."""
    return labels_of(copy).get(names.COPIED_FROM) or annotations_of(copy).get(names.OPERATOR_NAMESPACE, "")


def occupied(name: str, home: str) -> str:
    """The sentence that says: the operator serves this namespace already, and its copy has the wanted name."""
    return f"{name} is installed for this namespace already, from {_place(home)}, and its copy here has the same name"


def way_out(home: str) -> str:
    """The sentence that says how to resolve that conflict."""
    return (
        f"Use that one and delete the Subscription, or leave this namespace out of the OperatorGroup of {_place(home)}"
        "; the install goes on by itself once the copy is gone."
    )


def _place(home: str) -> str:
    return f"namespace {home}" if home else "another namespace"
