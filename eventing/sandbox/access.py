"""Authentication by tokens, authorization by the stored RBAC objects, and the review APIs for both."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import orjson
from multidict import CIMultiDictProxy

from eventing.sandbox.calls import Call, User
from eventing.sandbox.failures import Failure, forbidden, unauthorized
from eventing.sandbox.world import World
from shared.api.manifest import Manifest, ReadOnly, uid_of

RBAC = "rbac.authorization.k8s.io"
MASTERS = "system:masters"
ADMIN = User("admin", (MASTERS, "system:authenticated"), "admin")
ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
OPEN_PATHS = ("/healthz", "/livez", "/readyz", "/version")


@dataclass(frozen=True, slots=True)
class Act:
    """The attributes of a request for authorization."""

    verb: str
    group: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    """For requests that are not about resources."""


def act_of(call: Call) -> Act:
    """The attributes of a call for authorization."""
    resource = call.resource
    name = f"{resource.plural}/{call.subresource}" if call.subresource else resource.plural
    namespace = call.name if resource.table == "/namespaces" else call.namespace
    return Act(call.verb, resource.group, name, namespace, call.name)


def authenticate(header: str, world: World) -> User:
    """The user of an Authorization header."""
    if not header:
        return ANONYMOUS
    token = header.removeprefix("Bearer ").strip()
    if hmac.compare_digest(token.encode(), world.token.encode()):
        return ADMIN
    user = account_of(token, world)
    if user is None:
        raise unauthorized()
    return user


def impersonate(user: User, headers: CIMultiDictProxy[str], world: World) -> User:
    """The impersonated user of a request, if its own user may impersonate it; without the headers, its own user."""
    name = headers.get("Impersonate-User", "")
    if not name:
        return user
    if not is_allowed(user, Act("impersonate", resource="users", name=name), world):
        why = f'User "{user.name}" cannot impersonate resource "users" in API group "" at the cluster scope'
        raise forbidden("users", "", name, why)
    groups = headers.getall("Impersonate-Group", [])
    return User(name, (*groups, *account_groups(name), "system:authenticated"))


def account_groups(name: str) -> tuple[str, ...]:
    """The groups that the name of a service account implies."""
    _, _, rest = name.partition("system:serviceaccount:")
    return ("system:serviceaccounts", f"system:serviceaccounts:{rest.partition(':')[0]}") if rest else ()


def _signature(body: bytes, secret: bytes) -> str:
    return _b64(hmac.digest(secret, body, hashlib.sha256))


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def token_for(account: ReadOnly, seconds: int, world: World) -> tuple[str, int]:
    """A signed token of a service account, and the time at which it expires."""
    meta, end = account["metadata"], int(time.time()) + seconds
    claims = {
        "iss": "https://kubernetes.default.svc", "exp": end,
        "sub": f"system:serviceaccount:{meta['namespace']}:{meta['name']}", "uid": meta["uid"],
    }  # fmt: skip
    body = f"{_b64(orjson.dumps({'alg': 'HS256', 'typ': 'JWT'}))}.{_b64(orjson.dumps(claims))}"
    return f"{body}.{_signature(body.encode(), world.secret)}", end


def account_of(token: str, world: World) -> User | None:
    """The service account of a token; None when the token is not valid or the account was deleted."""
    body, _, signature = token.rpartition(".")
    if not hmac.compare_digest(_signature(body.encode(), world.secret).encode(), signature.encode()):
        return None
    claims = orjson.loads(base64.urlsafe_b64decode(body.partition(".")[2] + "=="))
    _, _, namespace, name = claims["sub"].split(":")
    account = world.store.get(("/serviceaccounts", namespace, name))
    if account is None or uid_of(account.manifest) != claims["uid"] or claims["exp"] < time.time():
        return None
    return User(claims["sub"], (*account_groups(claims["sub"]), "system:authenticated"), claims["uid"])


def authorize(call: Call, user: User, world: World) -> None:
    """Raise Failure unless the user may make the call."""
    act = act_of(call)
    if not is_allowed(user, act, world):
        where = f'in the namespace "{act.namespace}"' if act.namespace else "at the cluster scope"
        group = call.resource.group
        why = f'User "{user.name}" cannot {act.verb} resource "{act.resource}" in API group "{group}" {where}'
        raise forbidden(act.resource, group, call.name, why)


def is_allowed(user: User, act: Act, world: World) -> bool:
    """Whether a rule that is bound to the user allows the request."""
    if MASTERS in user.groups:
        return True
    return any(covers(rule, act) for rule in rules_of(user, act.namespace, world))


def rules_of(user: User, namespace: str, world: World) -> Iterator[ReadOnly]:
    """The rules that bindings give a user in a namespace and in the whole cluster."""
    for binding in world.store.list(f"{RBAC}/clusterrolebindings"):
        yield from _bound(binding.manifest, user, world)
    if namespace:
        for binding in world.store.list(f"{RBAC}/rolebindings", namespace):
            yield from _bound(binding.manifest, user, world)


def _bound(binding: ReadOnly, user: User, world: World) -> Iterator[ReadOnly]:
    namespace = binding["metadata"].get("namespace", "")
    if not any(_is_subject(subject, user, namespace) for subject in binding.get("subjects") or ()):
        return
    ref = binding["roleRef"]
    key = ("clusterroles", "") if ref["kind"] == "ClusterRole" else ("roles", namespace)
    role = world.store.get((f"{RBAC}/{key[0]}", key[1], ref["name"]))
    yield from (role.manifest.get("rules") or ()) if role else ()


def _is_subject(subject: ReadOnly, user: User, namespace: str) -> bool:
    match subject.get("kind"):
        case "User":
            return subject.get("name") == user.name
        case "Group":
            return subject.get("name") in user.groups
        case "ServiceAccount":
            place = subject.get("namespace") or namespace
            return user.name == f"system:serviceaccount:{place}:{subject.get('name')}"
    return False


def covers(rule: ReadOnly, act: Act) -> bool:
    """Whether one rule allows the request."""
    verbs = rule.get("verbs") or ()
    if act.verb not in verbs and "*" not in verbs:
        return False
    if act.path:
        return any(_path_covers(path, act.path) for path in rule.get("nonResourceURLs") or ())
    groups, resources = rule.get("apiGroups") or (), rule.get("resources") or ()
    below = act.resource.partition("/")[2]
    names = rule.get("resourceNames")
    return (
        (act.group in groups or "*" in groups)
        and any(one in resources for one in (act.resource, "*", *([f"*/{below}"] if below else [])))
        and (not names or act.name in names)
    )


def _path_covers(pattern: str, path: str) -> bool:
    return pattern == path or (pattern.endswith("*") and path.startswith(pattern[:-1]))


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


def authorize_path(path: str, user: User, world: World) -> None:
    """Raise Failure unless the user may read a non-resource path."""
    if not is_allowed(user, Act("get", path=path), world):
        why = f'User "{user.name}" cannot get path "{path}"'
        raise Failure(403, "Forbidden", f"forbidden: {why}")
