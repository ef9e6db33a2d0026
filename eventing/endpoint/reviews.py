"""Whether the owner of a token is a sender of events.

Knative gives a source, and a broker's subscriptions, an account each, and sends its token for our audience with every
event (OIDC). Any pod can have such a token of its own account, so it is the name of the account that decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from shared.adapters.kube.token_reviews import Post, TokenReviews
from shared.api import fields
from shared.api.manifest import ReadOnly

TRUSTED_SECONDS: Final = 60.0


def reviews_of_senders(
    post: Post, audience: str, senders: Sequence[str], **more: Callable[[], float]
) -> TokenReviews[str]:
    """The name of the sender that shows a token; `senders` are names of users, a `*` at the end stands for any rest."""

    def named(status: ReadOnly) -> str | None:
        user = fields.text(status, "user", "username")
        return user if user and any(_is_named(sender, user) for sender in senders) else None

    return TokenReviews(post, named, audience=audience, trusted_seconds=TRUSTED_SECONDS, **more)


def _is_named(sender: str, user: str) -> bool:
    return user.startswith(sender[:-1]) if sender.endswith("*") else user == sender
