"""Asks the API server who shows a token (TokenReview), and remembers the answers for a short time."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Generic, TypeAlias, TypeVar

from shared.adapters.kube.errors import ApiError
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly

PATH: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
REFUSED_SECONDS: Final = 10.0
MOST: Final = 1_000
"""How many answers of each kind are remembered; the oldest are forgotten first."""
Post: TypeAlias = Callable[[str, Manifest], Manifest]
"""Sends a body to a path of the API server. ApiError."""
_T = TypeVar("_T")


class ReviewUnavailable(Exception):
    """The API server did not say whether it knows the token."""


class TokenReviews(Generic[_T]):
    """What is made of the owners of tokens; may be asked by several threads."""

    def __init__(
        self, post: Post, read: Callable[[ReadOnly], _T | None], *,
        audience: str = "", trusted_seconds: float, now: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """`read` makes something of the status of a review, None for a token that does not count.

        `audience`: for whom a token has to be; empty: for the API server itself. `trusted_seconds`: how long one stays
        good after its account was deleted.
        """
        self._post, self._read, self._audience, self._now = post, read, audience, now
        self._lock = threading.Lock()
        self._good, self._bad = _Recent[_T](trusted_seconds), _Recent[None](REFUSED_SECONDS)
        """Apart, so that many made-up tokens displace none that counts."""

    def __call__(self, token: str) -> _T | None:
        """What the owner of the token is; None for one that does not count. ReviewUnavailable."""
        key, now = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest(), self._now()
        with self._lock:
            for known in (self._good, self._bad):
                if known.has(key, now):
                    return known.kept[key][1]
        found = self._read(self._asked(token))
        with self._lock:
            if found is None:
                self._bad.keep(key, None, self._now())
            else:
                self._good.keep(key, found, self._now())
        return found

    def _asked(self, token: str) -> ReadOnly:
        """The status of a review; empty for a token that the API server does not know, or that is for others."""
        audiences = {"audiences": [self._audience]} if self._audience else {}
        spec = {"token": token, **audiences}
        try:
            answer = self._post(PATH, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec})
        except ApiError as error:
            raise ReviewUnavailable(str(error)) from error
        status = fields.part(answer, "status")
        is_ours = not self._audience or self._audience in fields.texts(status, "audiences")
        return status if fields.flag(status, "authenticated") and is_ours else {}


class _Recent(Generic[_T]):
    """Answers that count for so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.kept: OrderedDict[bytes, tuple[float, _T]] = OrderedDict()

    def has(self, key: bytes, now: float) -> bool:
        return key in self.kept and now < self.kept[key][0]

    def keep(self, key: bytes, answer: _T, now: float) -> None:
        self.kept[key] = (now + self._seconds, answer)
        self.kept.move_to_end(key)
        if len(self.kept) > MOST:
            self.kept.popitem(last=False)
