"""The component label of an Operator: on the Subscription, installed version and newest plan (catalog.md §3.3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import Object, Subscription
from shared.domain.syntax import QUALIFIED_NAME


def label(package: str, namespace: str) -> str:
    """The key of the label; its value is empty. Empty for a name of which the API server accepts no such key."""
    name = f"{package}.{namespace}"[: QUALIFIED_NAME.longest].rstrip("._-")
    return names.COMPONENT_PREFIX + name if package and QUALIFIED_NAME.fits(name) else ""


def labels(packages: Iterable[str], namespace: str) -> dict[str, str]:
    """The labels of what consists of several packages."""
    return {key: "" for package in packages if (key := label(package, namespace))}


def of(subscription: Subscription) -> str:
    """The label of a Subscription's operator; empty when it names no package, or an impossible one."""
    return label(subscription.package, subscription.namespace)


def joined(component: Object, key: str) -> Manifest:
    """The patch that adds the label; empty when the object has it, or when `key` is empty."""
    return {"metadata": {"labels": {key: ""}}} if key and key not in component.labels else {}


def left(component: Object, keys: Collection[str]) -> Manifest:
    """The patch that removes the labels; empty when the object has none of them."""
    gone = dict.fromkeys(sorted(component.labels.keys() & set(keys)))
    return {"metadata": {"labels": gone}} if gone else {}
