"""What a call has to ask of other servers before it can be answered, and the replies it has so far.

A verb is one synchronous transaction, so it does not wait for a webhook. It raises `Unanswered` instead, and changes
nothing; the server asks, and begins the call anew with the reply among those that it knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from shared.api.manifest import ReadOnly


@dataclass(frozen=True, slots=True)
class Address:
    """Where a webhook or an aggregated API is, as a `clientConfig` gives it."""

    url: str
    """`https://host[:port]/path`; for a Service the name is `<name>.<namespace>.svc`."""
    authority: str = ""
    """Base64 of the PEM certificates that its own is checked with; empty: those of this machine."""
    service: tuple[str, str, int] | None = None
    """Namespace, name and port of its Service; None for a URL."""


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """A POST of a review."""

    address: Address
    body: bytes
    seconds: int


@dataclass(frozen=True, slots=True)
class Reply:
    """The decoded JSON body of a reply, or why there is none."""

    body: Any = None
    error: str = ""


Replies: TypeAlias = dict[ReviewRequest, Reply]


class Unanswered(Exception):
    """A call cannot go on without replies to these questions."""

    def __init__(self, requests: Sequence[ReviewRequest]) -> None:
        super().__init__(f"{len(requests)} questions")
        self.requests = tuple(dict.fromkeys(requests))


def asked(replies: Replies, requests: Sequence[ReviewRequest]) -> list[Reply]:
    """The reply to each question. Unanswered, when one is not known."""
    if missing := [one for one in requests if one not in replies]:
        raise Unanswered(missing)
    return [replies[one] for one in requests]


def address_of(client: ReadOnly) -> Address:
    """The address that a `clientConfig` gives."""
    authority = str(client.get("caBundle") or "")
    service = client.get("service")
    if not service:
        return Address(str(client["url"]), authority)
    namespace, name, port = service["namespace"], service["name"], int(service.get("port") or 443)
    path = str(service.get("path") or "")
    return Address(f"https://{name}.{namespace}.svc:{port}/{path.lstrip('/')}", authority, (namespace, name, port))
