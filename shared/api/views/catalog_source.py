"""What a CatalogSource says (catalog.md §2)."""

from __future__ import annotations

from shared import names
from shared.api import fields
from shared.api.manifest import ReadOnly
from shared.api.views import field
from shared.api.views.object import Object
from shared.api.views.view import View


class Connection(View):
    """The connection of a CatalogSource to its content: `status.connectionState`."""

    __slots__ = ()

    address = field.text("address")
    """`address`: where the registry API is served; empty where it is not."""
    state = field.text("lastObservedState")
    """`lastObservedState`: `CONNECTING`, `READY` or `TRANSIENT_FAILURE`."""
    since = field.moment("lastConnect")
    """`lastConnect`: when that state began."""


class CatalogSource(Object):
    """A catalog of packages, of one namespace or of all."""

    __slots__ = ()

    type = field.text("spec", "sourceType")
    """`spec.sourceType`: `grpc`, `internal` or `configmap`."""
    image = field.text("spec", "image")
    """`spec.image`."""
    address = field.text("spec", "address")
    """`spec.address` of a server of the registry API."""
    config_map = field.text("spec", "configMap")
    """`spec.configMap`."""
    display_name = field.text("spec", "displayName")
    """`spec.displayName`: what people are shown in place of its name."""
    publisher = field.text("spec", "publisher")
    """`spec.publisher`: who answers for its content."""
    priority = field.number("spec", "priority")
    """`spec.priority`: catalogs with a higher one are preferred."""
    image_template = field.text("metadata", "annotations", names.IMAGE_TEMPLATE)
    """The template of its image, from an annotation; empty when it has none."""
    connection = field.view(Connection, "status", "connectionState")
    """`status.connectionState`."""
    reason = field.text("status", "reason")
    """`status.reason`: what is wrong, in one word."""
    message = field.text("status", "message")
    """`status.message`: what is wrong."""

    @property
    def is_by_address(self) -> bool:
        """Whether a server of somebody else serves it."""
        return self.type == "grpc" and bool(self.address) and not self.image

    @property
    def content(self) -> str:
        """The reference by digest of the content that was read last; empty when none was.

        An earlier build wrote it as the address of the connection, where it counts until the status is written anew.
        """
        former = self.connection.address if "@" in self.connection.address else ""
        return self.condition(names.RESOLVED_CONTENT).message or former

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the pull secrets."""
        return tuple(filter(None, fields.texts(self.raw, "spec", "secrets")))

    @property
    def poll(self) -> ReadOnly | None:
        """`spec.updateStrategy.registryPoll`; None when the image is not read again."""
        found = fields.value(self.raw, "spec", "updateStrategy", "registryPoll")
        return found if isinstance(found, dict) else None
