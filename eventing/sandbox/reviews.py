"""Answers the review APIs of authentication and authorization."""

from __future__ import annotations

from collections.abc import Mapping

from eventing.sandbox.authentication import MASTERS, account_groups, account_of
from eventing.sandbox.authorization import Act, is_allowed, rules_of
from eventing.sandbox.calls import User
from eventing.sandbox.world import World
from shared.api.manifest import Manifest


def review(kind: str, body: Manifest, user: User, world: World) -> Manifest:
    """Answer a SubjectAccessReview of any sort, a TokenReview or a SelfSubjectReview."""
    spec = body.get("spec") or {}
    if kind == "TokenReview":
        return {**body, "status": _token_status(str(spec.get("token", "")), world)}
    if kind == "SelfSubjectReview":
        return {**body, "status": {"userInfo": _told(user)}}
    if kind == "SelfSubjectRulesReview":
        return {**body, "status": _rules_status(user, str(spec.get("namespace", "")), world)}
    if not kind.startswith("Self"):
        name = str(spec.get("user", ""))
        user = User(name, (*(spec.get("groups") or ()), *account_groups(name)))
    return {**body, "status": {"allowed": is_allowed(user, _act(spec), world)}}


def _act(spec: Mapping[str, Manifest]) -> Act:
    asked = spec.get("resourceAttributes") or {}
    path = (spec.get("nonResourceAttributes") or {}).get("path", "")
    verb = asked.get("verb") or (spec.get("nonResourceAttributes") or {}).get("verb", "")
    below = f"/{asked['subresource']}" if asked.get("subresource") else ""
    resource = asked.get("resource", "") + below
    return Act(verb, asked.get("group", ""), resource, asked.get("namespace", ""), asked.get("name", ""), path)


def _token_status(token: str, world: World) -> Manifest:
    user = account_of(token, world)
    if user is None:
        return {"user": {}, "error": "the token is not known or has expired"}
    return {"authenticated": True, "user": _told(user), "audiences": ["https://kubernetes.default.svc"]}


def _rules_status(user: User, namespace: str, world: World) -> Manifest:
    everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    found = [everything] if MASTERS in user.groups else [dict(rule) for rule in rules_of(user, namespace, world)]
    resource_rules = [rule for rule in found if rule.get("resources")]
    return {
        "resourceRules": resource_rules, "nonResourceRules": [rule for rule in found if rule.get("nonResourceURLs")],
        "incomplete": False,
    }  # fmt: skip


def _told(user: User) -> Manifest:
    return {"username": user.name, "groups": list(user.groups)} | ({"uid": user.uid} if user.uid else {})
