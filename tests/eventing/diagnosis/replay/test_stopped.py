"""A recorded world stops at an event, and stays there for verbs and clients to look at."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eventing.diagnosis.replay import NotInCapture, open_capture
from eventing.diagnosis.replay.recording import Recording
from eventing.local.state import StateDirectory
from shared.kinds import OPERATOR_GROUP
from tests.kit.installation import Installation, olmf
from tests.kit.verbs import Started
from tests.replay.stories import GROUP

STDERR = 2
STORY = Path(__file__).parents[3] / "replay" / "groups_come_and_go.tar.gz"
CONFLICTING = OPERATOR_GROUP.ref("rival", "operators")
EVENTS = list(open_capture(STORY).index.events.values())
COMES, GOES = (
    next(one.id for one in EVENTS if one.ref == str(CONFLICTING) and one.id.endswith(end)) for end in ("add", "delete")
)


@contextmanager
def stopped(state: Path, until: str) -> Iterator[Installation]:
    """`olmf replay --world --until` as somebody runs it, until Ctrl-C."""
    words = ["replay", str(STORY), "--world", "--until", until, "--state", str(state)]
    output, theirs = os.pipe()
    with Path(os.devnull).open() as nothing, os.fdopen(theirs, "w") as written:
        streams = (nothing.fileno(), written.fileno(), STDERR)
        verb = Started(words, streams, {**os.environ, "OLMF_LOG_JSON": "false"})
    with verb, os.fdopen(output) as lines:
        try:
            assert lines.readline().startswith("stopped after ")
            yield Installation.of(state)
        finally:
            verb.send(signal.SIGTERM)
        assert verb.wait() == 0


def test_the_world_is_as_it_was_and_stands_still(tmp_path: Path) -> None:
    with stopped(tmp_path / "then", COMES) as found:
        assert (found.cluster.get(CONFLICTING) or {})["status"]["namespaces"] == ["red"]
        assert found.cluster.get(GROUP) is not None
        story = found.olmf("why", "OperatorGroup/rival", "-n", "operators").stdout
        assert "add of OperatorGroup operators/rival (from outside)" in story
        listed = found.olmf("events", "list", "-o", "json").stdout
        assert COMES in listed
        assert GOES not in listed
        found.olmf("top", "--once")
        assert found.olmf("queue", "ls", "-o", "json").stdout.strip() == "[]"
        found.cluster.delete(CONFLICTING)  # nothing is at work: nobody does anything about it
        assert (found.cluster.get(GROUP) or {})["metadata"]["resourceVersion"]
        again = olmf("replay", str(STORY), "--world", "--until", COMES, "--state", str(found.state), check=False)
        assert (again.returncode, "holds a world already" in again.stderr) == (1, True)
    assert StateDirectory(tmp_path / "then").read() is None


def test_a_later_event_finds_a_later_world(tmp_path: Path) -> None:
    with stopped(tmp_path / "then", GOES) as found:
        assert found.cluster.get(CONFLICTING) is None


def test_what_the_capture_does_not_have_is_a_mistake() -> None:
    with pytest.raises(NotInCapture, match="nothing in this capture has the id nowhere"):
        Recording(open_capture(STORY)).moment("nowhere")
