"""Copied ClusterServiceVersions: they install nothing, but occupy a name in the namespace (csv.md §10)."""

from __future__ import annotations


def occupied(name: str, origin: str) -> str:
    """The sentence that says: the operator serves this namespace already, and its copy has the wanted name."""
    return f"{serving(name, origin)}, and its copy here has the same name"


def serving(name: str, origin: str) -> str:
    """The sentence that says: the operator serves this namespace already."""
    return f"{name} is installed for this namespace already, from {_where(origin)}"


def fix_text(origin: str) -> str:
    """The sentence that says how to resolve that conflict."""
    return (
        "Use that one and delete the Subscription, or leave this namespace out of the OperatorGroup of "
        f"{_where(origin)}; the install goes on by itself once the copy is gone."
    )


def _where(origin: str) -> str:
    return f"namespace {origin}" if origin else "another namespace"
