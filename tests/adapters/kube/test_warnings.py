"""The warnings about one object: picked by the server, the newest, few."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from eventing.local.apiserver import selectors
from shared.adapters.kube import KubeClient
from shared.adapters.kube.warnings import KubeWarnings
from shared.domain.unpack.causes import Warned
from shared.kinds import JOB, ROLE


class EventServer:
    """Answers with these Events. Stands for a `KubeClient`."""

    def __init__(self, *items: dict[str, Any]) -> None:
        self._items = items
        self.asked: list[tuple[str, Mapping[str, str]]] = []

    def request(self, verb: str, path: str, *, query: Mapping[str, str]) -> dict[str, Any]:
        assert verb == "GET"
        self.asked.append((path, query))
        return {"items": list(self._items), "metadata": {"continue": "more"}}


def about(server: EventServer, uid: str = "u1") -> tuple[Warned, ...]:
    return KubeWarnings(cast("KubeClient", server)).about(JOB.ref("unpack", "olm"), uid)


def test_only_one_page_about_that_object_is_read() -> None:
    server = EventServer()
    assert about(server) == ()
    [(path, query)] = server.asked
    assert path == "/api/v1/namespaces/olm/events"
    assert query == {
        "limit": "50",
        "fieldSelector": "involvedObject.kind=Job,involvedObject.name=unpack,type=Warning,involvedObject.uid=u1",
    }


def test_an_object_that_was_not_stored_is_known_by_its_name() -> None:
    server = EventServer()
    about(server, "")
    assert "uid" not in server.asked[0][1]["fieldSelector"]


def test_a_name_adds_nothing_to_the_selection() -> None:
    """RBAC objects may have any name, and the API server takes commas in a selector for the next term."""
    server = EventServer()
    KubeWarnings(cast("KubeClient", server)).about(ROLE.ref("a,type=Normal\\", "olm"), "")
    asked = server.asked[0][1]["fieldSelector"]
    assert asked == "involvedObject.kind=Role,involvedObject.name=a\\,type\\=Normal\\\\,type=Warning"
    involved = {"kind": "Role", "name": "a,type=Normal\\"}
    holds = selectors.fields(asked, ("involvedObject.kind", "involvedObject.name", "type"))
    assert holds({"involvedObject": involved, "type": "Warning"})
    assert not holds({"involvedObject": {**involved, "name": "a"}, "type": "Normal"})


def test_the_newest_come_last_whichever_way_they_state_their_time() -> None:
    made = {"metadata": {"creationTimestamp": "2026-01-01T00:00:01Z"}, "reason": "a", "message": "1"}
    counted = {"metadata": {}, "lastTimestamp": "2026-01-01T00:00:09Z", "reason": "b", "message": "9"}
    repeated = {"metadata": {}, "series": {"lastObservedTime": "2026-01-01T00:00:05.5Z"}, "reason": "c", "message": "5"}
    assert [one.message for one in about(EventServer(counted, made, repeated))] == ["1", "5", "9"]
    many = [{"metadata": {}, "eventTime": f"2026-01-01T00:00:{n:02}Z", "message": str(n)} for n in range(20)]
    assert [one.message for one in about(EventServer(*many))] == [str(n) for n in range(12, 20)]
