"""Authorizes requests by the stored RBAC objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from multidict import CIMultiDict, CIMultiDictProxy

from eventing.local.apiserver.authentication import MASTERS, account_groups
from eventing.local.apiserver.calls import Call, User, place_of, verb_of
from eventing.local.apiserver.failures import Failure, bad_request, forbidden
from eventing.local.apiserver.resources import RBAC
from eventing.local.apiserver.world import World
from shared.api.manifest import ReadOnly


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


def impersonate(user: User, headers: CIMultiDictProxy[str] | CIMultiDict[str], world: World) -> User:
    """The impersonated user of a request, if its own user may impersonate it; without the headers, its own user."""
    name, groups = headers.get("Impersonate-User", ""), headers.getall("Impersonate-Group", [])
    if not name and not groups:
        return user
    if not name:
        raise bad_request(f"requested {groups} without impersonating a user")
    for act in (_impersonated(name), *(Act("impersonate", resource="groups", name=group) for group in groups)):
        authorize_act(act, user, world)
    return User(name, (*(groups or account_groups(name)), "system:authenticated"))


def _impersonated(name: str) -> Act:
    """To become a user, or the ServiceAccount that a user name means."""
    match name.split(":"):
        case ["system", "serviceaccount", namespace, account]:
            return Act("impersonate", resource="serviceaccounts", namespace=namespace, name=account)
    return Act("impersonate", resource="users", name=name)


def authorize(call: Call, user: User, world: World) -> None:
    """Raise Failure unless the user may make the call."""
    authorize_act(act_of(call), user, world)


def authorize_act(act: Act, user: User, world: World) -> None:
    """Raise Failure unless the user may do that."""
    if act.path:
        authorize_path(act.path, user, world)
    elif not is_allowed(user, act, world):
        where = f'in the namespace "{act.namespace}"' if act.namespace else "at the cluster scope"
        why = f'User "{user.name}" cannot {act.verb} resource "{act.resource}" in API group "{act.group}" {where}'
        raise forbidden(act.resource, act.group, act.name, why)


def remote_act(method: str, path: str, query: Mapping[str, str]) -> Act:
    """The attributes of a request for a path whose kinds another server knows."""
    _, group, _, *rest = path.strip("/").split("/")
    if not rest:
        return Act("get", path=path)
    namespace, plural, name, subresource = place_of(rest)
    resource = f"{plural}/{subresource}" if subresource else plural
    return Act(verb_of(method, name, query), group, resource, namespace, name)


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


def authorize_path(path: str, user: User, world: World) -> None:
    """Raise Failure unless the user may read a non-resource path."""
    if not is_allowed(user, Act("get", path=path), world):
        why = f'User "{user.name}" cannot get path "{path}"'
        raise Failure(403, "Forbidden", f"forbidden: {why}")
