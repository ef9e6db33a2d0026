"""Operators of installed packages: what they list, when they come back, and that they rest (csv.md §12)."""

from __future__ import annotations

from shared.api.manifest import Manifest, uid_of
from shared.kinds import NAMESPACE, OPERATOR, Ref
from tests.kit.installation import Installation, a_subscription, an_operator_group
from tests.kit.waiting import wait_for

KINDS = {
    "ClusterServiceVersion",
    "Deployment",
    "InstallPlan",
    "Subscription",
    "ServiceAccount",
    "Role",
    "OperatorCondition",
}


def listed(operator: Manifest) -> set[tuple[str, str]]:
    return {(one["kind"], one["name"]) for one in operator["status"]["components"].get("refs", ())}


def test_an_installed_package_is_an_operator_that_comes_back(installation: Installation, namespace: str) -> None:
    """csv.md 18 rows 147, 148 and 150."""
    ref, key = OPERATOR.ref(f"tide.{namespace}"), f"operators.coreos.com/tide.{namespace}"
    installation.apply(an_operator_group(namespace), a_subscription("tide", namespace))
    installation.until_phase("tide.v1.0.0", namespace)
    found = installation.until(ref, lambda one: {kind for kind, _ in listed(one)} >= KINDS, "its components")
    conditions = {
        one["kind"]: {entry["type"] for entry in one.get("conditions", ())}
        for one in found["status"]["components"]["refs"]
    }
    assert conditions["ClusterServiceVersion"] == {"Succeeded"}
    assert "Available" in conditions["Deployment"]

    other = NAMESPACE.ref(namespace)
    installation.cluster.merge(other, {"metadata": {"labels": {key: ""}}})
    installation.until(ref, lambda one: ("Namespace", namespace) in listed(one), "a namespace")
    installation.cluster.merge(other, {"metadata": {"labels": {key: None}}})
    installation.until(ref, lambda one: ("Namespace", namespace) not in listed(one), "no namespace")

    installation.cluster.delete(ref)
    again = installation.until(ref, lambda one: uid_of(one) != uid_of(found) and listed(one), "a new one")
    assert Ref.of(again) == ref
    installation.until_it_rests()


def test_one_without_components_stays_deleted(installation: Installation, namespace: str) -> None:
    """csv.md 18 row 147; no label harms anybody that names no object; no ConfigMap of others counts (§12.4)."""
    ref, place = OPERATOR.ref(f"x.{namespace}"), NAMESPACE.ref(namespace)
    key = f"operators.coreos.com/{ref.name}"
    hostile = {"operators.coreos.com/UPPER_case": "", "operators.coreos.com/a..b": "any"}
    settings = {"name": "settings", "namespace": namespace, "labels": {key: ""}}
    installation.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": settings})
    installation.cluster.merge(place, {"metadata": {"labels": {key: "", **hostile}}})
    installation.until(ref, lambda one: listed(one) == {("Namespace", namespace)}, "its component")
    installation.cluster.merge(place, {"metadata": {"labels": {key: None}}})
    installation.until(ref, lambda one: not listed(one), "no component")
    installation.cluster.delete(ref)
    installation.until_it_rests()
    wait_for(lambda: installation.cluster.get(ref) is None, "its end")
