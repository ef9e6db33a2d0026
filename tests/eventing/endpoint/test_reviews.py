"""Tokens of accounts: the API server says whose they are, and is not asked again for a while."""

from __future__ import annotations

from typing import Any

import pytest

from eventing.endpoint.senders import reviews_of_senders
from shared.adapters.kube import ApiError
from shared.adapters.kube.token_reviews import MOST, ReviewUnavailable, TokenReviews
from shared.api.manifest import Manifest

BROKER = "system:serviceaccount:olm:olmf-oidc-trigger"


class Server:
    """Knows tokens by their users, all of them for the audience `olmf`."""

    def __init__(self, **users: str) -> None:
        self.users = users
        self.asked: list[str] = []
        self.audiences = ["olmf"]
        self.is_away = False
        self.now = 0.0

    def post(self, path: str, body: Manifest) -> Manifest:
        assert path == "/apis/authentication.k8s.io/v1/tokenreviews"
        if self.is_away:
            raise ApiError(0, "Unreachable", "no answer")
        token, desired = body["spec"]["token"], body["spec"]["audiences"]
        self.asked.append(token)
        user = self.users.get(token)
        audiences = [each for each in desired if each in self.audiences]
        status: dict[str, Any] = {"authenticated": bool(user and audiences)}
        if user:
            status |= {"user": {"username": user}, "audiences": audiences}
        return {**body, "status": status}

    def reviews(self, *senders: str) -> TokenReviews[str]:
        return reviews_of_senders(self.post, "olmf", senders or (BROKER,), now=lambda: self.now)


@pytest.mark.parametrize(
    ("user", "senders", "want"),
    [
        pytest.param(BROKER, (BROKER,), True, id="the account that is named"),
        pytest.param(BROKER, ("system:serviceaccount:olm:*",), True, id="one of the namespace that is named"),
        pytest.param("system:serviceaccount:olm-x:b", ("system:serviceaccount:olm:*",), False, id="of another one"),
        pytest.param(f"{BROKER}-2", (BROKER,), False, id="a longer name"),
        pytest.param("", (BROKER,), False, id="nobody"),
        pytest.param(BROKER, ("x", BROKER), True, id="the second of two"),
    ],
)
def test_the_name_of_the_account_decides(user: str, senders: tuple[str, ...], want: bool) -> None:
    assert Server(token=user).reviews(*senders)("token") == (user if want else None)


def test_a_token_for_another_audience_is_none() -> None:
    server = Server(token=BROKER)
    server.audiences = ["https://kubernetes.default.svc"]
    assert server.reviews()("token") is None


def test_answers_are_remembered_for_a_short_time() -> None:
    server = Server(good=BROKER)
    review = server.reviews()
    for server.now, want in ((0.0, 2), (9.0, 2), (11.0, 3), (59.0, 4), (61.0, 5)):
        assert (review("good"), review("bad")) == (BROKER, None)
        assert len(server.asked) == want, f"after {server.now} s"


def test_not_more_than_so_many_are_remembered() -> None:
    server = Server()
    review = server.reviews()
    for number in range(MOST + 1):
        review(f"made-up-{number}")
    server.asked.clear()
    review(f"made-up-{MOST}")
    review("made-up-0")
    assert server.asked == ["made-up-0"]


def test_many_made_up_tokens_displace_no_sender() -> None:
    server = Server(good=BROKER)
    review = server.reviews()
    review("good")
    for number in range(MOST + 1):
        review(f"made-up-{number}")
    server.is_away = True
    assert review("good")


def test_an_answer_that_did_not_come_is_not_remembered() -> None:
    server = Server(token=BROKER)
    review = server.reviews()
    server.is_away = True
    with pytest.raises(ReviewUnavailable):
        review("token")
    server.is_away = False
    assert review("token") == BROKER
