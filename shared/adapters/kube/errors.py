"""The only error of the Kubernetes adapter: the API server refused a request, or did not answer."""

from __future__ import annotations

import re
from typing import Final

import orjson

LONGEST_PAUSE_SECONDS: Final = 10.0
"""A server, or a proxy before it, that wants to be left alone for longer is asked again all the same."""


class ApiError(Exception):
    """The API server refused a request (`status` is HTTP's), or did not answer (`status` 0, `reason` `Unreachable`)."""

    def __init__(self, status: int, reason: str, message: str, *, retry_after: float = 0.0) -> None:
        super().__init__(status, reason, message)
        self.retry_after = retry_after
        """After how many seconds the server wants to be asked again; 0: it did not say."""
        self.status = status
        self.reason = reason
        """The reason in the answer: `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`, `Expired`, …"""
        self.message = message

    def __str__(self) -> str:
        return f"{self.reason} ({self.status}): {self.message}" if self.status else f"{self.reason}: {self.message}"

    @property
    def is_not_found(self) -> bool:
        """The object, its namespace or its kind does not exist."""
        return self.status == 404

    @property
    def is_conflict(self) -> bool:
        """The object changed since it was read, or a precondition or the owner of a field prevents the write."""
        return self.status == 409 and not self.already_exists

    @property
    def already_exists(self) -> bool:
        """An object of that name exists."""
        return self.status == 409 and self.reason == "AlreadyExists"

    @property
    def is_expired(self) -> bool:
        """The resourceVersion or continue token is older than the history of the server."""
        return self.status == 410

    @property
    def is_unanswered(self) -> bool:
        """A webhook that has to allow the request did not answer; the API server has no status of its own for that."""
        return self.status == 500 and "failed calling webhook" in self.message

    @property
    def is_unreachable(self) -> bool:
        """There was no answer."""
        return self.status == 0

    @classmethod
    def of_response(cls, status: int, body: bytes, retry_after: str = "") -> ApiError:
        """The error in a response: a `Status` object, or the text of a proxy; with its header `Retry-After`."""
        pause = seconds_of(retry_after)
        try:
            answer = orjson.loads(body)
        except ValueError:
            answer = None
        if isinstance(answer, dict) and answer.get("kind") == "Status":
            return cls(
                status, answer.get("reason") or "Unknown", answer.get("message") or f"HTTP {status}", retry_after=pause
            )
        text = body[:500].decode(errors="replace").strip()
        return cls(status, "Unknown", text or f"HTTP {status} without a body", retry_after=pause)


def seconds_of(retry_after: str) -> float:
    """The header `Retry-After` in seconds, as API servers send it; 0 for anything else. It is bounded."""
    return min(float(retry_after), LONGEST_PAUSE_SECONDS) if re.fullmatch("[0-9]{1,9}", retry_after) else 0.0
