"""What roles and bindings say, namespaced or not."""

from __future__ import annotations

from shared.api import fields
from shared.api.views import field
from shared.api.views.object import Object
from shared.api.views.view import View


class Role(Object):
    """A Role or ClusterRole."""

    __slots__ = ()

    rules = field.parts("rules")
    """What it allows, as it is: rules are compared and hashed."""

    @property
    def is_aggregated(self) -> bool:
        """Whether a controller fills in its rules (`aggregationRule`)."""
        return bool(fields.value(self.raw, "aggregationRule"))


class Subject(View):
    """Somebody to whom a binding gives a role."""

    __slots__ = ()

    kind = field.text("kind")
    """`User`, `Group` or `ServiceAccount`."""
    name = field.text("name")
    """The name."""
    namespace = field.text("namespace")
    """The namespace of a ServiceAccount; empty when it is not stated."""


class RoleBinding(Object):
    """A RoleBinding or ClusterRoleBinding."""

    __slots__ = ()

    subjects = field.views(Subject, "subjects")
    """To whom it gives it."""

    @property
    def role(self) -> tuple[str, str]:
        """Kind and name of the role that it gives."""
        return fields.text(self.raw, "roleRef", "kind"), fields.text(self.raw, "roleRef", "name")
