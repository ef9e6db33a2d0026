"""Parses a request: its verb, resource, user and options."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from eventing.local.apiserver.failures import (
    Cause,
    Failure,
    Shown,
    bad_option,
    bad_request,
    no_such_path,
    not_allowed,
    not_served,
    unsupported,
)
from eventing.local.apiserver.numbers import not_signed
from eventing.local.apiserver.outbound import Replies
from eventing.local.apiserver.resources import Registry, Resource
from shared.api.manifest import Manifest


@dataclass(frozen=True, slots=True)
class User:
    """The user of a request."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A verb on a resource."""

    verb: str
    resource: Resource
    namespace: str
    name: str
    subresource: str
    query: Mapping[str, str]
    user: User
    user_agent: str = ""
    warnings: list[str] = field(default_factory=list)
    """Texts for the `Warning` header of the answer."""
    replies: Replies = field(default_factory=dict)
    """What other servers replied while this call was tried before."""
    identity: uuid.UUID = field(default_factory=uuid.uuid4)
    """What is random in the answer comes of it, so that it is the same whenever the call is tried again."""
    time: str = ""
    """When the call came."""

    @property
    def is_dry_run(self) -> bool:
        """Whether nothing may be stored."""
        return self.query.get("dryRun", "") == "All"

    @property
    def manager(self) -> str:
        """The field manager: the given one, else the first part of the user agent."""
        return self.query.get("fieldManager") or self.user_agent.partition("/")[0] or "unknown"

    @property
    def is_strict(self) -> bool:
        """Whether unknown fields are an error instead of a warning."""
        return self.query.get("fieldValidation") == "Strict"

    def has(self, option: str) -> bool:
        """Whether an option of the query is on."""
        return self.query.get(option, "") in ("true", "1")

    def number(self, option: str) -> int:
        """An option of the query that is a whole number; 0 without it."""
        text = self.query.get(option) or "0"
        if why := not_signed(text):
            raise bad_request(why)
        return int(text)

    def key_of(self, manifest: Manifest) -> tuple[str, str, str]:
        """The key of an object of this call in the store."""
        return (self.resource.table, self.namespace, str(manifest["metadata"]["name"]))


MANAGER_LENGTH = 128
VALIDATIONS = ("", "Ignore", "Strict", "Warn")
_VERBS = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_COLLECTION = {"get": "list", "delete": "deletecollection"}


def parse(
    method: str, path: str, query: Mapping[str, str], registry: Registry, *, user: User, agent: str, time: str
) -> Call:
    """The call of a user for a path."""
    match path.strip("/").split("/"):
        case ["api", version, *rest]:
            group = ""
        case ["apis", group, version, *rest]:
            pass
        case _:
            raise no_such_path()
    if rest[:1] == ["watch"]:
        raise not_served("the old /watch paths")
    namespace, plural, name, subresource = place_of(rest)
    resource = registry.find(group, version, plural)
    if resource is None or bool(namespace) > resource.is_namespaced:
        raise no_such_path()
    if subresource and subresource not in resource.subresources:
        raise _unknown_subresource(resource, subresource)
    verb = verb_of(method, name, query)
    if causes := [*_bad_options(query)]:
        raise bad_option(verb.capitalize(), *causes)
    return Call(verb, resource, namespace, name, subresource, query, user, agent, time=time)


def verb_of(method: str, name: str, query: Mapping[str, str]) -> str:
    """The verb of a request for a resource, or for one object of it."""
    verb = _VERBS.get(method, "")
    if not verb:
        raise not_allowed()
    if name:
        return verb
    verb = _COLLECTION.get(verb, verb)
    return "watch" if verb == "list" and query.get("watch", "").lower() in ("1", "true") else verb


def _bad_options(query: Mapping[str, str]) -> Iterator[Cause]:
    if len(query.get("fieldManager", "")) > MANAGER_LENGTH:
        why = f"Too long: may not be more than {MANAGER_LENGTH} bytes"
        yield Cause("fieldManager", "FieldValueTooLong", why)
    if query.get("dryRun", "All") != "All":
        yield unsupported("dryRun", Shown(f'["{query["dryRun"]}"]'), "All")
    if query.get("fieldValidation", "") not in VALIDATIONS:
        yield unsupported("fieldValidation", query["fieldValidation"], *VALIDATIONS)


def place_of(rest: list[str]) -> tuple[str, str, str, str]:
    """Namespace, plural, name, subresource."""
    match rest:
        case ["namespaces", namespace, ("status" | "finalize") as subresource]:
            return "", "namespaces", namespace, subresource
        case ["namespaces", namespace, plural, *below]:
            pass
        case [plural, *below]:
            namespace = ""
        case _:
            raise no_such_path()
    if len(below) > 2:
        raise not_served(f"paths below {below[1]}")
    return namespace, plural, below[0] if below else "", below[1] if len(below) > 1 else ""


def _unknown_subresource(resource: Resource, subresource: str) -> Failure:
    known = {
        "log", "exec", "attach", "portforward", "proxy", "eviction", "binding", "ephemeralcontainers", "resize",
        "finalize",
    }  # fmt: skip
    return not_served(f"{resource.plural}/{subresource}") if subresource in known else no_such_path()
