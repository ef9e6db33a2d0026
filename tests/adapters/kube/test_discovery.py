"""How long it is believed that a kind is, or is not, served."""

from __future__ import annotations

import pytest

from shared.adapters.kube.discovery import (
    ABSENT_SECONDS,
    BUILT_IN,
    FRESH_SECONDS,
    SETTLED_SECONDS,
    KindIndex,
    kinds_in,
)
from shared.adapters.kube.errors import ApiError
from shared.api.manifest import Manifest
from shared.kinds import Kind

GAUGE = Kind("example.com/v1", "Gauge", "gauges")


class Server:
    """A server with a clock, which counts what it is asked."""

    def __init__(self) -> None:
        self.now, self.asked, self.is_served = 100.0, 0, False

    def __call__(self, path: str) -> Manifest:
        self.asked += 1
        assert path == "/apis/example.com/v1"
        if not self.is_served:
            raise ApiError(404, "NotFound", path)
        parts = {"name": "gauges/status", "kind": "Gauge", "namespaced": True}
        return {"resources": [parts, {"name": "gauges", "kind": "Gauge", "namespaced": True}]}


@pytest.mark.parametrize(("absent", "asked"), [(ABSENT_SECONDS, 2), (FRESH_SECONDS, 1)])
def test_that_a_kind_is_absent_is_believed_longer_by_who_is_told_of_definitions(absent: float, asked: int) -> None:
    server = Server()
    index = KindIndex(server, lambda: server.now, absent=absent)
    assert index.find("example.com/v1", "Gauge") is None
    server.now += 1
    assert index.find("example.com/v1", "Gauge") is None
    assert server.asked == asked


def test_just_after_a_definition_changed_it_is_asked_again_soon() -> None:
    server = Server()
    index = KindIndex(server, lambda: server.now, absent=FRESH_SECONDS)
    index.forget()
    assert index.find("example.com/v1", "Gauge") is None
    server.is_served = True
    server.now += SETTLED_SECONDS
    assert index.find("example.com/v1", "Gauge") == GAUGE
    server.now += FRESH_SECONDS - 1
    assert index.find("example.com/v1", "Gauge") == GAUGE
    assert server.asked == 2


def test_an_answer_to_what_was_asked_before_a_definition_changed_is_not_believed_afterwards() -> None:
    server = Server()

    def slow(path: str) -> Manifest:
        try:
            return server(path)
        finally:
            server.now += 2 * SETTLED_SECONDS
            if not server.is_served:
                index.forget()
                server.now += 2 * SETTLED_SECONDS

    index = KindIndex(slow, lambda: server.now, absent=FRESH_SECONDS)
    assert index.find("example.com/v1", "Gauge") is None
    server.is_served = True
    assert index.find("example.com/v1", "Gauge") == GAUGE


@pytest.mark.parametrize(
    "listed",
    [
        None, [], "x", 1, {}, {"resources": None}, {"resources": {"a": 1}}, {"resources": [None, 1, "x", []]},
        {"resources": [{"name": "gauges", "kind": "Gauge"}, {"name": 1, "kind": "Gauge", "namespaced": True}]},
        {"resources": [{"name": "gauges", "kind": "Gauge", "namespaced": "yes"}]},
    ],
)  # fmt: skip
def test_what_a_broken_aggregated_api_says_is_no_kind(listed: object) -> None:
    assert kinds_in("example.com/v1", listed) == {}


def test_one_broken_entry_stops_itself_alone() -> None:
    good = {"name": "gauges", "kind": "Gauge", "namespaced": True}
    assert kinds_in("example.com/v1", {"resources": [None, {"kind": "Gauge"}, good]}) == {"Gauge": GAUGE}


def test_a_definition_changes_nothing_about_the_api_groups_of_kubernetes() -> None:
    asked: list[str] = []

    def server(path: str) -> Manifest:
        asked.append(path)
        return {"resources": [{"name": "budgets", "kind": "Budget", "namespaced": True}]}

    index = KindIndex(server, lambda: 100.0)
    for _ in range(2):
        assert index.find("policy/v1", "Budget")
        assert index.find("example.com/v1", "Budget")
        index.forget()
    assert asked == ["/apis/policy/v1", "/apis/example.com/v1", "/apis/example.com/v1"]


def test_nobody_is_asked_for_what_each_server_serves() -> None:
    server = Server()
    index = KindIndex(server, lambda: server.now)
    assert [index.find(*identity) for identity in BUILT_IN] == list(BUILT_IN.values())
    assert not server.asked
