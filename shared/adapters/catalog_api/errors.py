"""Why a served catalog gives no answer, or cannot be served."""

from __future__ import annotations


class ResponseError(Exception):
    """There is no answer; the text is the one that clients know."""


class BadRequestError(Exception):
    """The question cannot be asked like this."""


class NoCatalogError(Exception):
    """The Service that a client dials is that of no catalog."""


class NotHereError(Exception):
    """The catalog cannot be answered for now; asking again may help."""


class PortTakenError(OSError):
    """The address cannot be listened on."""
