"""What who may do: every role and binding outside a namespace, and what the API server says about its subjects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import orjson

from shared.api.manifest import name_of
from shared.kinds import RBAC, SERVICE_ACCOUNT
from tests.conformance.http import Api
from tests.kit.installation import Installation

REVIEWS = "/apis/authorization.k8s.io/v1"
SPECIAL = ("bind", "escalate", "impersonate", "use", "approve", "sign", "attest")
"""Verbs that no discovery names."""
VIRTUAL = (("", "users"), ("", "groups"), ("authentication.k8s.io", "userextras"), ("certificates.k8s.io", "signers"))
"""What is asked of them, and is no resource."""
ANONYMOUS, STRANGER = "system:anonymous", "stranger"
"""Who shows no token, and somebody whom no binding names: what they may, everybody may."""
NEWCOMER = "newcomer"
"""A ServiceAccount that is not there: what it may, every new one of the namespace may."""

Right: TypeAlias = tuple[str, str, str, str]
"""Verb, API group, resource with its subresource (or a path), and name; an empty name means all."""
Asked: TypeAlias = tuple[str, str, Right]
"""Subject, namespace (empty: the whole cluster), right."""


@dataclass(frozen=True, slots=True)
class Permissions:
    """The rights of one moment."""

    roles: Mapping[tuple[str, str, str], str]
    """What each role and binding says, by kind, namespace and name."""
    rules: Mapping[tuple[str, str], frozenset[Right]] = field(default_factory=dict)
    """What the rules that hold for a subject in a namespace allow."""
    reviewed: frozenset[Asked] = frozenset()
    """What the API server allows of all verbs on all resources that it has."""
    asked: int = 0
    """How many of these it was asked about."""


@dataclass(frozen=True, slots=True)
class Look:
    """Whose rights are looked at, and where."""

    own: str
    """The namespace of the tenant; its roles and bindings are its own affair."""
    tenants: tuple[str, ...]
    """Users; what the first one may write there, he may give to others there."""
    others: tuple[str, ...]
    """Users whose rights are not to grow, either."""
    places: tuple[str, ...]
    """Other namespaces."""

    def account(self, name: str) -> str:
        """The user name of a ServiceAccount of the namespace."""
        return f"system:serviceaccount:{self.own}:{name}"

    def permissions(self, installation: Installation, api: Api) -> Permissions:
        """The rights of now."""
        roles = {}
        for kind in RBAC:
            for each in installation.cluster.list(kind):
                meta = each["metadata"]
                if meta.get("namespace") != self.own:
                    output = {name: each.get(name) for name in ("rules", "aggregationRule", "roleRef", "subjects")}
                    key = (kind.kind, meta.get("namespace", ""), meta["name"])
                    roles[key] = orjson.dumps(output, option=orjson.OPT_SORT_KEYS).decode()
        accounts = [self.account(name_of(each)) for each in installation.cluster.list(SERVICE_ACCOUNT, self.own)]
        everybody = (*self.tenants, *self.others, STRANGER, self.account(NEWCOMER))
        pairs = [(user, place) for user in everybody for place in (*self.places, self.own)]
        pairs += [(user, place) for user in accounts for place in (self.places[0], self.own)]
        with ThreadPoolExecutor(4) as pool:
            rules = dict(zip(pairs, pool.map(lambda pair: rules_of(api, *pair), pairs), strict=True))
        asked = list(self._questions(api))
        return Permissions(roles, rules, frozenset(allowed(api, asked)), len(asked))

    def _questions(self, api: Api) -> Iterator[Asked]:
        """All verbs on all resources: for the tenant, what runs in its namespace, and who may not ask for himself."""
        rights = list(everything(api))
        for subject in (self.tenants[0], self.account("default"), ANONYMOUS):
            for place in ("", self.places[0]) if subject != ANONYMOUS else ("",):
                for right in rights:
                    yield subject, place, right

    def gained(self, before: Permissions, after: Permissions) -> list[str]:
        """What is allowed after, and was not before; in the own namespace, what the tenant might not give, either."""
        found = list(more_roles(before.roles, after.roles))
        own = before.rules.get((self.tenants[0], self.own), frozenset())
        for (subject, place), rights in sorted(after.rules.items()):
            known = before.rules.get((subject, place), before.rules.get((self.account(NEWCOMER), place), frozenset()))
            known |= own if place == self.own else frozenset()
            found += [f"{subject} in {place}: {' '.join(one)}" for one in sorted(rights) if not is_covered(one, known)]
        new = sorted(after.reviewed - before.reviewed)
        return [*found, *(f"{who} in {place or 'the cluster'}, reviewed: {' '.join(one)}" for who, place, one in new)]


def acting(api: Api, user: str) -> Api:
    """The API server as a user or a ServiceAccount, in the groups that it puts them in."""
    return api.as_other({"Impersonate-User": user})


def groups_of(user: str) -> list[str]:
    """The groups of a user or a ServiceAccount, which a SubjectAccessReview has to name."""
    if user == ANONYMOUS:
        return ["system:unauthenticated"]
    namespace = user.removeprefix("system:serviceaccount:").partition(":")[0]
    of_account = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}"] if namespace != user else []
    return [*of_account, "system:authenticated"]


def rules_of(api: Api, user: str, place: str) -> frozenset[Right]:
    """What all rules that hold for a user in a namespace allow, those of the whole cluster included."""
    answer = acting(api, user).post(f"{REVIEWS}/selfsubjectrulesreviews", {"spec": {"namespace": place}})
    assert answer.status == 201, answer.body
    status = answer.body["status"]
    return frozenset(right for key in ("resourceRules", "nonResourceRules") for right in rights(status.get(key) or ()))


def rights(rules: Iterable[Any]) -> Iterator[Right]:
    """Each right of some rules."""
    for rule in rules:
        for verb in rule["verbs"]:
            for path in rule.get("nonResourceURLs") or ():
                yield verb, "", path, ""
            for group in rule.get("apiGroups") or ():
                for resource in rule.get("resources") or ():
                    for name in rule.get("resourceNames") or ("",):
                        yield verb, group, resource, name


def is_covered(right: Right, known: frozenset[Right]) -> bool:
    """Whether other rights include this one."""
    verb, group, resource, name = right
    if right in known:
        return True
    below = f"*/{resource.partition('/')[2]}" if "/" in resource and not resource.startswith("/") else resource
    return any(
        (one, api_group, what, called) in known
        for one in (verb, "*") for api_group in (group, "*")
        for what in (resource, "*", below) for called in (name, "")
    )  # fmt: skip


def everything(api: Api) -> Iterator[Right]:
    """Every verb on every resource that the API server has, and the verbs and resources that it does not list."""
    versions = ["/api/v1"]
    for group in api.get("/apis").body["groups"]:
        versions += [f"/apis/{each['groupVersion']}" for each in group["versions"]]
    found: dict[tuple[str, str], set[str]] = {each: set() for each in VIRTUAL}
    for version in versions:
        group = version.split("/")[2] if version != "/api/v1" else ""
        answer = api.get(version)
        for each in answer.body.get("resources") or () if answer.status == 200 else ():
            found.setdefault((group, each["name"]), set()).update(each["verbs"])
    for (group, resource), verbs in found.items():
        yield from ((verb, group, resource, "") for verb in sorted(verbs | set(SPECIAL)))
    yield "*", "*", "*", ""


def allowed(api: Api, asked: list[Asked]) -> list[Asked]:
    """Those of them that the API server allows."""
    size = len(asked) // 4 + 1
    with ThreadPoolExecutor(4) as pool:
        parts = pool.map(lambda start: _allowed(api, asked[start : start + size]), range(0, len(asked), size))
    return [one for part in parts for one in part]


def _allowed(api: Api, asked: list[Asked]) -> list[Asked]:
    own, found = api.again(), []
    for subject, place, right in asked:
        verb, group, resource, _ = right
        plural, _, below = resource.partition("/")
        what = {"verb": verb, "group": group, "resource": plural, "subresource": below, "namespace": place}
        spec = {"user": subject, "groups": groups_of(subject), "resourceAttributes": what}
        answer = own.post(f"{REVIEWS}/subjectaccessreviews", {"spec": spec})
        assert answer.status == 201, answer.body
        if answer.body["status"]["allowed"]:
            found.append((subject, place, right))
    return found


def more_roles(before: Mapping[tuple[str, str, str], str], after: Mapping[tuple[str, str, str], str]) -> Iterator[str]:
    """The rules that roles have, and had not before, and the bindings that are new; no rules give nothing."""
    for key, output in after.items():
        now, was = orjson.loads(output), orjson.loads(before.get(key) or "{}")
        if any(now.get(field) != was.get(field) for field in ("roleRef", "subjects")):
            yield f"{'/'.join(key)}: {output[:300]}"
        elif new := [rule for rule in now.get("rules") or () if rule not in (was.get("rules") or ())]:
            yield f"{'/'.join(key)}: {orjson.dumps(new).decode()[:300]}"
