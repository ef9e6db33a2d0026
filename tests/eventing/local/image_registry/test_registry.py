from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import urllib3

from eventing.local.image_registry import RepositoryIndex, Sources, server_of
from eventing.local.served import unserved_bundles
from shared.adapters.content.bundles import ImageBundles
from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.pulling import Puller
from shared.adapters.content.store import Store
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.bundle.payload import load
from shared.domain.catalog.model import Entry, Package
from shared.domain.image_source import ImageSource
from shared.ports import Pulled

_SAMPLES = Path(__file__).parents[4] / "k8s" / "samples" / "bundles"


@contextmanager
def running(sources: Sources, log: Callable[[str], None] = lambda _: None) -> Iterator[str]:
    """The address of a registry that serves in a thread until the end of the block."""
    with server_of(sources, log=log) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server.address
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    return Path(shutil.copytree(_SAMPLES, tmp_path / "bundles"))


@pytest.fixture
def address(bundles: Path) -> Iterator[str]:
    with running(Sources((bundles,))) as found:
        yield found


@pytest.fixture
def catalogs(tmp_path: Path) -> ImageCatalogs:
    return ImageCatalogs(Store(tmp_path / "content"), Puller(lambda *_: None))


def local(address: str) -> ImageSource:
    return ImageSource(f"{address}/catalogs/local:latest", "olm")


def package(catalogs: ImageCatalogs, address: str, name: str) -> Package:
    pulled = catalogs.pull(local(address))
    assert isinstance(pulled, Pulled)
    found = catalogs.package(pulled.reference, name, local(address))
    assert isinstance(found, Package)
    return found


def test_a_folder_of_bundles_is_a_catalog_and_its_images(address: str, catalogs: ImageCatalogs) -> None:
    tide = package(catalogs, address, "tide")
    channel = next(channel for channel in tide.channels if len(channel.entries) == 4)
    assert channel.entries[-1] == Entry("tide.v1.0.0", "tide.v0.3.0", (), ">=0.1.0 <1.0.0")
    port = ImageBundles(Puller(lambda *_: None), catalogs)
    for name, bundle in tide.bundles.items():
        payload = port.config_map_payload(ImageSource(bundle.image, "olm"))
        assert isinstance(payload, dict)
        unpacked = load({"metadata": {"annotations": payload["annotations"]}, "binaryData": payload["binaryData"]})
        assert isinstance(unpacked, UnpackedBundle)
        assert unpacked.csv["metadata"]["name"] == name


def test_the_same_folder_has_the_same_digest_in_every_process(bundles: Path) -> None:
    indexes = [RepositoryIndex(Sources((bundles,)), "host:1") for _ in range(2)]
    for path in bundles.rglob("*"):
        os.utime(path)
    digests = {image.digest for index in indexes if (image := index.image("catalogs/local", "latest"))}
    assert len(digests) == 1


def test_a_changed_folder_has_a_new_digest_under_the_same_tag(
    bundles: Path, address: str, catalogs: ImageCatalogs
) -> None:
    before = package(catalogs, address, "ledger").bundles["ledger.v2.1.0"].image
    csv = bundles / "ledger" / "2.1.0" / "manifests" / "ledger.clusterserviceversion.yaml"
    csv.write_text(csv.read_text() + "# changed\n")
    after = package(catalogs, address, "ledger").bundles["ledger.v2.1.0"].image
    assert before != after


def test_a_new_version_is_served_at_once(bundles: Path, address: str, catalogs: ImageCatalogs) -> None:
    shutil.move(bundles / "tide" / "1.0.0", bundles.parent / "held back")
    assert "tide.v1.0.0" not in package(catalogs, address, "tide").bundles
    shutil.move(bundles.parent / "held back", bundles / "tide" / "1.0.0")
    assert "tide.v1.0.0" in package(catalogs, address, "tide").bundles


