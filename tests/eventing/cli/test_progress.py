"""What a terminal shows while work takes long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import pytest

from eventing.cli.progress import shown
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.store import Store
from shared.adapters.image_writer import write_image
from shared.adapters.images import folder_of
from shared.adapters.judging import judge
from shared.adapters.progress import advanced, ended, heard_by
from tests.kit.fbc import a_bundle, a_channel, a_package, written
from tests.kit.image_registry import a_file, a_layer, scripted_registry


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def ticks(seconds: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += seconds


ONE, TWO = "reading: 1 files, 3 MB, 3 MB/s", "reading: 2 files, 6 MB, 3 MB/s"


@pytest.mark.parametrize(
    ("seconds", "screen", "lines"),
    [
        pytest.param(1.0, Terminal(), [ONE, TWO, ""], id="issue 4 §4: bytes and rate"),
        pytest.param(0.1, Terminal(), [], id="short work is not told of"),
        pytest.param(1.0, StringIO(), [], id="issue 4 §4: nobody is told through a pipe"),
    ],
)
def test_long_work_is_reported(seconds: float, screen: StringIO, lines: list[str]) -> None:
    clock = ticks(seconds)
    with shown(screen, lambda: next(clock)):
        for _ in range(2):
            advanced("reading", 3_000_000, "files")
    assert screen.getvalue().split("\r\x1b[K")[1:] == lines


def test_other_work_is_counted_anew_and_the_end_takes_the_line_away() -> None:
    screen, clock = Terminal(), ticks(1.0)
    with shown(screen, lambda: next(clock)):
        advanced("downloading", 5_000_000)
        advanced("unpacking", 2_000_000, "files")
        ended()
        screen.write("told")
    lines = screen.getvalue().split("\r\x1b[K")
    assert lines[1:] == ["downloading: 5 MB, 5 MB/s", "", "unpacking: 1 files, 2 MB, 2 MB/s", "told"]


def test_the_line_goes_when_the_work_breaks_off() -> None:
    screen, clock = Terminal(), ticks(1.0)
    with suppress(KeyboardInterrupt), shown(screen, lambda: next(clock)):
        advanced("reading", 1)
        raise KeyboardInterrupt
    assert screen.getvalue().endswith("\r\x1b[K")


@dataclass
class Heard:
    """What a listener hears."""

    sizes: dict[str, int] = field(default_factory=dict)
    layers: list[str] = field(default_factory=list)

    def advance(self, what: str, size: int, _: str) -> None:
        self.sizes[what] = self.sizes.get(what, 0) + size

    def expect(self, _: int, layers: int) -> None:
        self.layers.append(f"{layers} expected")

    def complete(self) -> None:
        self.layers.append("complete")


def test_all_long_work_reports_how_far_it_is(tmp_path: Path) -> None:
    catalog = tmp_path / "catalog"
    catalog.mkdir()
    (catalog / "c.json").write_bytes(written(a_package(), a_channel(), a_bundle()))
    listener = Heard()
    heard = listener.sizes
    with heard_by(listener), scripted_registry() as registry:
        assert judge(str(catalog)).is_valid
        snapshot_of(catalog, Store(tmp_path / "store"))
        write_image({"a": b"12345"}, {}, f"oci:{tmp_path}/layout:1")
        registry.put("tea", "1", [a_layer(a_file("a", b"1234567"))])
        with folder_of(f"{registry.address}/tea:1"):
            pass
    size = (catalog / "c.json").stat().st_size
    assert (heard["reading"], heard["packing"], heard["unpacking"]) == (2 * size, 5, 7)
    assert heard["downloading"] > 0
    assert listener.layers == ["1 expected", "complete"]
    assert heard["indexing"] > 0
