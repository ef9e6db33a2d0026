"""`events list`: the newest entries, the newest at the end, as values; `events send`: what a capture has received."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from eventing.cli.events import for_people, row_of
from eventing.diagnosis.replay import open_capture
from eventing.events.event import Event, change_id
from eventing.journal import ReceivedEvent, Recorded, Run
from eventing.journal.records import Decision
from shared import names
from shared.kinds import SUBSCRIPTION
from tests.kit.installation import olmf

SUB = SUBSCRIPTION.ref("etcd", "olm")


def test_a_row_has_values_only_and_its_mark_is_for_people() -> None:
    event = ReceivedEvent.of(Event(change_id("u", "1", "add"), f"{names.RESOURCE_EVENT}add", "api", SUB), 1_000)
    run = Run("run-1", "a/step", str(SUB), 2_000, 1.0, "0", decisions=[Decision([], "outcome", summary="done")])
    rows = [row_of(event), row_of(Recorded(run))]
    assert rows == [
        {
            "id": "u.1.add", "at": "1970-01-01T00:00:01.000+00:00", "kind": "event", "ref": str(SUB), "message": "",
            "what": f"{names.RESOURCE_EVENT}add",
        },
        {
            "id": "run-1", "at": "1970-01-01T00:00:02.000+00:00", "kind": "run", "what": "a/step", "ref": str(SUB),
            "message": "done",
        },
    ]  # fmt: skip
    assert [for_people(row)["what"] for row in rows] == [f"● {names.RESOURCE_EVENT}add", "▶ a/step"]
    assert for_people(rows[1])["at"] == "00:00:02.000"


STORY = Path(__file__).parents[2] / "replay" / "groups_come_and_go.tar.gz"
RECEIVED = sorted(open_capture(STORY).index.events.values(), key=lambda event: event.at)


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Where events are posted to: its URL, and the headers of what came. It takes ten, and refuses what comes then."""
    got: list[dict[str, str]] = []

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # why: of the base class
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            got.append({key.lower(): value for key, value in self.headers.items()})
            self.send_response(202 if len(got) <= 10 else 503)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Taking) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", got
        server.shutdown()


def test_a_capture_is_listed_with_ids() -> None:
    shown = olmf("events", "list", "--from", str(STORY)).stdout.splitlines()
    assert shown[0].split()[:2] == ["ID", "AT"]
    rows = json.loads(olmf("events", "list", "--from", str(STORY), "--last", "0", "-o", "json").stdout)
    assert [row["id"] for row in rows if row["kind"] == "event"] == [event.id for event in RECEIVED]
    assert shown[-1].startswith(rows[-1]["id"])
    assert {row["kind"] for row in rows} == {"event", "run"}


def test_recorded_events_are_posted_as_they_were(receiver: tuple[str, list[dict[str, str]]]) -> None:
    url, got = receiver
    until = RECEIVED[4].id
    shown = olmf("events", "send", "--from", str(STORY), "--until", until, "--endpoint", url).stdout.splitlines()
    assert [one["ce-id"] for one in got] == [event.id for event in RECEIVED[:5]]
    assert [one["ce-type"] for one in got] == [event.type for event in RECEIVED[:5]]
    assert shown == [f"sent {event.type} about {event.ref}" for event in RECEIVED[:5]]


def test_who_refuses_one_gets_no_more_of_them(receiver: tuple[str, list[dict[str, str]]]) -> None:
    url, got = receiver
    done = olmf("events", "send", "--from", str(STORY), "--endpoint", url, check=False)
    assert (done.returncode, len(got)) == (3, 11)
    assert done.stderr.strip().endswith("answered 503: ; 10 events were sent")


@pytest.mark.parametrize(
    "words",
    [
        pytest.param((), id="neither an object nor a capture"),
        pytest.param(("ns/x", "--from", str(STORY)), id="both"),
        pytest.param(("ns/x", "--until", "id"), id="until without a capture"),
        pytest.param(("--from", str(STORY), "--until", "nowhere"), id="an event that is not there"),
    ],
)
def test_mistakes_of_usage(words: tuple[str, ...]) -> None:
    assert olmf("events", "send", *words, "--endpoint", "http://127.0.0.1:9", check=False).returncode == 2
