"""What who may do: every role and binding outside a namespace, and what the API server says about some users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from shared.kinds import RBAC
from tests.conformance.http import Api
from tests.kit.installation import Installation

REVIEWS = "/apis/authorization.k8s.io/v1"
_RBAC, _OLM, _CRD = "rbac.authorization.k8s.io", "operators.coreos.com", "apiextensions.k8s.io"
ASKED = (
    ("get", "", "secrets", ""), ("list", "", "secrets", ""), ("create", "", "pods", ""), ("create", "", "pods", "exec"),
    ("impersonate", "", "serviceaccounts", ""), ("impersonate", "", "users", ""), ("impersonate", "", "groups", ""),
    ("create", "", "serviceaccounts", "token"), ("delete", "", "namespaces", ""), ("*", "*", "*", ""),
    ("patch", "", "nodes", ""), ("update", "apps", "deployments", ""),
    ("escalate", _RBAC, "clusterroles", ""), ("bind", _RBAC, "clusterroles", ""), ("escalate", _RBAC, "roles", ""),
    ("create", _RBAC, "rolebindings", ""), ("create", _RBAC, "clusterrolebindings", ""),
    ("create", _OLM, "clusterserviceversions", ""), ("create", _OLM, "subscriptions", ""),
    ("update", _OLM, "subscriptions", "status"), ("update", _OLM, "installplans", ""),
    ("update", _OLM, "installplans", "status"), ("create", _CRD, "customresourcedefinitions", ""),
    ("create", "apiregistration.k8s.io", "apiservices", ""),
    ("create", "admissionregistration.k8s.io", "mutatingwebhookconfigurations", ""),
)  # fmt: skip
"""Verb, API group, resource, subresource."""


@dataclass(frozen=True, slots=True)
class Permissions:
    """The rights of one moment."""

    roles: Mapping[tuple[str, str, str], str]
    """What each role and binding says, by kind, namespace and name."""
    allowed: frozenset[tuple[str, ...]]
    """User, namespace, and what it may do there."""


def permissions(
    installation: Installation, api: Api, users: tuple[str, ...], places: tuple[str, ...], but: str
) -> Permissions:
    """The rights of now; roles and bindings of the namespace `but` are its own affair."""
    roles = {}
    for kind in RBAC:
        for each in installation.cluster.list(kind):
            meta = each["metadata"]
            if meta.get("namespace") != but:
                output = {name: each.get(name) for name in ("rules", "aggregationRule", "roleRef", "subjects")}
                key = (kind.kind, meta.get("namespace", ""), meta["name"])
                roles[key] = orjson.dumps(output, option=orjson.OPT_SORT_KEYS).decode()
    allowed = {found for user in users for found in _allowed(api, user, places, but)}
    return Permissions(roles, frozenset(allowed))


def _allowed(api: Api, user: str, places: tuple[str, ...], but: str) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    groups = ["system:authenticated"]
    own = api.as_other({"Impersonate-User": user, "Impersonate-Group": groups[0]})
    for place in (each for each in places if each != but):
        answer = own.post(f"{REVIEWS}/selfsubjectrulesreviews", {"spec": {"namespace": place}})
        assert answer.status == 201, answer.body
        found |= {(user, place, _text(rule)) for rule in answer.body["status"].get("resourceRules") or ()}
    for place in ("", *places):
        for verb, group, resource, below in ASKED:
            what = {"verb": verb, "group": group, "resource": resource, "subresource": below, "namespace": place}
            spec = {"user": user, "groups": groups, "resourceAttributes": what}
            answer = api.post(f"{REVIEWS}/subjectaccessreviews", {"spec": spec})
            assert answer.status == 201, answer.body
            if answer.body["status"]["allowed"]:
                found.add((user, place, verb, group, resource, below))
    return found


def _text(rule: Any) -> str:
    return orjson.dumps({key: sorted(value or ()) for key, value in rule.items()}, option=orjson.OPT_SORT_KEYS).decode()


def gained(before: Permissions, after: Permissions) -> list[str]:
    """What is allowed after, and was not before; a role without rules gives nothing, nor does one that lost some."""
    roles = [
        f"{'/'.join(key)}: {output[:300]}"
        for key, output in after.roles.items()
        if _is_more(output, before.roles.get(key))
    ]
    return [*roles, *(" ".join(each)[:300] for each in sorted(after.allowed - before.allowed))]


def _is_more(output: str, old: str | None) -> bool:
    """Whether a role has a rule that it did not have, or a binding is a new one."""
    now, was = orjson.loads(output), orjson.loads(old or "{}")
    if any(now.get(field) != was.get(field) for field in ("roleRef", "subjects")):
        return True
    return any(rule not in (was.get("rules") or ()) for rule in now.get("rules") or ())
