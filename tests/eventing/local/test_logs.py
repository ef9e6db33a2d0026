"""Logs stay within their bound, and programs go on writing to them."""

from __future__ import annotations

from pathlib import Path

from structlog.testing import capture_logs

from eventing.local.installation import shorten


def test_a_program_goes_on_writing_to_a_log_that_was_put_aside(tmp_path: Path) -> None:
    file = tmp_path / "worker.log"
    with file.open("ab", buffering=0) as program:
        program.write(b"one two")
        shorten(tmp_path, most=7)
        assert file.read_bytes() == b"one two", "not longer than its bound"
        shorten(tmp_path, most=6)
        program.write(b"three")
        assert (file.read_bytes(), file.with_suffix(".old").read_bytes()) == (b"three", b"one two")
        shorten(tmp_path, most=4)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"worker.log": b"", "worker.old": b"three"}


def test_a_log_that_cannot_be_put_aside_is_named_and_hides_no_other(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_bytes(b"long")
    (tmp_path / "a.old").mkdir()
    with capture_logs() as output:
        shorten(tmp_path, most=1)
    assert [(line["event"], line["file"]) for line in output] == [("log_stays", str(tmp_path / "a.log"))]
    assert [(tmp_path / name).read_bytes() for name in ("a.log", "b.log")] == [b"long", b""]
