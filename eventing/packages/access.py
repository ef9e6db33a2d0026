"""Asks the API server who shows a token, and whether somebody may see packages; remembers answers for ten seconds."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final, Generic, TypeAlias, TypeVar

from eventing.packages.requester import ANONYMOUS, User, access_review, reviewed
from shared.adapters.kube import ApiError
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly

Post: TypeAlias = Callable[[str, Manifest], Manifest]
SECONDS: Final = 5.0
"""How long the API server may take for an answer."""
FRESH_SECONDS: Final = 10.0
MOST: Final = 2_000
_TOKENS: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
_ACCESS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_AT_ONCE: Final = 8
_T = TypeVar("_T")


class ReviewUnavailable(Exception):
    """The API server did not answer."""


class Access:
    """Who somebody is, and what he may do. Belongs to one loop; questions wait in threads."""

    def __init__(self, post: Post, now: Callable[[], float] = time.monotonic) -> None:
        """`post` sends a body to a path of the API server; raises ApiError."""
        self._post = post
        self._threads = ThreadPoolExecutor(_AT_ONCE, "review")
        self._users: _Recent[User | None] = _Recent(now)
        self._answers: _Recent[str] = _Recent(now)
        self._is_proven = False
        """Whether an answer has come."""
        self.flaw = ""
        """Why nobody can be told what he may do: the API server refuses such questions; empty when it does not."""

    async def try_out(self) -> None:
        """Find out whether we may ask, if that is not known to be so."""
        if self.flaw or not self._is_proven:
            with suppress(ReviewUnavailable):
                await self._asked(_ACCESS, access_review(ANONYMOUS, "get", ""))

    async def owner(self, token: str) -> User | None:
        """The owner of a token; None for one that the cluster does not know. ReviewUnavailable."""
        key = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        if key not in self._users:
            review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
            self._users.keep(key, reviewed(await self._asked(_TOKENS, review)))
        return self._users[key]

    async def refusal(self, user: User, verb: str, namespace: str, *, subresource: str = "", name: str = "") -> str:
        """Why a user may not do that; empty when he may. ReviewUnavailable."""
        key = (user, verb, namespace, subresource, name)
        if key not in self._answers:
            review = access_review(user, verb, namespace, subresource=subresource, name=name)
            status = await self._asked(_ACCESS, review)
            why = fields.text(status, "reason") or "no rule allows it"
            self._answers.keep(key, "" if fields.flag(status, "allowed") else why)
        return self._answers[key]

    async def _asked(self, path: str, review: Manifest) -> ReadOnly:
        asked = asyncio.get_running_loop().run_in_executor(self._threads, self._post, path, review)
        try:
            status = fields.part(await asyncio.wait_for(asked, SECONDS), "status")
        except (TimeoutError, ApiError) as error:
            if isinstance(error, ApiError) and error.status in (401, 403):
                self.flaw = f"may not ask who may do what: {error.message}"
            raise ReviewUnavailable(str(error) or f"no answer within {SECONDS:g} s") from error
        self._is_proven, self.flaw = True, ""
        return status


class _Recent(Generic[_T]):
    """Answers that still count; the oldest are forgotten first."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._kept: OrderedDict[Hashable, tuple[float, _T]] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept and self._now() < self._kept[key][0]

    def __getitem__(self, key: Hashable) -> _T:
        return self._kept[key][1]

    def keep(self, key: Hashable, answer: _T) -> None:
        self._kept[key] = (self._now() + FRESH_SECONDS, answer)
        self._kept.move_to_end(key)
        if len(self._kept) > MOST:
            self._kept.popitem(last=False)
