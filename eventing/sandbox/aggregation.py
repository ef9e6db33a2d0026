"""ClusterRoles that are made of others, kept up to date."""

from __future__ import annotations

from eventing.sandbox.store import Key
from eventing.sandbox.world import World
from shared.api.manifest import ReadOnly, labels_of

TABLE = "rbac.authorization.k8s.io/clusterroles"


def aggregate(changed: Key, world: World) -> None:
    """Give the aggregating roles the rules of the roles they select, after a role changed."""
    if changed[0] != TABLE:
        return
    roles = world.store.list(TABLE)
    for role in roles:
        selectors = (role.manifest.get("aggregationRule") or {}).get("clusterRoleSelectors")
        if selectors is None:
            continue
        rules = []
        for other in roles:
            if other.key != role.key and any(selects(selector, labels_of(other.manifest)) for selector in selectors):
                rules += [rule for rule in other.manifest.get("rules") or [] if rule not in rules]
        if rules != (role.manifest.get("rules") or []):
            world.store.put(role.key, {**role.copy(), "rules": rules})


def selects(selector: ReadOnly, labels: ReadOnly) -> bool:
    """Whether a label selector (the object, not the text) chooses these labels."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    for wanted in selector.get("matchExpressions") or ():
        value, values = labels.get(wanted["key"]), wanted.get("values") or ()
        holds = {
            "In": value in values,
            "NotIn": value not in values,
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }
        if not holds.get(wanted["operator"], False):
            return False
    return True
