"""Why a served catalog gives no answer, or cannot be served."""

from __future__ import annotations


class AnswerError(Exception):
    """There is no answer; the text is the one that clients know."""


class BadQuestionError(Exception):
    """The question cannot be asked like this."""


class PortTakenError(OSError):
    """The address cannot be listened on."""