def test_a_bundle_without_a_csv_is_left_out_and_reported(bundles: Path, catalogs: ImageCatalogs) -> None:
    (bundles / "ledger" / "2.1.0" / "manifests" / "ledger.clusterserviceversion.yaml").unlink()
    (bundles / "beacon" / "1.0.0" / "metadata" / "annotations.yaml").unlink()
    reported: list[str] = []
    with running(Sources((bundles,)), log=reported.append) as address:
        pulled = catalogs.pull(local(address))
        assert isinstance(pulled, Pulled)
        assert catalogs.packages(pulled.reference, local(address)) == ("beacon", "tide")
        assert pulled.left_out == tuple(reported), "the catalog carries what is wrong, which is logged once"
        assert unserved_bundles(address, "local") == tuple(reported)
    annotation = "operators.operatorframework.io.bundle.package.v1"
    assert reported == [
        f"{bundles}/beacon/1.0.0: no metadata/annotations.yaml names its package; add the annotation {annotation}",
        f"{bundles}/ledger/2.1.0: no ClusterServiceVersion in manifests/; add one",
    ]


def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_served(bundles: Path, catalogs: ImageCatalogs) -> None:
    definition = next((bundles / "beacon" / "1.0.0" / "manifests").glob("*.crd.yaml"))
    definition.write_text("a: [b")
    with running(Sources((bundles,))) as address:
        pulled = catalogs.pull(local(address))
        assert isinstance(pulled, Pulled)
        assert "beacon.v1.0.0" in package(catalogs, address, "beacon").bundles
        [sentence] = pulled.left_out
    assert sentence.startswith(f"{bundles}/beacon/1.0.0: manifests/{definition.name} cannot be read: ")


def test_many_defects_are_counted(bundles: Path, catalogs: ImageCatalogs) -> None:
    for number in range(12):
        (bundles / "tide" / f"broken{number}" / "manifests").mkdir(parents=True)
    with running(Sources((bundles,))) as address:
        pulled = catalogs.pull(local(address))
        assert isinstance(pulled, Pulled)
        assert (len(pulled.left_out), pulled.left_out[-1]) == (11, "and 2 more")


def test_a_folder_of_catalog_files_is_served_under_its_name(tmp_path: Path, catalogs: ImageCatalogs) -> None:
    folder = tmp_path / "files"
    (folder / "cup").mkdir(parents=True)
    (folder / "cup" / "catalog.yaml").write_text(
        "schema: olm.package\nname: cup\ndefaultChannel: a\n---\n"
        "schema: olm.channel\npackage: cup\nname: a\nentries: [{name: cup.v1}]\n---\n"
        "schema: olm.bundle\npackage: cup\nname: cup.v1\nimage: quay.io/cup:1\n"
        "properties: [{type: olm.package, value: {packageName: cup, version: 1.0.0}}]\n"
    )
    with running(Sources(catalogs={"My Files": folder})) as address:
        source = ImageSource(f"{address}/catalogs/my-files:latest", "olm")
        pulled = catalogs.pull(source)
        assert isinstance(pulled, Pulled)
        assert catalogs.packages(pulled.reference, source) == ("cup",)


def ask(address: str, path: str, method: str = "GET", **headers: str) -> urllib3.BaseHTTPResponse:
    return urllib3.request(method, f"http://{address}{path}", headers=headers)


def test_the_api_is_that_of_a_registry(address: str) -> None:
    assert ask(address, "/v2/").status == 200
    assert ask(address, "/v2/_catalog").json() == {
        "repositories": ["bundles/beacon", "bundles/ledger", "bundles/tide", "catalogs/local"]
    }
    tags = ask(address, "/v2/bundles/tide/tags/list").json()
    assert tags == {"name": "bundles/tide", "tags": ["0.1.0", "0.2.0", "0.3.0", "1.0.0"]}
    whole = ask(address, "/v2/bundles/tide/manifests/1.0.0")
    head = ask(address, "/v2/bundles/tide/manifests/1.0.0", "HEAD")
    assert head.headers["Docker-Content-Digest"] == whole.headers["Docker-Content-Digest"]
    assert int(head.headers["Content-Length"]) == len(whole.data)
    assert head.data == b""


