"""A file that is written in one step."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.adapters.whole_file import write_whole


def test_a_writer_that_fails_leaves_the_old_content_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "note"
    write_whole(path, [b"old"])

    def pieces() -> Iterator[bytes]:
        yield b"new"
        assert path.read_bytes() == b"old", "until it is complete"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, pieces())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_secret_is_never_readable_by_others(tmp_path: Path) -> None:
    path = tmp_path / "secret"

    def pieces() -> Iterator[bytes]:
        (aside,) = tmp_path.iterdir()
        assert stat.S_IMODE(aside.stat().st_mode) == 0o600
        yield b"secret"

    write_whole(path, pieces(), mode=0o600)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
