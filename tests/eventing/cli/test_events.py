"""`events list`: the newest entries, the newest at the end, as values."""

from __future__ import annotations

from eventing.cli.events import for_people, row_of
from eventing.events.event import Event, change_id
from eventing.journal import ReceivedEvent, Recorded, Run
from eventing.journal.records import Decision
from shared import names
from shared.kinds import SUBSCRIPTION

SUB = SUBSCRIPTION.ref("etcd", "olm")


def test_a_row_has_values_only_and_its_mark_is_for_people() -> None:
    event = ReceivedEvent.of(Event(change_id("u", "1", "add"), f"{names.RESOURCE_EVENT}add", "api", SUB), 1_000)
    run = Run("run-1", "a/step", str(SUB), 2_000, 1.0, "0", decisions=[Decision([], "outcome", summary="done")])
    rows = [row_of(event), row_of(Recorded(run))]
    assert rows == [
        {
            "at": "1970-01-01T00:00:01.000+00:00", "kind": "event", "what": f"{names.RESOURCE_EVENT}add",
            "ref": str(SUB), "message": "",
        },
        {
            "at": "1970-01-01T00:00:02.000+00:00", "kind": "run", "what": "a/step", "ref": str(SUB), "message": "done",
        },
    ]  # fmt: skip
    assert [for_people(row)["what"] for row in rows] == [f"● {names.RESOURCE_EVENT}add", "▶ a/step"]
    assert for_people(rows[1])["at"] == "00:00:02.000"
