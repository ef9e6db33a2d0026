"""Classifies refusals of the API server into five kinds, by HTTP status."""

from __future__ import annotations

from shared.adapters.kube import ApiError
from shared.ports import FailureKind

_BY_STATUS: dict[int, FailureKind] = {
    400: "invalid",
    401: "forbidden",
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
    """The kind of a refusal; a status that is not in the table (no answer, 429, 5xx) may go away by itself."""
    return _BY_STATUS.get(error.status, "unavailable")
