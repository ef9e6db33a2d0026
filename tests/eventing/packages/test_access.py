"""Who somebody is and what he may do is asked once, for few at a time of each tenant, and never guessed."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from eventing.packages import access
from eventing.packages.access import Access
from eventing.packages.requester import User
from eventing.packages.shares import Shares, TooMany
from shared.adapters.kube import ApiError
from shared.adapters.kube.token_reviews import ReviewUnavailable
from shared.api.manifest import Manifest

ANN, BEN = User("ann"), User("ben")


class Server:
    """Lets `ann` do anything, and knows the token of Ben; answers when it may."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.error: ApiError | None = None
        self.now = 0.0
        self.answers = threading.Event()
        self.answers.set()

    def post(self, path: str, body: Manifest) -> Manifest:
        self.asked.append(path.rpartition("/")[2])
        assert self.answers.wait(60)
        if self.error:
            raise self.error
        if path.endswith("tokenreviews"):
            is_known = body["spec"]["token"] == "of-ben"
            return {"status": {"authenticated": is_known, "user": {"username": "ben"}}}
        return {"status": {"allowed": body["spec"]["user"] == "ann"}}

    def access(self) -> Access:
        return Access(self.post, lambda: self.now)


async def test_answers_count_for_ten_seconds() -> None:
    server = Server()
    found = server.access()
    for server.now, times in ((1.0, 1), (10.0, 1), (11.0, 2)):
        assert await found.refusal(ANN, "list", "ns") == ""
        assert await found.refusal(BEN, "list", "ns") == "no rule allows it"
        assert await found.owner("of-ben") == BEN
        assert await found.owner("made-up") is None
        assert len(server.asked) == 4 * times, f"after {server.now} s"


@pytest.mark.parametrize("path", ["owner", "refusal"])
async def test_a_server_that_lets_nobody_ask_is_a_flaw_until_it_does(path: str) -> None:
    server = Server()
    found, server.error = server.access(), ApiError(403, "Forbidden", "may not")
    with pytest.raises(ReviewUnavailable):
        await (found.owner("x") if path == "owner" else found.refusal(ANN, "list", "ns"))
    assert found.flaw == "may not ask who may do what: may not"
    server.error = None
    await found.try_out()
    assert found.flaw == ""


async def test_no_answer_in_time_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    monkeypatch.setattr(access, "SECONDS", 0.01)
    server.answers.clear()
    with pytest.raises(ReviewUnavailable, match="no answer within"):
        await server.access().refusal(ANN, "list", "ns")
    server.answers.set()


async def test_made_up_tokens_and_names_of_one_keep_out_nobody_else() -> None:
    """Any pod may connect: what it asks waits for the API server, as what others ask does."""
    server = Server()
    found = server.access()
    server.answers.clear()
    storm = [found.owner(f"made-up-{number}") for number in range(50)]
    storm_of_one = [found.refusal(BEN, "get", "ns", name=f"n{number}") for number in range(50)]
    waiting = [asyncio.ensure_future(one) for one in (*storm, *storm_of_one)]
    await asyncio.sleep(0)
    own = asyncio.ensure_future(found.refusal(ANN, "list", "ns"))
    await asyncio.sleep(0)
    server.answers.set()
    assert await own == ""
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    assert sum(isinstance(one, TooMany) for one in ended) == len(ended) - 2 * 16


def test_a_share_comes_back() -> None:
    shares = Shares("watches", each=1, together=2)
    with shares.one("a"), shares.one("b"):
        for tenant, why in (("a", "a has 1 watches under way"), ("c", "2 watches are under way")):
            with pytest.raises(TooMany, match=why), shares.one(tenant):
                pass
    with shares.one("a"):
        pass


@pytest.mark.parametrize(
    ("name", "tenant"),
    [
        ("ann", "ann"),
        ("system:serviceaccount:ns:one", "system:serviceaccount:ns"),
        ("system:serviceaccount:ns:two", "system:serviceaccount:ns"),
    ],
)
def test_accounts_of_a_namespace_are_one_tenant(name: str, tenant: str) -> None:
    assert User(name).tenant == tenant
