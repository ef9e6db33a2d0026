"""Asks the API server who shows a token, and whether somebody may see packages; remembers answers for ten seconds."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final, TypeAlias, TypeVar

from eventing.packages.requester import ANONYMOUS, User, access_review, reviewed
from eventing.packages.shares import Shares
from shared.adapters.kube import ApiError
from shared.adapters.kube.token_reviews import Post, ReviewUnavailable, TokenReviews
from shared.api import fields

SECONDS: Final = 5.0
"""How long the API server may take for an answer."""
FRESH_SECONDS: Final = 10.0
MOST: Final = 2_000
_ACCESS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_AT_ONCE: Final = 8
_Request: TypeAlias = tuple[User, str, str, str, str]
_T = TypeVar("_T")


class Access:
    """Who somebody is, and what he may do. Belongs to one loop; questions wait in threads."""

    def __init__(self, post: Post, now: Callable[[], float] = time.monotonic) -> None:
        """`post` sends a body to a path of the API server; raises ApiError."""
        self._post, self._now = post, now
        self._threads = ThreadPoolExecutor(_AT_ONCE, "review")
        self._reviews = Shares("questions to the API server", each=2 * _AT_ONCE, together=16 * _AT_ONCE)
        self._owners = TokenReviews(post, reviewed, trusted_seconds=FRESH_SECONDS, now=now)
        self._answers: OrderedDict[_Request, tuple[float, str]] = OrderedDict()
        self._is_proven = False
        """Whether an answer has come."""
        self.flaw = ""
        """Why nobody can be told what he may do: the API server refuses such questions; empty when it does not."""

    async def try_out(self) -> None:
        """Find out whether we may ask, if that is not known to be so."""
        if self.flaw or not self._is_proven:
            with suppress(ReviewUnavailable):
                await self._asked(lambda: self._reviewed((ANONYMOUS, "get", "", "", "")))

    async def owner(self, token: str) -> User | None:
        """The owner of a token; None for one that the cluster does not know. ReviewUnavailable, TooMany."""
        with self._reviews.one(""):
            return await self._asked(lambda: self._owners(token))

    async def refusal(self, user: User, verb: str, namespace: str, *, subresource: str = "", name: str = "") -> str:
        """Why a user may not do that; empty when he may. ReviewUnavailable, TooMany."""
        key = (user, verb, namespace, subresource, name)
        until, why = self._answers.get(key, (0.0, ""))
        if self._now() < until:
            return why
        with self._reviews.one(user.tenant):
            why = await self._asked(lambda: self._reviewed(key))
        self._answers[key] = (self._now() + FRESH_SECONDS, why)
        self._answers.move_to_end(key)
        if len(self._answers) > MOST:
            self._answers.popitem(last=False)
        return why

    def _reviewed(self, request: _Request) -> str:
        """Why not, as the API server says it; empty when it allows it."""
        user, verb, namespace, subresource, name = request
        review = access_review(user, verb, namespace, subresource=subresource, name=name)
        try:
            status = fields.part(self._post(_ACCESS, review), "status")
        except ApiError as error:
            raise ReviewUnavailable(str(error)) from error
        return "" if fields.flag(status, "allowed") else fields.text(status, "reason") or "no rule allows it"

    async def _asked(self, ask: Callable[[], _T]) -> _T:
        asked = asyncio.get_running_loop().run_in_executor(self._threads, ask)
        try:
            answer = await asyncio.wait_for(asked, SECONDS)
        except TimeoutError as error:
            raise ReviewUnavailable(f"no answer within {SECONDS:g} s") from error
        except ReviewUnavailable as error:
            cause = error.__cause__
            if isinstance(cause, ApiError) and cause.status in (401, 403):
                self.flaw = f"may not ask who may do what: {cause.message}"
            raise
        self._is_proven, self.flaw = True, ""
        return answer
