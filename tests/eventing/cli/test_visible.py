"""Foreign text does nothing to a terminal."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eventing.cli.output import print_lines, table
from eventing.cli.visible import Own, VisibleText, visible

_EVIL = "\x1b[31mRED\x1b]0;pwn\x07\x1b[2J\x9b2J\x7f\u202ex\u2066y\u200f"
_HARMLESS = r"\u001b[31mRED\u001b]0;pwn\u0007\u001b[2J\u009b2J\u007f\u202ex\u2066y\u200f"


def a_stream() -> tuple[io.BytesIO, VisibleText]:
    written = io.BytesIO()
    return written, VisibleText.of(io.TextIOWrapper(written, encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param(_EVIL, _HARMLESS, id="escapes, C1, rubout, directions"),
        pytest.param("a\tb\nc", "a\tb\nc", id="tabulators and ends of lines"),
        pytest.param("a\rb\x00", r"a\u000db\u0000", id="a return that writes over the line"),
        pytest.param("Grüße, 世界 🙂 שלום", "Grüße, 世界 🙂 שלום", id="letters of the world"),
    ],
)
def test_what_a_terminal_would_obey_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_tables_and_lines_show_it_wherever_they_go(capsys: pytest.CaptureFixture[str]) -> None:
    table([{"name": _EVIL}], ["name"])
    print_lines(_EVIL)
    out = capsys.readouterr().out
    assert out.count(_HARMLESS) == 2
    assert "\x1b" not in out


def test_a_stream_shows_it_and_a_document_stays_what_it_is() -> None:
    written, stream = a_stream()
    stream.write(json.dumps({"a": _EVIL}, ensure_ascii=False))
    stream.flush()
    text = written.getvalue().decode()
    assert "\x9b" not in text
    assert json.loads(text) == {"a": _EVIL}


def test_what_a_verb_does_itself_to_the_terminal_is_left() -> None:
    written, stream = a_stream()
    own = Own(stream)
    own.write("\r\x1b[K")
    own.flush()
    assert written.getvalue() == b"\r\x1b[K"
    assert not own.isatty()


def test_the_command_shows_foreign_text_in_its_errors(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"schema": "olm.package", "name": "a", "defaultChannel": _EVIL}))
    environ = {**os.environ, "OLMF_CONTENT": str(tmp_path / "content")}
    done = subprocess.run(
        [sys.executable, "-c", "from eventing.cli.entry import main; main()", "catalog", "validate", str(tmp_path)],
        capture_output=True, env=environ, check=False,
    )  # fmt: skip
    reported = done.stdout + done.stderr
    assert done.returncode == 1
    assert b"pwn" in reported
    assert b"\x1b" not in reported
    assert b"\x07" not in reported


def test_what_is_written_at_once_stays_so() -> None:
    """With PYTHONUNBUFFERED, as in a container: whoever waits for a line of a program gets it."""
    written = io.BytesIO()
    stream = VisibleText.of(io.TextIOWrapper(written, encoding="utf-8", write_through=True))
    stream.write("ready\n")
    assert written.getvalue() == b"ready\n"
