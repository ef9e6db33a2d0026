"""Classifies refusals of the API server into kinds, by HTTP status."""

from __future__ import annotations

import re

from shared.adapters.kube import ApiError
from shared.ports import FailureKind

_BY_STATUS: dict[int, FailureKind] = {
    400: "invalid",
    403: "forbidden",
    404: "gone",
    405: "invalid",
    409: "conflict",
    410: "gone",
    413: "invalid",
    415: "invalid",
    422: "invalid",
}


def kind_of(error: ApiError) -> FailureKind:
    """The kind of a refusal; a status that is not in the table (no answer, 429, 5xx) may go away by itself.

    So may 401: our token is being rotated, or the server does not yet know who signs it. What an account lacks is 403.
    """
    if error.is_unanswered:
        return "unanswered"
    return _BY_STATUS.get(error.status, "unavailable")


_UID_PRECONDITION = re.compile(r"\bUID in (?:the )?precondition\b")
"""What API servers say of a uid that was asked for: the first when they look, the second when they write."""


def is_of_another_object(error: ApiError) -> bool:
    """Whether a precondition on the uid failed: what was meant is gone, and another object has its name."""
    return error.is_conflict and bool(_UID_PRECONDITION.search(error.message))
