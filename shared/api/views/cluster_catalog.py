"""What a ClusterCatalog says (v1.md §2)."""

from __future__ import annotations

from shared.api import fields
from shared.api.views import field
from shared.api.views.object import Object


class ClusterCatalog(Object):
    """A catalog of OLM v1."""

    __slots__ = ()

    source_type = field.text("spec", "source", "type")
    """`spec.source.type`: `Image`."""
    image = field.text("spec", "source", "image", "ref")
    """`spec.source.image.ref`: the image, by tag or by digest."""
    poll_minutes = field.count("spec", "source", "image", "pollIntervalMinutes")
    """`spec.source.image.pollIntervalMinutes`; 0: it is not looked up again."""
    priority = field.number("spec", "priority")
    """`spec.priority`: catalogs with a higher one are preferred."""
    resolved = field.text("status", "resolvedSource", "image", "ref")
    """`status.resolvedSource.image.ref`: the image by digest that is served; empty when none is."""
    address = field.text("status", "urls", "base")
    """`status.urls.base`: where it is served; empty when it is not."""
    unpacked = field.moment("status", "lastUnpacked")
    """`status.lastUnpacked`: when that was unpacked."""

    @property
    def has_image(self) -> bool:
        """Whether `spec.source.image` is there."""
        return isinstance(fields.value(self.raw, "spec", "source", "image"), dict)

    @property
    def is_disabled(self) -> bool:
        """Whether `spec.availabilityMode` says that nothing is served."""
        return fields.text(self.raw, "spec", "availabilityMode") == "Unavailable"
