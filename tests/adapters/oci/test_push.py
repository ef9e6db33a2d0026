from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from shared.adapters.image_writer import write_image
from shared.adapters.images import unpacked
from shared.adapters.oci.build import Files, build
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.registry import Registry
from shared.adapters.oci.transport import Transport
from tests.kit.image_registry import Answer, Request, ScriptedRegistry, scripted_registry

FILES: Files = {"b/c": b"C", "a": b"A"}


@pytest.fixture
def registry() -> Iterator[ScriptedRegistry]:
    with scripted_registry() as scripted:
        yield scripted


@dataclass
class Receiving:
    """A registry that takes everything, as far as a test wants it to."""

    has: set[str] = field(default_factory=set)
    reported: list[str] = field(default_factory=list)
    refused: dict[str, Answer] = field(default_factory=dict)

    def __call__(self, request: Request) -> Answer:
        self.reported.append(f"{request.method} {request.path.partition('?')[0].rpartition(':')[0] or request.path}")
        if request.method in self.refused:
            return self.refused[request.method]
        match request.method:
            case "HEAD":
                return Answer(status=200 if request.path in self.has else 404)
            case "POST":
                return Answer(status=202, headers={"Location": "/v2/tea/blobs/uploads/1?state=x"})
        return Answer(status=201)


def pushed(registry: ScriptedRegistry, receiving: Receiving) -> str:
    registry.gate = receiving
    return write_image(FILES, {"l": "v"}, f"{registry.address}/tea:1", Registry(Transport(attempts=1)))


def test_an_image_is_sent_blob_by_blob_and_then_named(registry: ScriptedRegistry) -> None:
    receiving = Receiving()
    written = pushed(registry, receiving)
    assert written.startswith(f"{registry.address}/tea@sha256:")
    assert [one.partition(" ")[0] for one in receiving.reported] == [
        "HEAD",
        "POST",
        "PUT",
        "HEAD",
        "POST",
        "PUT",
        "PUT",
    ]
    assert [request.path for request in registry.requests][2].startswith(
        "/v2/tea/blobs/uploads/1?state=x&digest=sha256%3A"
    )
    assert registry.requests[-1].path == "/v2/tea/manifests/1"


def test_what_is_there_is_not_sent_again(registry: ScriptedRegistry) -> None:
    receiving = Receiving(refused={"HEAD": Answer()})
    pushed(registry, receiving)
    assert [one.partition(" ")[0] for one in receiving.reported] == ["HEAD", "HEAD", "PUT"]


@pytest.mark.parametrize(
    ("method", "answer", "reason"),
    [
        pytest.param("HEAD", Answer(status=403), "Unauthorized", id="we may not look"),
        pytest.param("POST", Answer(status=401), "Unauthorized", id="we may not write"),
        pytest.param("POST", Answer(status=202), "Unreachable", id="it does not say where to"),
        pytest.param("PUT", Answer(status=500), "Unreachable", id="it is broken"),
        pytest.param("POST", Answer(status=405), "Blocked", id="it takes no pushes"),
    ],
)
def test_a_push_that_fails_reports_it(registry: ScriptedRegistry, method: str, answer: Answer, reason: str) -> None:
    with pytest.raises(OciError) as caught:
        pushed(registry, Receiving(refused={method: answer}))
    assert caught.value.reason == reason
    assert caught.value.message.endswith("it was not pushed")
    assert "tried again" not in caught.value.message
    assert ("takes no pushes: name another registry" in caught.value.message) == (answer.status == 405)


def test_the_same_files_give_the_same_image_byte_for_byte(tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(b"C")
    first = build(FILES, {"x": "1", "y": "2"}, tmp_path / "1")
    again = build({"a": b"A", "b/c": tmp_path / "c"}, {"y": "2", "x": "1"}, tmp_path / "2")
    assert (first.digest, first.manifest, first.config) == (again.digest, again.manifest, again.config)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_a_layer_holds_files_and_folders_of_no_time_and_nobody(tmp_path: Path) -> None:
    build(FILES, {}, tmp_path / "layer")
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress((tmp_path / "layer").read_bytes()))) as archive:
        found = {member.name: (member.mode, member.mtime, member.uid, member.uname) for member in archive}
    assert found == {"b": (0o755, 0, 0, ""), "a": (0o644, 0, 0, ""), "b/c": (0o644, 0, 0, "")}


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for target in (f"oci:{tmp_path}/file", f"docker-archive:{tmp_path}/file/x"):
        with pytest.raises(OciError, match="cannot be written"):
            write_image(FILES, {}, target)


def test_a_layout_keeps_one_image_per_tag(tmp_path: Path) -> None:
    first = write_image(FILES, {}, f"oci:{tmp_path}/layout:1")
    second = write_image({"new": b""}, {}, f"oci:{tmp_path}/layout:1")
    assert first != second
    assert (tmp_path / "layout" / "index.json").read_text().count('"digest"') == 1


@pytest.mark.parametrize("index", ["{", "[]"])
def test_a_layout_that_is_damaged_is_not_written_to(tmp_path: Path, index: str) -> None:
    (tmp_path / "index.json").write_text(index)
    with pytest.raises(OciError, match="its manifest is not"):
        write_image(FILES, {}, f"oci:{tmp_path}:1")
    assert (tmp_path / "index.json").read_text() == index


@pytest.mark.parametrize("odd", ['{"manifests": 5}', '{"manifests": [5, {"annotations": 5}]}'])
def test_an_image_is_added_beside_odd_entries(tmp_path: Path, odd: str) -> None:
    (tmp_path / "index.json").write_text(odd)
    written = write_image(FILES, {}, f"oci:{tmp_path}:1")
    with unpacked(f"oci:{tmp_path}:1") as found:
        assert found.reference == written