def test_a_blob_is_served_in_parts(address: str) -> None:
    layer = ask(address, "/v2/bundles/tide/manifests/1.0.0").json()["layers"][0]
    path = f"/v2/bundles/tide/blobs/{layer['digest']}"
    whole = ask(address, path).data
    assert len(whole) == layer["size"]
    part = ask(address, path, Range="bytes=100-199")
    assert (part.status, part.data) == (206, whole[100:200])
    assert part.headers["Content-Range"] == f"bytes 100-199/{len(whole)}"
    rest = ask(address, path, Range=f"bytes={len(whole) - 5}-")
    assert rest.data == whole[-5:]
    assert ask(address, path, Range=f"bytes={len(whole)}-").status == 416


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        pytest.param("GET", "/v2/bundles/tide/manifests/9.9.9", 404, id="a tag that is not there"),
        pytest.param("GET", "/v2/bundles/cup/manifests/1.0.0", 404, id="a name that is not there"),
        pytest.param("GET", "/v2/bundles/cup/tags/list", 404, id="tags of a name that is not there"),
        pytest.param("GET", f"/v2/bundles/tide/blobs/sha256:{'0' * 64}", 404, id="a blob that is not there"),
        pytest.param("GET", "/v2/../../etc/passwd", 404, id="a path that climbs"),
        pytest.param("PUT", "/v2/bundles/tide/manifests/1.0.0", 405, id="a push"),
        pytest.param("DELETE", "/v2/bundles/tide/manifests/1.0.0", 405, id="a deletion"),
    ],
)
def test_what_is_not_served_reports_it(address: str, method: str, path: str, status: int) -> None:
    answer = ask(address, path, method)
    assert answer.status == status
    assert answer.json()["errors"][0]["message"]


def test_a_bundle_is_served_as_long_as_its_folder_is_there(bundles: Path) -> None:
    index = RepositoryIndex(Sources((bundles,)), "host")
    before = index.tags("bundles/tide")
    shutil.rmtree(bundles / "tide" / "0.1.0")
    assert index.tags("bundles/tide") == [tag for tag in before if tag != "0.1.0"]
    assert index.image("bundles/tide", "0.1.0") is None


def test_a_folder_that_is_gone_is_no_empty_catalog(bundles: Path, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    index = RepositoryIndex(Sources((bundles,), {"files": files}), "host")
    for folder, repository in ((bundles, "catalogs/local"), (files, "catalogs/files")):
        there = index.image(repository, "latest")
        assert there is not None
        folder.rename(tmp_path / "away")
        assert index.image(repository, "latest") is None
        assert repository not in index.repositories()
        (tmp_path / "away").rename(folder)
        assert index.image(repository, "latest") == there


def test_a_file_that_cannot_be_read_is_reported_to_who_asks(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").symlink_to("/proc/self/mem")  # nobody can read its beginning
    with running(Sources(catalogs={"files": tmp_path})) as address:
        answer = ask(address, "/v2/catalogs/files/manifests/latest")
    assert answer.status == 503
    assert answer.json()["errors"][0]["message"].startswith("a file cannot be read: ")


def test_the_program_reports_where_it_serves(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "eventing.cli.main", "run", "content", "--catalog", str(tmp_path)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as program:
        assert program.stderr is not None
        output = program.stderr.readline()
        program.terminate()
    assert re.fullmatch(r"serving images at 127\.0\.0\.1:\d+\n", output)
    again = subprocess.run([*words, "--catalog", str(tmp_path)], capture_output=True, text=True, check=False)
    assert (again.returncode, "two folders would be called the same" in again.stderr) == (2, True)
