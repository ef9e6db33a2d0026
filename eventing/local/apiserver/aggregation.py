"""Updates the rules of aggregated ClusterRoles."""

from __future__ import annotations

from eventing.local.apiserver.resources import RBAC
from eventing.local.apiserver.store import Change, Stored
from eventing.local.apiserver.world import World
from shared.api.manifest import ReadOnly, labels_of
from shared.domain.selectors import matches

TABLE = f"{RBAC}/clusterroles"


def aggregate(change: Change, world: World) -> None:
    """Update the aggregated roles that select the changed role (or are the changed role) with the rules they select."""
    if change.now.key[0] != TABLE:
        return
    states = [labels_of(one.manifest) for one in (change.now, change.before) if one]
    roles = world.store.list(TABLE)
    for role in roles:
        selectors = _selectors(role)
        is_concerned = role.key == change.now.key or any(matches(one, labels) for one in selectors for labels in states)
        if selectors and is_concerned:
            _gather(role, roles, world)


def _selectors(role: Stored) -> list[ReadOnly]:
    return (role.manifest.get("aggregationRule") or {}).get("clusterRoleSelectors") or []


def _gather(role: Stored, roles: list[Stored], world: World) -> None:
    rules: list[ReadOnly] = []
    for other in roles:
        labels = labels_of(other.manifest)
        if other.key != role.key and any(matches(selector, labels) for selector in _selectors(role)):
            rules += [rule for rule in other.manifest.get("rules") or [] if rule not in rules]
    if rules != (role.manifest.get("rules") or []):
        world.store.put(role.key, {**role.copy(), "rules": rules})
