"""Rules of roles and their bindings."""

from __future__ import annotations

from collections.abc import Iterator

from eventing.local.apiserver.failures import Cause, Shown, as_json, bad_value, required, unsupported
from shared.api.manifest import Manifest, ReadOnly

SUBJECTS = ("ServiceAccount", "User", "Group")


def role(manifest: Manifest) -> Iterator[Cause]:
    """The defects of a Role or ClusterRole."""
    for index, rule in enumerate(manifest.get("rules") or []):
        yield from _rule(f"rules[{index}]", rule, is_namespaced=manifest["kind"] == "Role")


def _rule(path: str, rule: ReadOnly, *, is_namespaced: bool) -> Iterator[Cause]:
    if not rule.get("verbs"):
        yield required(f"{path}.verbs", "verbs must contain at least one value")
    if urls := rule.get("nonResourceURLs"):
        if is_namespaced:
            why = "namespaced rules cannot apply to non-resource URLs"
            yield bad_value(f"{path}.nonResourceURLs", Shown(as_json(urls)), why)
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            why = "rules cannot apply to both regular resources and non-resource URLs"
            yield bad_value(f"{path}.nonResourceURLs", Shown(as_json(urls)), why)
        return
    if not rule.get("apiGroups"):
        yield required(f"{path}.apiGroups", "resource rules must supply at least one api group")
    if not rule.get("resources"):
        yield required(f"{path}.resources", "resource rules must supply at least one resource")


def binding(manifest: Manifest) -> Iterator[Cause]:
    """The defects of a RoleBinding or ClusterRoleBinding."""
    is_namespaced, ref = manifest["kind"] == "RoleBinding", manifest.get("roleRef") or {}
    kinds = ("Role", "ClusterRole") if is_namespaced else ("ClusterRole",)
    if ref.get("kind") not in kinds:
        yield unsupported("roleRef.kind", ref.get("kind", ""), *kinds)
    for index, subject in enumerate(manifest.get("subjects") or []):
        path = f"subjects[{index}]"
        if not subject.get("name"):
            yield required(f"{path}.name")
        if subject.get("kind") not in SUBJECTS:
            yield unsupported(f"{path}.kind", subject.get("kind", ""), *SUBJECTS)
        if subject.get("kind") == "ServiceAccount" and not is_namespaced and not subject.get("namespace"):
            yield required(f"{path}.namespace")
