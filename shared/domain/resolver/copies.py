"""Copied ClusterServiceVersions: they install nothing, but occupy a name in the namespace (csv.md §10)."""

from __future__ import annotations


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
