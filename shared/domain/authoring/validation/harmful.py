"""Objects that could harm the cluster that they are installed into (fbc.md §11.7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from shared.api.manifest import ReadOnly
from shared.domain.authoring.validation.finding import ERROR, WARNING, Finding
from shared.domain.authoring.validation.subject import Subject
from shared.domain.bundle.shape import as_list, as_object, name_in

_PERCENT: Final = re.compile(r"0*([0-9]+)%")
_RULE: Final = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
_BUDGET_VERBS: Final = {"create", "update", "patch", "*"}
_CONSTRAINT_VERBS: Final = {"delete", "update", "patch", "*"}
_CONSTRAINTS: Final = {
    "privileged", "restricted", "anyuid", "hostaccess", "hostmount-anyuid", "hostnetwork", "node-exporter", "nonroot",
}  # fmt: skip


def harmful(subject: Subject) -> Iterator[Finding]:
    """What is dangerous in disruption budgets, priority classes and roles."""
    for path, manifest in subject.of_kind("PodDisruptionBudget"):
        yield from (_found(detail, path, manifest) for detail in _budget(as_object(manifest.get("spec"))))
    for path, manifest in subject.of_kind("PriorityClass"):
        if manifest.get("globalDefault") is True:
            yield _found("globalDefault field cannot be set to true", path, manifest)
    for path, manifest in subject.of_kind("Role", "ClusterRole"):
        for rule in map(as_object, as_list(manifest.get("rules"))):
            yield from (one.at(path) for one in _rule(rule))


def _found(detail: str, path: str, manifest: ReadOnly) -> Finding:
    return Finding(ERROR, detail, path, value=name_in(manifest))


def _budget(spec: ReadOnly) -> Iterator[str]:
    if _amount(spec.get("maxUnavailable")) in ("0", "0%"):
        yield "maxUnavailable field cannot be set to 0 or 0%"
    if _amount(spec.get("minAvailable")) == "100%":
        yield "minAvailable field cannot be set to 100%"


def _amount(value: object) -> str:
    text = "" if isinstance(value, bool) or value is None else str(value)
    percent = _PERCENT.fullmatch(text)
    return f"{percent[1]}%" if percent else text


def _rule(rule: ReadOnly) -> Iterator[Finding]:
    value = f"{{{' '.join(_bracketed(rule.get(field)) for field in _RULE)}}}"
    groups, resources = as_list(rule.get("apiGroups")), as_list(rule.get("resources"))
    verbs = {verb for verb in as_list(rule.get("verbs")) if isinstance(verb, str)}
    if "policy" in groups and "poddisruptionbudgets" in resources and verbs & _BUDGET_VERBS:
        what = "RBAC includes permission to create/update poddisruptionbudgets, which could impact cluster stability"
        yield Finding(WARNING, what, value=value)
    is_about = "security.openshift.io" in groups and "securitycontextconstraints" in resources
    named = {name for name in as_list(rule.get("resourceNames")) if isinstance(name, str)}
    if is_about and verbs & _CONSTRAINT_VERBS and named & _CONSTRAINTS:
        what = "RBAC includes permission to modify default securitycontextconstraints, which could impact"
        yield Finding(ERROR, f"{what} cluster stability", value=value)


def _bracketed(listed: object) -> str:
    return f"[{' '.join(map(str, as_list(listed)))}]"
