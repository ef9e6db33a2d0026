"""Asks the API server whether a token is that of a sender (TokenReview), and remembers the answers for a short time.

Knative gives a source, and a broker's subscriptions, an account each, and sends its token for our audience with every
event (OIDC). Any pod can have such a token of its own account, so it is the name of the account that decides.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest

PATH = "/apis/authentication.k8s.io/v1/tokenreviews"
TRUSTED_SECONDS = 60.0
"""How long a token stays good after its account was deleted."""
REFUSED_SECONDS = 10.0
MOST = 1000
"""How many answers of each kind are remembered; the oldest are forgotten first."""


class ReviewUnavailable(Exception):
    """The API server did not say whether it knows the token."""


class TokenReviews:
    """Whether tokens belong to one of the senders; may be asked by several threads."""

    def __init__(
        self,
        post: Callable[[str, Manifest], Manifest],
        audience: str,
        senders: Sequence[str],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`post` sends a body to a path; `senders` are names of users, a `*` at the end stands for any rest."""
        self._post = post
        self._audience = audience
        self._senders = tuple(senders)
        self._now = now
        self._lock = threading.Lock()
        self._until: dict[bool, OrderedDict[bytes, float]] = {True: OrderedDict(), False: OrderedDict()}
        """Until when an answer counts; apart, so that many made-up tokens displace no sender."""

    def __call__(self, token: str) -> bool:
        """Whether the token is that of a sender. ReviewUnavailable when that cannot be found out."""
        key = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        with self._lock:
            for answer, known in self._until.items():
                if self._now() < known.get(key, 0.0):
                    return answer
        answer = self._asked(token)
        with self._lock:
            known = self._until[answer]
            known[key] = self._now() + (TRUSTED_SECONDS if answer else REFUSED_SECONDS)
            known.move_to_end(key)
            if len(known) > MOST:
                known.popitem(last=False)
        return answer

    def _asked(self, token: str) -> bool:
        review = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token, "audiences": [self._audience]},
        }
        try:
            status = self._post(PATH, review).get("status") or {}
        except ApiError as error:
            raise ReviewUnavailable(str(error)) from error
        user = str((status.get("user") or {}).get("username") or "")
        is_known = bool(status.get("authenticated")) and self._audience in (status.get("audiences") or ())
        return is_known and any(_is_named(sender, user) for sender in self._senders)


def _is_named(sender: str, user: str) -> bool:
    return user.startswith(sender[:-1]) if sender.endswith("*") else user == sender
