"""Answers the review APIs of authentication and authorization."""

from __future__ import annotations

from collections.abc import Callable

from eventing.local.apiserver.authentication import MASTERS, account_groups, user_of
from eventing.local.apiserver.authorization import Act, is_allowed, rules_of
from eventing.local.apiserver.calls import User
from eventing.local.apiserver.failures import bad_request, bad_value, invalid
from eventing.local.apiserver.world import World
from shared.api.manifest import Manifest


def review(kind: str, body: Manifest, user: User, world: World) -> Manifest:
    """Answer a review of any kind: the same object with a status. Failure when its spec is not complete."""
    return {**body, "status": _REVIEWS[kind](body.get("spec") or {}, user, world)}


def _own_access(spec: Manifest, user: User, world: World) -> Manifest:
    if not spec.get("resourceAttributes") and not spec.get("nonResourceAttributes"):
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        raise invalid("", "authorization.k8s.io", "", [bad_value("spec.resourceAttributes", None, why)])
    return {"allowed": is_allowed(user, _act(spec), world)}


def _access(spec: Manifest, _user: User, world: World) -> Manifest:
    name = str(spec.get("user", ""))
    return _own_access(spec, User(name, (*(spec.get("groups") or ()), *account_groups(name))), world)


def _act(spec: Manifest) -> Act:
    asked = spec.get("resourceAttributes") or {}
    path = (spec.get("nonResourceAttributes") or {}).get("path", "")
    verb = asked.get("verb") or (spec.get("nonResourceAttributes") or {}).get("verb", "")
    below = f"/{asked['subresource']}" if asked.get("subresource") else ""
    resource = asked.get("resource", "") + below
    return Act(verb, asked.get("group", ""), resource, asked.get("namespace", ""), asked.get("name", ""), path)


def _rules(spec: Manifest, user: User, world: World) -> Manifest:
    if not spec.get("namespace"):
        raise bad_request("no namespace on request")
    everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    is_master = MASTERS in user.groups
    found = [everything] if is_master else [dict(rule) for rule in rules_of(user, spec["namespace"], world)]
    return {
        "resourceRules": [rule for rule in found if rule.get("resources")],
        "nonResourceRules": [rule for rule in found if rule.get("nonResourceURLs")],
        "incomplete": False,
    }


def _token(spec: Manifest, _user: User, world: World) -> Manifest:
    if not spec.get("token"):
        raise bad_request("token is required for TokenReview in authentication")
    user = user_of(spec["token"], world)
    if user is None:
        return {"user": {}, "error": "the token is not known or has expired"}
    return {"authenticated": True, "user": _user_info(user), "audiences": ["https://kubernetes.default.svc"]}


def _self(_spec: Manifest, user: User, _world: World) -> Manifest:
    return {"userInfo": _user_info(user)}


def _user_info(user: User) -> Manifest:
    return {"username": user.name, "groups": list(user.groups)} | ({"uid": user.uid} if user.uid else {})


_REVIEWS: dict[str, Callable[[Manifest, User, World], Manifest]] = {
    "SelfSubjectAccessReview": _own_access, "SubjectAccessReview": _access, "LocalSubjectAccessReview": _access,
    "SelfSubjectRulesReview": _rules, "TokenReview": _token, "SelfSubjectReview": _self,
}  # fmt: skip
