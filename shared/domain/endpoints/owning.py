"""Which definitions are really a version's own: those that its plan installed, and that nobody else who lives owns.

A version may claim any definition. What depends on it must not, because the version of another tenant could have the
same one: only a plan names a version in the annotations of a definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from shared.api.manifest import Manifest
from shared.api.views import Csv, CustomResourceDefinition
from shared.domain.operator_groups.provision import provider_of
from shared.kinds import CLUSTER_SERVICE_VERSION, Ref

Objects: TypeAlias = Mapping[Ref, Manifest | None]
"""What was read, by name; None where there is nothing."""

_LEAVING = ("Replacing", "Deleting")


def claims(csv: Csv, definition: CustomResourceDefinition) -> bool:
    """Whether the version says that it owns the definition."""
    return any(entry.name == definition.name for entry in csv.owned_definitions)


def is_named(csv: Csv, definition: CustomResourceDefinition) -> bool:
    """Whether the version claims the definition, and a plan installed it for the version."""
    return claims(csv, definition) and provider_of(csv) in definition.installers and not definition.is_deleted


def other_owner(csv: Csv, definition: CustomResourceDefinition, objects: Objects) -> str:
    """Another living version that owns the definition, as `<namespace>/<name>`; empty without one.

    Only versions among the objects count. Those before and after this one are no rivals, however many are between.
    """
    for provider in definition.installers:
        namespace, _, name = provider.partition("/")
        found = CLUSTER_SERVICE_VERSION.look_up(objects.get, name, namespace)
        other = Csv.of(found) if provider != provider_of(csv) else None
        if other and _owns(other, definition) and not _is_related(csv, other, objects):
            return provider
    return ""


def _owns(other: Csv, definition: CustomResourceDefinition) -> bool:
    """Whether a version is there, and claims the definition."""
    return claims(other, definition) and not other.is_copy and not other.is_deleted


def _is_related(csv: Csv, other: Csv, objects: Objects) -> bool:
    """Whether one of the two takes the place of the other, perhaps after versions between them."""
    if other.namespace != csv.namespace:
        return False
    return other.phase in _LEAVING or csv.name in _before(other, objects) or other.name in _before(csv, objects)


def _before(csv: Csv, objects: Objects) -> set[str]:
    """The names of the versions in whose place one comes, back to the first that is not among the objects."""
    found: Csv | None = csv
    names = set[str]()
    while found and found.predecessor and found.predecessor not in names:
        names.add(found.predecessor)
        found = Csv.of(CLUSTER_SERVICE_VERSION.look_up(objects.get, found.predecessor, csv.namespace))
    return names
