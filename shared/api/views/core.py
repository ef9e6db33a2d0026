"""What the objects of Kubernetes itself say that are neither workloads nor about access."""

from __future__ import annotations

from shared.api import fields
from shared.api.views import field
from shared.api.views.object import Object


class Namespace(Object):
    """A namespace."""

    __slots__ = ()

    @property
    def is_terminating(self) -> bool:
        """Whether it is being deleted, so that nothing can be created in it."""
        return fields.text(self.raw, "status", "phase") == "Terminating"


class Event(Object):
    """What was noticed about another object."""

    __slots__ = ()

    reason = field.text("reason")
    """What it is about, in one word."""
    about = field.part("involvedObject")
    """The reference to the object that it is about."""


class ConfigMap(Object):
    """Texts and bytes under names."""

    __slots__ = ()

    texts = field.strings("data")
    """`data`."""
    bytes = field.strings("binaryData")
    """`binaryData`, each value in base64."""

    @property
    def is_filled(self) -> bool:
        """Whether it has any content."""
        return bool(self.texts or self.bytes)
