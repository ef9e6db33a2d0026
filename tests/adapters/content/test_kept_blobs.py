"""A killed pull goes on where it stopped: no layer is fetched twice, and none comes from another repository."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.kept_blobs import BLOB, KEPT_SECONDS
from shared.adapters.content.pulling import Puller
from shared.adapters.content.store import Store
from shared.adapters.oci.pace import Allowance
from shared.adapters.oci.transport import Transport
from shared.adapters.oci.verify import Descriptor
from shared.domain.bundle.annotations import CONFIGS
from shared.domain.image_source import ImageSource
from shared.ports import Pulled, Unavailable
from tests.adapters.content.test_catalogs import a_package
from tests.kit.image_registry import (
    Answer,
    Request,
    ScriptedRegistry,
    a_file,
    a_layer,
    digest_of,
    scripted_registry,
)
from tests.kit.waiting import PATIENCE_SECONDS

PULL = """
import sys
from pathlib import Path
from tests.adapters.content.test_kept_blobs import catalogs
from shared.domain.image_source import ImageSource
catalogs(Path(sys.argv[2])).pull(ImageSource(sys.argv[1], "olm"))
"""
LAYERS = [
    a_layer(a_file("configs/tea.json", a_package("tea")), a_file("large", random.Random(number).randbytes(50_000)))
    for number in range(3)
]


@pytest.fixture
def registry() -> Iterator[ScriptedRegistry]:
    with scripted_registry() as scripted:
        yield scripted


def catalogs(folder: Path, allowance: Allowance | None = None) -> ImageCatalogs:
    store, transport = Store(folder), Transport(attempts=3, backoff_seconds=0.001)
    return ImageCatalogs(store, Puller(lambda *_: None, transport, allowance=allowance, blobs=store.blobs))


def publish(registry: ScriptedRegistry, name: str = "cat") -> ImageSource:
    registry.put(name, "1", LAYERS, {CONFIGS: "/configs"})
    return ImageSource(f"{registry.address}/{name}:1", "olm")


def with_ranges(request: Request) -> Answer | None:
    """The answer of a registry that can begin in the middle."""
    layer = next((one for one in LAYERS if request.path.endswith(digest_of(one))), None)
    if layer is None or not request.span:
        return None
    begin = int(request.span.removeprefix("bytes=").removesuffix("-"))
    headers = {"Content-Range": f"bytes {begin}-{len(layer) - 1}/{len(layer)}"}
    return Answer(layer[begin:], 206, headers)


def blobs_asked(registry: ScriptedRegistry) -> list[tuple[str, str]]:
    """Each request for a blob: which (the number of a layer, or the configuration), and from where on."""
    known = {digest_of(layer): str(number) for number, layer in enumerate(LAYERS)}
    asked = [one for one in registry.requests if "/blobs/" in one.path]
    return [(known.get(one.path.rpartition("/")[2], "configuration"), one.span) for one in asked]


@pytest.mark.crash
def test_after_a_kill_in_the_middle_of_a_layer_only_the_rest_is_fetched(
    registry: ScriptedRegistry, tmp_path: Path
) -> None:
    source, half, is_asked, go = publish(registry), len(LAYERS[1]) // 2, threading.Event(), threading.Event()

    def gate(request: Request) -> Answer | None:
        if request.path.endswith(digest_of(LAYERS[1])):
            if not request.span:
                return Answer(LAYERS[1], cut_to=half)
            is_asked.set()
            go.wait(PATIENCE_SECONDS)
        return with_ranges(request)

    registry.gate = gate
    with subprocess.Popen([sys.executable, "-c", PULL, source.image, str(tmp_path)], cwd=Path.cwd()) as puller:
        assert is_asked.wait(PATIENCE_SECONDS)
        puller.send_signal(signal.SIGKILL)
    go.set()
    registry.requests.clear()

    assert isinstance(catalogs(tmp_path).pull(source), Pulled)
    assert blobs_asked(registry) == [("1", f"bytes={half}-"), ("2", "")]
    assert list(tmp_path.glob(f"{BLOB}*")) == []


def kill_after_first_layer(registry: ScriptedRegistry, folder: Path, name: str = "cat") -> ImageSource:
    """What a pull leaves that ended in the middle of the second layer."""
    source = publish(registry, name)
    registry.gate = lambda request: (
        Answer(LAYERS[1], cut_to=1000 if not request.span else 0)
        if request.path.endswith(digest_of(LAYERS[1]))
        else None
    )
    assert isinstance(catalogs(folder).pull(source), Unavailable)
    registry.gate = with_ranges
    registry.requests.clear()
    return source


def test_what_is_kept_serves_only_the_repository_that_sent_it(registry: ScriptedRegistry, tmp_path: Path) -> None:
    kill_after_first_layer(registry, tmp_path)
    assert isinstance(catalogs(tmp_path).pull(publish(registry, "another")), Pulled)

    assert blobs_asked(registry) == [("configuration", ""), ("0", ""), ("1", ""), ("2", "")]


@pytest.mark.parametrize("damage", ["changed", "too long"])
def test_what_is_damaged_on_disk_is_fetched_again(registry: ScriptedRegistry, tmp_path: Path, damage: str) -> None:
    source = kill_after_first_layer(registry, tmp_path)
    for path in tmp_path.glob(f"{BLOB}*"):
        content = path.read_bytes()
        path.write_bytes(content + b"x" * 10**5 if damage == "too long" else b"x" * len(content))

    assert isinstance(catalogs(tmp_path).pull(source), Pulled)
    asked = blobs_asked(registry)
    assert [name for name, span in asked if not span] == ["configuration", "0", "1", "2"]


def test_a_registry_that_cannot_begin_in_the_middle_is_asked_for_the_whole_layer(
    registry: ScriptedRegistry, tmp_path: Path
) -> None:
    source = kill_after_first_layer(registry, tmp_path)
    registry.gate = lambda _: None

    assert isinstance(catalogs(tmp_path).pull(source), Pulled)
    assert blobs_asked(registry) == [("1", "bytes=1000-"), ("2", "")]


def test_content_goes_before_what_pulls_left(registry: ScriptedRegistry, tmp_path: Path) -> None:
    kill_after_first_layer(registry, tmp_path)
    left = sum(path.stat().st_size for path in tmp_path.glob(f"{BLOB}*"))
    store = Store(tmp_path, limit_bytes=left)
    store.fill("file-new", lambda stream: stream.write(b"x" * (left // 2)))  # type: ignore[arg-type]  # why: the count is of no use

    assert sum(path.stat().st_size for path in tmp_path.glob(f"{BLOB}*")) <= left // 2


def test_what_nobody_goes_on_with_is_forgotten(registry: ScriptedRegistry, tmp_path: Path) -> None:
    kill_after_first_layer(registry, tmp_path)
    for path in list(tmp_path.glob(f"{BLOB}*")):
        os.utime(path, (0, path.stat().st_mtime - KEPT_SECONDS))
    Store(tmp_path).forget(lambda _: True)

    assert list(tmp_path.glob(f"{BLOB}*")) == []


def test_two_at_once_do_not_share_a_file(tmp_path: Path) -> None:
    store, descriptor = Store(tmp_path), Descriptor(digest_of(b"ab"), 2)
    with store.blobs().opened("r/cat", descriptor) as first, store.blobs().opened("r/cat", descriptor) as second:
        first.write(b"a")
        first.flush()
        assert second.read() == b""
    with store.blobs().opened("r/cat", descriptor) as third:
        assert third.read() == b"a"
