"""What the OLMConfig says (csv.md §10.6)."""

from __future__ import annotations

from shared.api.views import field
from shared.api.views.object import Object


class OlmConfig(Object):
    """The settings of an administrator for the whole cluster."""

    __slots__ = ()

    disables_copies = field.flag("spec", "features", "disableCopiedCSVs")
    """Whether operators that watch all namespaces are not copied to them."""
