"""A list that is older than what events told of is refused by every reader: what is missing in it may be there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

import pytest

from shared.adapters.kube import ApiError, CachedClient, ChangeCounts, KubeInventory
from shared.adapters.kube.answers import Place
from shared.adapters.kube.copies import KubeCopies
from shared.adapters.kube.transport import Transport
from shared.kinds import CLUSTER_SERVICE_VERSION, CUSTOM_RESOURCE_DEFINITION, ROLE, Kind

TOLD = ChangeCounts(newest="100")
Read: TypeAlias = Callable[[CachedClient], object]


class Server:
    """Answers every list with an empty one, of the version that it has; stands for a `Transport`."""

    is_remote = True

    def __init__(self, version: str) -> None:
        self.version = version
        self.requests_made = 0

    def request(self, verb: str, path: str, *_: object, accept: str, **rest: object) -> dict[str, Any]:
        self.requests_made += 1
        if "absent" in path:
            raise ApiError(404, "NotFound", "no such thing")
        kind = "Table" if "as=Table" in accept else "List"
        return {"kind": kind, "items": [], "rows": [], "metadata": {"resourceVersion": self.version}}


class Told:
    """What was told of every kind; stands for `Changes`."""

    def __init__(self) -> None:
        self.now = TOLD

    def counts(self, places: Sequence[Place]) -> list[ChangeCounts]:
        return [self.now] * len(places)

    def expect(self, step: str, kind: Kind, namespace: str) -> None:
        raise AssertionError("no run reads here")

    def forget(self, kind: Kind) -> None:
        raise AssertionError("a worker forgets nothing that the watcher was told of")

    def wrote(self, kind: Kind, namespace: str) -> None:
        raise AssertionError("nobody writes")


def names_of_definitions(client: CachedClient) -> object:
    """The second definition that is absent is looked for in the names of all."""
    return [client.get(CUSTOM_RESOURCE_DEFINITION.ref(f"absent-{number}")) for number in range(3)]


READERS = (
    pytest.param(lambda client: client.list(CLUSTER_SERVICE_VERSION, "ns"), id="a list that is cached"),
    pytest.param(lambda client: client.list(ROLE), id="a list that is not"),
    pytest.param(names_of_definitions, id="the names of all definitions"),
    pytest.param(lambda client: KubeInventory(client).versions(ROLE), id="the inventory of the audit"),
    pytest.param(lambda client: KubeCopies(client).made_from("ns"), id="the copies of a version"),
    pytest.param(lambda client: KubeCopies(client).others("ns", "a"), id="who has the name of a version"),
)


def a_client(server: Server, told: Told) -> CachedClient:
    kinds = [CLUSTER_SERVICE_VERSION, CUSTOM_RESOURCE_DEFINITION]
    return CachedClient(cast("Transport", server), told, kinds, now=lambda: 0.0)


@pytest.mark.parametrize("read", READERS)
def test_a_list_older_than_what_was_told_is_no_answer(read: Read) -> None:
    with pytest.raises(ApiError, match="older than what was seen") as error:
        read(a_client(Server("99"), Told()))
    assert error.value.is_unreachable, "so it is asked for again"
    read(a_client(Server("100"), Told()))


@pytest.mark.parametrize("read", READERS)
def test_a_restore_of_before_the_first_look_makes_no_older_list_true(read: Read) -> None:
    server, told = Server("100"), Told()
    told.now = replace(TOLD, restored="before this process began")
    client = a_client(server, told)
    read(client)
    # it has seen more than it is told now, as by the answers to its own writes
    told.now, server.version = replace(told.now, total=1, newest="60"), "70"
    with pytest.raises(ApiError, match="older than what was seen"):
        read(client)


@pytest.mark.parametrize("read", READERS)
def test_it_is_believed_once_the_watcher_has_found_that_the_server_was_restored(read: Read) -> None:
    server, told = Server("50"), Told()
    client = a_client(server, told)
    with pytest.raises(ApiError):
        read(client)
    told.now = ChangeCounts(1, newest="40", restored="once")
    read(client)
    told.now, server.version = replace(told.now, total=2, newest="60"), "45"
    with pytest.raises(ApiError):
        read(client)
