"""Which objects of a phase are tried dry before any of it is written (v1.md §21.7)."""

from __future__ import annotations

from collections.abc import Sequence

from shared import kinds
from shared.api import fields
from shared.api.manifest import ReadOnly, name_of, namespace_of
from shared.api.views import CustomResourceDefinition
from shared.domain.extension.phases.actions import Action
from shared.domain.extension.phases.objects import Task
from shared.domain.extension.phases.order import group_version


def takes_over(phase: Sequence[Task]) -> bool:
    """Whether it changes what an older revision runs."""
    return any(one.action is Action.ADOPT for one in phase)


def tried(phase: Sequence[Task]) -> tuple[Task, ...]:
    """What is tried of what is to be written of a phase: nothing where half of it could harm nothing that runs.

    Nor what only the phase itself makes possible: objects in a namespace that it creates, or of a kind that it defines.
    """
    if len(phase) < 2 or not takes_over(phase):
        return ()
    places = {name_of(one.desired) for one in phase if one.action is Action.CREATE and _is_namespace(one.desired)}
    definitions = (CustomResourceDefinition(one.desired) for one in phase)
    defined = {one.defined for one in definitions if one.kind == kinds.CUSTOM_RESOURCE_DEFINITION.kind}
    return tuple(
        one for one in phase if namespace_of(one.desired) not in places and _group_kind(one.desired) not in defined
    )


def _is_namespace(manifest: ReadOnly) -> bool:
    return _group_kind(manifest) == ("", kinds.NAMESPACE.kind)


def _group_kind(manifest: ReadOnly) -> tuple[str, str]:
    return group_version(manifest)[0], fields.text(manifest, "kind")
