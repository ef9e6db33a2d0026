"""Identifies the sender of a request: one with a token of ours, an account of the cluster, or an unknown one.

A token is compared in constant time; its file is read again for each request, so that it can be replaced while we run,
and may hold several, one on each line, until the last sender has the new one. It comes in the header `Authorization`,
or as an attribute of the event: a source of Knative sends no header of ours, but can be told to add attributes to each
event (`ceOverrides`), which Broker and Trigger pass on.

Knative gives a source, and a broker's subscriptions, an account each, and sends its token for our audience with every
event (OIDC). Any pod can have such a token of its own account, so the name of the account decides.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Literal, TypeAlias

import structlog

from shared import names
from shared.adapters.kube.token_reviews import Post, ReviewUnavailable, TokenReviews
from shared.api import fields
from shared.api.manifest import ReadOnly
from shared.config import SettingError

Authentication: TypeAlias = Literal["trusted", "unknown", "refused", "later"]
"""`unknown`: nothing is configured by which a sender could be known, its events count as hints; `later`: it could not
be found out now."""
MOST_OF_UNKNOWN = 1000
"""How many jobs of one namespace, in each group and lane, the events of unknown senders may have waiting."""
REVIEW_SECONDS = 5.0
LONGEST_TOKEN = 8192
TRUSTED_SECONDS: Final = 60.0
_REVIEWS_AT_ONCE = 4
log = structlog.get_logger()


class Senders:
    """Judges requests by their `Authorization` header; one object serves all requests."""

    def __init__(
        self,
        *,
        token: str = "",
        token_file: str = "",
        review: Callable[[str], object] | None = None,
        trusts_network: bool = False,
    ) -> None:
        """`review` asks the cluster for the sender whose token it is; `trusts_network` is for lack of all others."""
        self._token, self._file = token, token_file
        self._review = review
        self._trusts_network = trusts_network
        self._threads = ThreadPoolExecutor(_REVIEWS_AT_ONCE, "review") if review else None

    def check(self) -> None:
        """Raise SettingError, at the start, when nobody can ever be known by the file of tokens as it is."""
        try:
            found = Path(self._file).read_text().split() if self._file else [self._token]
        except (OSError, ValueError) as error:
            raise SettingError(f"OLMF_ENDPOINT_TOKEN_FILE: {self._file} cannot be read: {error}") from error
        if not found:
            raise SettingError(f"OLMF_ENDPOINT_TOKEN_FILE: {self._file} has no token")

    @property
    def knows_any(self) -> bool:
        """Whether there is anything by which a sender is known; otherwise all are unknown."""
        return bool(self._token or self._file or self._review) or self._trusts_network

    async def judge(self, headers: Mapping[str, str]) -> Authentication:
        """Whether a request with these headers comes from a trusted sender."""
        if not (self._token or self._file or self._review):
            return "trusted" if self._trusts_network else "unknown"
        shown = _token_in(headers)
        if not shown or len(shown) > LONGEST_TOKEN:
            return "refused"
        if any(_is_same(shown, token) for token in self._tokens()):
            return "trusted"
        return await self._reviewed(shown)

    def _tokens(self) -> list[str]:
        found = [self._token] if self._token else []
        if self._file:
            try:
                found += Path(self._file).read_text().split()
            except (OSError, ValueError) as error:  # why: without the file nobody is known by it, until it is there
                log.warning("token_file_unreadable", file=self._file, error=str(error))
        return found

    async def _reviewed(self, token: str) -> Authentication:
        if self._review is None or self._threads is None:
            return "refused"
        asked = asyncio.get_running_loop().run_in_executor(self._threads, self._review, token)
        try:
            return "trusted" if await asyncio.wait_for(asked, REVIEW_SECONDS) else "refused"
        except (TimeoutError, ReviewUnavailable) as error:
            log.warning("token_not_reviewed", error=str(error) or f"no answer within {REVIEW_SECONDS} s")
            return "later"


def _token_in(headers: Mapping[str, str]) -> str:
    scheme, _, shown = headers.get("authorization", "").partition(" ")
    return shown.strip() if scheme.lower() == "bearer" else headers.get(f"ce-{names.KNOWN_BY}", "")


def _is_same(shown: str, token: str) -> bool:
    """Compares digests, so that neither content nor length shows in the time that it takes."""
    ours, theirs = (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in (token, shown))
    return hmac.compare_digest(ours, theirs)


def reviews_of_senders(
    post: Post, audience: str, senders: Sequence[str], **more: Callable[[], float]
) -> TokenReviews[str]:
    """Reviews of tokens that return the name of a sender; `senders` are user names, a final `*` matches any rest."""

    def named(status: ReadOnly) -> str | None:
        user = fields.text(status, "user", "username")
        return user if user and any(_is_named(sender, user) for sender in senders) else None

    return TokenReviews(post, named, audience=audience, trusted_seconds=TRUSTED_SECONDS, **more)


def _is_named(sender: str, user: str) -> bool:
    return user.startswith(sender[:-1]) if sender.endswith("*") else user == sender
