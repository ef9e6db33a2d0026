from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path

import grpc
import pytest

from shared.adapters.catalog_api.answers import Answers
from shared.adapters.catalog_api.server import running
from shared.adapters.catalog_client.client import catalog_at
from shared.adapters.content.anywhere import snapshot_at
from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.pulling import Puller
from shared.adapters.content.snapshot.needs import IMAGE
from shared.adapters.content.store import Store
from shared.adapters.oci.errors import OciError
from shared.domain.catalog.model import Package
from shared.domain.image_source import ImageSource
from shared.ports import Pulled, Unavailable
from tests.kit.catalogs import one, tea, written


@contextmanager
def served(folder: Path, address: str = "127.0.0.1:0") -> Iterator[str]:
    with running(Answers(snapshot_of(folder, Store(folder.parent / "served"))), address) as port:
        yield f"127.0.0.1:{port}"


def catalogs(tmp_path: Path) -> ImageCatalogs:
    return ImageCatalogs(Store(tmp_path / "store"), Puller(lambda *_: None))


def test_a_catalog_that_is_served_is_the_one_that_is_read(tmp_path: Path) -> None:
    folder = written(tmp_path / "catalog", *tea(), *one("cup", "1.0.0"))
    own = snapshot_of(folder, Store(tmp_path / "own"))
    with served(folder) as address:
        found = snapshot_at(f"grpc://{address}", Store(tmp_path / "store"))
    assert found.names == ("cup", "tea")
    for name in found.names:
        theirs, ours = found.package(name), own.package(name)
        assert isinstance(theirs, Package)
        assert isinstance(ours, Package)
        assert theirs.bundles == ours.bundles
        assert theirs.deprecations == ours.deprecations


def test_the_port_remembers_what_a_server_told(tmp_path: Path) -> None:
    port = catalogs(tmp_path)
    with served(written(tmp_path / "catalog", *tea())) as address:
        source = ImageSource(f"grpc://{address}", "olm")
        pulled = port.pull(source)
        assert port.pull(source) == pulled
    assert isinstance(pulled, Pulled)
    assert pulled.reference.startswith(f"grpc://{address}@sha256:")
    assert isinstance(port.package(pulled.reference, "tea", source), Package)
    assert port.packages(pulled.reference, source) == ("tea",)


def test_what_was_damaged_is_asked_for_again(tmp_path: Path) -> None:
    port = catalogs(tmp_path)
    with served(written(tmp_path / "catalog", *tea())) as address:
        source = ImageSource(f"grpc://{address}", "olm")
        pulled = port.pull(source)
        assert isinstance(pulled, Pulled)
        (kept,) = Store(tmp_path / "store").names(IMAGE)
        (tmp_path / "store" / kept).write_bytes(b"damaged")
        assert port.packages(pulled.reference, source) == ("tea",)
        assert port.pull(source) == pulled


def test_what_was_forgotten_between_two_requests_is_asked_for_again(tmp_path: Path) -> None:
    port = catalogs(tmp_path)
    with served(written(tmp_path / "catalog", *tea())) as address:
        source = ImageSource(f"grpc://{address}", "olm")
        pulled = port.pull(source)
        assert isinstance(pulled, Pulled)
        assert port.packages(pulled.reference, source) == ("tea",)
        for path in (tmp_path / "store").iterdir():
            path.unlink()
        assert isinstance(port.package(pulled.reference, "tea", source), Package)


def test_a_server_is_not_asked_again_for_what_it_told(tmp_path: Path) -> None:
    port = catalogs(tmp_path)
    with served(written(tmp_path / "catalog", *tea())) as address:
        source = ImageSource(f"grpc://{address}", "olm")
        pulled = port.pull(source)
    assert isinstance(pulled, Pulled)
    assert isinstance(port.package(pulled.reference, "tea", source), Package)


def test_what_a_server_has_no_more_is_not_made_up(tmp_path: Path) -> None:
    with served(written(tmp_path / "catalog", *tea())) as address:
        gone = f"grpc://{address}@sha256:{'0' * 64}"
        answer = catalogs(tmp_path).packages(gone, ImageSource(gone, "olm"))
    assert isinstance(answer, Unavailable)
    assert answer.reason == "NotFound"


def test_nobody_at_an_address_is_reported(tmp_path: Path) -> None:
    answer = catalogs(tmp_path).pull(ImageSource("grpc://127.0.0.1:1", "olm"))
    assert isinstance(answer, Unavailable)
    assert answer.reason == "Unreachable"
    assert "olmf catalog serve" in answer.message


def a_name(text: bytes) -> bytes:
    """A message whose first field is a text."""
    return b"\x0a" + bytes([len(text)]) + text


def dying() -> Iterator[bytes]:
    """One answer, and the end of the server in the middle of the stream."""
    yield a_name(b"tea")
    raise RuntimeError("gone")


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        pytest.param(dying(), "Unreachable", id="issue 15 §3: it dies in the middle of a stream"),
        pytest.param(repeat(b"\xff" * 11), "Malformed", id="no message"),
        pytest.param(map(a_name, repeat(b"tea")), "TooLarge", id="issue 3 §3: names without end"),
    ],
)
def test_a_server_that_lies_is_reported(names: Iterator[bytes], reason: str) -> None:
    server = grpc.server(ThreadPoolExecutor(2))
    lie = grpc.unary_stream_rpc_method_handler(lambda *_: names, bytes, bytes)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("api.Registry", {"ListPackages": lie}),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with pytest.raises(OciError) as caught:
            catalog_at(f"127.0.0.1:{port}", limit=10_000)
    finally:
        server.stop(0).wait()
    assert caught.value.reason == reason
