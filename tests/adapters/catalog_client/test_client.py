from __future__ import annotations

import tracemalloc
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path

import grpc
import pytest

from shared.adapters.catalog_api.answers import Answers
from shared.adapters.catalog_api.server import running
from shared.adapters.catalog_client.client import catalog_at
from shared.adapters.catalog_client.registry_pb2 import Bundle, Dependency, PackageName
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
        pytest.param(repeat(bytes(5 * 2**20)), "TooLarge", id="a message that OLM does not take"),
    ],
)
def test_a_server_that_lies_is_reported(names: Iterator[bytes], reason: str) -> None:
    with answering({"ListPackages": names}) as address, pytest.raises(OciError) as caught:
        catalog_at(address, limit=10_000)
    assert caught.value.reason == reason


@contextmanager
def answering(streams: Mapping[str, Iterable[bytes]]) -> Iterator[str]:
    """A server that answers so, and that has each package it is asked for."""
    handlers = {
        name: grpc.unary_stream_rpc_method_handler(lambda *_, stream=stream: iter(stream), bytes, bytes)
        for name, stream in streams.items()
    }
    handlers["GetPackage"] = grpc.unary_unary_rpc_method_handler(lambda asked, _: asked, bytes, bytes)
    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("api.Registry", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(0).wait()


@pytest.mark.parametrize("part", [b"\x62\x00", b"\x2a\x00", b"\x3a\x00"], ids=["properties", "objects", "APIs"])
def test_what_takes_much_more_than_its_bytes_is_bounded(part: bytes) -> None:
    streams = {"ListPackages": [a_name(b"tea")], "ListBundles": [part * 500_000]}
    with answering(streams) as address, pytest.raises(OciError) as caught:
        catalog_at(address, limit=100_000_000)
    assert caught.value.reason == "TooLarge"


def test_the_bundles_of_one_package_are_read_at_a_time() -> None:
    names = [f"p{n}" for n in range(40)]
    many = [Dependency(type="other") for _ in range(2000)]
    bundles = [Bundle(packageName=name, csvName=name, dependencies=many).SerializeToString() for name in names]
    packages = [PackageName(name=name).SerializeToString() for name in names]
    with answering({"ListPackages": packages, "ListBundles": bundles}) as address:
        tracemalloc.start()
        try:
            catalog_at(address)
            assert tracemalloc.get_traced_memory()[1] < len(names) * len(many) * 100
        finally:
            tracemalloc.stop()
