"""Which webhooks want a write by their rules, in equivalent versions too, and by their selectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eventing.local.apiserver.calls import Call
from eventing.local.apiserver.resources import Registry, Resource
from eventing.local.apiserver.world import World
from shared.api.manifest import ReadOnly, labels_of
from shared.domain.selectors import matches

GROUP = "admissionregistration.k8s.io"
NAMESPACES = "/namespaces"


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook of a configuration."""

    configuration: str
    settings: ReadOnly

    @property
    def name(self) -> str:
        """`check.example.com`."""
        return str(self.settings["name"])

    @property
    def fails_open(self) -> bool:
        """Whether a write goes on when the webhook cannot be asked."""
        return bool(self.settings.get("failurePolicy") == "Ignore")


@dataclass(frozen=True, slots=True)
class Write:
    """A write that webhooks are asked about."""

    call: Call
    operation: str
    """`CREATE`, `UPDATE` or `DELETE`."""
    object: ReadOnly | None
    old: ReadOnly | None
    name: str = ""
    resource: Resource | None = None
    """The resource of its objects, when it is not that of the call."""
    options: ReadOnly | None = None
    """The options of a deletion."""
    is_dry_run: bool = False

    @property
    def namespace(self) -> str:
        """The namespace; of a Namespace its own name."""
        return self.name if self.call.resource.table == NAMESPACES else self.call.namespace


def webhooks_of(kind: str, world: World) -> Iterator[Webhook]:
    """All webhooks of the configurations of a kind, in the order in which they are asked."""
    for stored in world.store.list(f"{GROUP}/{kind.lower()}webhookconfigurations"):
        for settings in stored.manifest.get("webhooks") or ():
            yield Webhook(stored.key[2], settings)


def resource_for(webhook: Webhook, write: Write, world: World) -> Resource | None:
    """The version of the resource that a webhook wants; None when it does not want the write."""
    resource, rules = write.call.resource, webhook.settings.get("rules") or ()
    if resource.group == GROUP or not _is_selected(webhook.settings, write, world):
        return None
    if any(_fits(rule, resource, write) for rule in rules):
        return resource
    if webhook.settings.get("matchPolicy") == "Exact":
        return None
    others = [one for one in _equivalents(world.registry, resource) if one.version != resource.version]
    return next((other for rule in rules for other in others if _fits(rule, other, write)), None)


def _equivalents(registry: Registry, resource: Resource) -> Iterator[Resource]:
    for group, versions in registry.versions():
        for version in versions if group == resource.group else ():
            if found := registry.find(group, version, resource.plural):
                yield found


def _fits(rule: ReadOnly, resource: Resource, write: Write) -> bool:
    return (
        _has(rule, "operations", write.operation)
        and _has(rule, "apiGroups", resource.group)
        and _has(rule, "apiVersions", resource.version)
        and _is_in_scope(rule, write)
        and any(_names(one, resource.plural, write.call.subresource) for one in rule.get("resources") or ())
    )


def _has(rule: ReadOnly, field: str, desired: str) -> bool:
    return bool({"*", desired} & set(rule.get(field) or ()))


def _names(pattern: str, plural: str, subresource: str) -> bool:
    name, _, below = pattern.partition("/")
    return name in ("*", plural) and below in ("*", subresource)


def _is_in_scope(rule: ReadOnly, write: Write) -> bool:
    is_cluster_wide = not write.namespace or write.call.resource.table == NAMESPACES
    scope = rule.get("scope") or "*"
    return bool(scope == "*" or (scope == "Cluster") is is_cluster_wide)


def _is_selected(settings: ReadOnly, write: Write, world: World) -> bool:
    if not _has_namespace(settings.get("namespaceSelector") or {}, write, world):
        return False
    selector = settings.get("objectSelector") or {}
    states = [labels_of(one) for one in (write.object, write.old) if one]
    return not any(selector.values()) or any(matches(selector, labels) for labels in states)


def _has_namespace(selector: ReadOnly, write: Write, world: World) -> bool:
    if not write.namespace or not any(selector.values()):
        return True
    return matches(selector, _labels_of_namespace(write, world))


def _labels_of_namespace(write: Write, world: World) -> Mapping[str, Any]:
    if write.call.resource.table == NAMESPACES and not write.call.subresource and write.object:
        return labels_of(write.object)
    stored = world.store.get((NAMESPACES, "", write.namespace))
    return labels_of(stored.manifest) if stored else {}
