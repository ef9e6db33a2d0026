from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from shared.adapters.content.store import NoStoreFolder, Store, file_of
from shared.adapters.oci.errors import OciError

_DIGEST = "sha256:" + "a" * 64
_OTHER = "sha256:" + "b" * 64


def writing(content: bytes) -> Callable[[BinaryIO], None]:
    def write(stream: BinaryIO) -> None:
        stream.write(content)

    return write


def never(_: BinaryIO) -> None:
    raise AssertionError("it is here already")


def test_what_was_filled_is_there_for_everybody(tmp_path: Path) -> None:
    assert Store(tmp_path / "new").path(_DIGEST) is None
    assert Store(tmp_path / "new").fill(_DIGEST, writing(b"x")).read_bytes() == b"x"
    assert Store(tmp_path / "new").fill(_DIGEST, never).read_bytes() == b"x"


def test_what_is_there_is_answered_without_writing_anything(tmp_path: Path) -> None:
    """The folder may be a part of an image, where nothing can be written."""
    store = Store(tmp_path)
    store.fill(_DIGEST, writing(b"x"))
    (tmp_path / f"{file_of(_DIGEST)}.lock").mkdir()  # a lock that nobody can take
    assert store.fill(_DIGEST, never).read_bytes() == b"x"


def test_a_folder_that_cannot_be_made_says_which_variable_names_another(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = Store.of_user({"XDG_CACHE_HOME": str(tmp_path / "file")})
    for write in (lambda: store.fill(_DIGEST, never), lambda: store.adding().__enter__()):
        with pytest.raises(NoStoreFolder) as caught:
            write()
        where = f"{tmp_path / 'file' / 'olmf'}: not a directory"
        assert str(caught.value) == f"{where}: indexed catalogs are kept there; name another folder with OLMF_CONTENT"
    assert Store.of_user({"OLMF_CONTENT": str(tmp_path)}).folder == tmp_path


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(stream: BinaryIO) -> None:
        stream.write(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        Store(tmp_path).fill(_DIGEST, fail)
    assert Store(tmp_path).path(_DIGEST) is None
    assert list(tmp_path.iterdir()) == []


def test_of_many_at_once_one_writes_and_the_others_wait(tmp_path: Path) -> None:
    written = []

    def write(stream: BinaryIO) -> None:
        written.append(threading.get_ident())
        stream.write(b"x")

    threads = [threading.Thread(target=Store(tmp_path).fill, args=(_DIGEST, write)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(written) == 1
    assert len(list(tmp_path.iterdir())) == 1, "no lock is left"


_WRITER = """
import sys
from pathlib import Path
from shared.adapters.content.store import Store
from shared.adapters.content.store import NoStoreFolder, file_of
from shared.adapters.oci.errors import OciError
def write(stream):
    stream.write(b"half")
    stream.flush()
    print("writing", flush=True)
    sys.stdin.read()
Store(Path(sys.argv[1])).fill(sys.argv[2], write)
"""


def test_a_writer_that_is_killed_leaves_no_half_file_and_no_lock(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(tmp_path), _DIGEST], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"writing\n"
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    assert Store(tmp_path).path(_DIGEST) is None
    assert Store(tmp_path).fill(_DIGEST, writing(b"whole")).read_bytes() == b"whole"


def test_scratch_of_the_killed_is_swept_when_it_is_old(tmp_path: Path) -> None:
    old, young = tmp_path / ".aside-old", tmp_path / ".aside-young"
    old.touch()
    young.touch()
    os.utime(old, (0, 0))
    Store(tmp_path).fill(_DIGEST, writing(b"x"))
    assert not old.exists()
    assert young.exists()


def test_what_was_read_longest_ago_is_forgotten_first(tmp_path: Path) -> None:
    store = Store(tmp_path, limit_bytes=20)
    for index, digest in enumerate((_DIGEST, _OTHER)):
        os.utime(store.fill(digest, writing(b"123456")), (index, index))
    store.path(_DIGEST)
    store.fill("sha256:" + "c" * 64, writing(b"123456789"))
    assert store.path(_DIGEST) is not None
    assert store.path(_OTHER) is None


def test_files_may_go_while_somebody_counts_them(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.fill(_DIGEST, writing(b"123"))
    (tmp_path / "gone").symlink_to(tmp_path / "nothing")  # what a look at a removed file finds
    assert store.size() == 3
    assert store.newest("sha256") == store.names()[0] == _DIGEST.replace(":", "-")
    assert store.forget(lambda _: False) == 3


def named(content: bytes, name: str) -> Callable[[BinaryIO], str]:
    def write(stream: BinaryIO) -> str:
        stream.writelines(content[start : start + 1000] for start in range(0, len(content), 1000))
        return name

    return write


def test_no_file_is_written_beyond_the_limit(tmp_path: Path) -> None:
    store = Store(tmp_path, limit_bytes=100_000)
    with pytest.raises(OciError, match="does not fit into the 100000 bytes") as caught:
        store.fill(_DIGEST, writing(bytes(100_001)))
    assert caught.value.reason == "TooLarge"

    def two() -> None:
        with store.adding() as batch:
            for digest in (_DIGEST, _OTHER):
                batch.add(named(bytes(60_000), digest))

    with pytest.raises(OciError, match="does not fit"):
        two()
    assert store.names() == []
    assert store.size() == 0


def test_files_that_belong_together_push_out_others_but_not_each_other(tmp_path: Path) -> None:
    store = Store(tmp_path, limit_bytes=100_000)
    os.utime(store.fill("old", writing(bytes(50_000))), (1, 1))
    with store.adding() as batch:
        batch.add(named(bytes(45_000), _DIGEST))
        batch.add(named(bytes(45_000), _OTHER))
    assert store.names() == [file_of(_DIGEST), file_of(_OTHER)]


def test_what_failed_takes_along_only_what_it_brought(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.adding() as batch:
        batch.add(named(b"x", _DIGEST))

    def fail() -> None:
        with store.adding() as batch:
            batch.add(named(b"x", _DIGEST))
            batch.add(named(b"y", _OTHER))
            raise OSError("refused")

    with pytest.raises(OSError, match="refused"):
        fail()
    assert store.names() == [file_of(_DIGEST)]


def test_what_is_being_written_counts_and_is_not_swept(tmp_path: Path) -> None:
    store = Store(tmp_path, limit_bytes=100_000)

    def meanwhile(stream: BinaryIO) -> None:
        stream.write(bytes(70_000))
        stream.flush()
        for path in tmp_path.glob(".aside-*"):
            os.utime(path, (0, 0))
        with pytest.raises(OciError, match="does not fit"):
            Store(tmp_path, limit_bytes=100_000).fill(_OTHER, writing(bytes(70_000)))

    assert store.fill(_DIGEST, meanwhile).stat().st_size == 70_000
