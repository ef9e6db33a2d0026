"""The component label of an Operator: on the Subscription, installed version and newest plan (catalog.md §3.3)."""

from __future__ import annotations

from collections.abc import Collection

from shared import names
from shared.api.manifest import Manifest, ReadOnly, labels_of, namespace_of

_LONGEST = 63


def label(package: str, namespace: str) -> str:
    """The key of the label; its value is empty."""
    return names.COMPONENT_PREFIX + f"{package}.{namespace}"[:_LONGEST].rstrip("._-")


def of(subscription: ReadOnly) -> str:
    """The label of a Subscription's operator; empty when it names no package."""
    package = str((subscription.get("spec") or {}).get("name") or "")
    return label(package, namespace_of(subscription)) if package else ""


def joined(component: ReadOnly, key: str) -> Manifest:
    """The patch that adds the label; empty when the object has it, or when `key` is empty."""
    return {"metadata": {"labels": {key: ""}}} if key and key not in labels_of(component) else {}


def left(component: ReadOnly, keys: Collection[str]) -> Manifest:
    """The patch that removes the labels; empty when the object has none of them."""
    gone = dict.fromkeys(sorted(labels_of(component).keys() & set(keys)))
    return {"metadata": {"labels": gone}} if gone else {}
