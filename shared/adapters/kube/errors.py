"""The one error of the Kubernetes adapter: a refusal, or no answer at all."""

from __future__ import annotations

import orjson


class ApiError(Exception):
    """The API server refused a request (`status` is HTTP's), or did not answer (`status` 0, `reason` `Unreachable`)."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(status, reason, message)
        self.status = status
        self.reason = reason
        """CamelCase word of the server: `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`, `Expired`, …"""
        self.message = message

    def __str__(self) -> str:
        return f"{self.reason} ({self.status}): {self.message}" if self.status else f"{self.reason}: {self.message}"

    @property
    def is_not_found(self) -> bool:
        """The object, its namespace or its kind does not exist."""
        return self.status == 404

    @property
    def is_conflict(self) -> bool:
        """The object changed since it was read, or a precondition or field ownership stands against the write."""
        return self.status == 409 and not self.already_exists

    @property
    def already_exists(self) -> bool:
        """An object of that name is there."""
        return self.status == 409 and self.reason == "AlreadyExists"

    @property
    def is_expired(self) -> bool:
        """The resourceVersion or continue token is older than what the server remembers."""
        return self.status == 410

    @property
    def is_unreachable(self) -> bool:
        """There was no answer."""
        return self.status == 0

    @classmethod
    def of_response(cls, status: int, body: bytes) -> ApiError:
        """The error that a response states: a `Status` object, or text of a proxy in between."""
        try:
            said = orjson.loads(body)
        except ValueError:
            said = None
        if isinstance(said, dict) and said.get("kind") == "Status":
            return cls(status, said.get("reason") or "Unknown", said.get("message") or f"HTTP {status}")
        text = body[:500].decode(errors="replace").strip()
        return cls(status, "Unknown", text or f"HTTP {status} without a body")
