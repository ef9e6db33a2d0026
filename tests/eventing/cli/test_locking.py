"""`olmf resolve --lock` and `--locked`: the same question later, elsewhere, and without the registry."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from eventing.cli.failure import NEGATIVE, USAGE, CliError
from eventing.cli.main import app
from shared.domain.bundle.annotations import CONFIGS
from tests.domain.resolver.scenery import Blob, line, package, sub
from tests.kit.image_registry import a_file, a_layer, scripted_registry


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of catalogs goes to a folder of the test, which is also where the verbs run."""
    monkeypatch.setenv("OLMF_CONTENT", str(tmp_path / "content"))
    monkeypatch.chdir(tmp_path)


def catalog(count: int) -> bytes:
    return yaml.safe_dump_all(package("a", line("a", count))).encode()


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    """A folder with a Subscription to the package a."""
    return subscribed(tmp_path / "objects", sub("a"))


def subscribed(place: Path, *objects: Blob) -> Path:
    place.mkdir(exist_ok=True)
    (place / "subscriptions.yaml").write_text(yaml.safe_dump_all({"kind": "Subscription", **one} for one in objects))
    return place


@pytest.fixture
def lock(tmp_path: Path, objects: Path) -> Path:
    """A lock of a catalog in a folder with two versions of a."""
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "catalog.yaml").write_bytes(catalog(2))
    found = olmf("-n", "ns", "--catalog", "cat", "--from", "objects", "--lock", "a.lock")
    assert found.exit_code == 0, found.output
    assert found.stderr.endswith("# locked in a.lock; `olmf resolve --locked a.lock` checks whether all is still so\n")
    return tmp_path / "a.lock"


def olmf(*words: str) -> Result:
    return CliRunner().invoke(app, ["resolve", *words])


def failure(*words: str) -> CliError:
    error = olmf(*words).exception
    assert isinstance(error, CliError)
    return error


def test_what_was_locked_is_answered_again_without_another_word(lock: Path) -> None:
    assert "a.v2" in json.loads(lock.read_text())["chosen"]
    found = olmf("--locked", "a.lock")
    assert found.exit_code == 0
    assert "a.v2 from channel stable" in found.stdout


def test_a_lock_holds_where_the_files_were_copied_to(lock: Path, tmp_path: Path) -> None:
    shutil.copytree(tmp_path / "cat", tmp_path / "copy")
    assert olmf("--locked", "a.lock", "--catalog", "copy").exit_code == 0


def test_a_catalog_with_another_version_is_not_the_one_that_was_locked(lock: Path, tmp_path: Path) -> None:
    (tmp_path / "cat" / "catalog.yaml").write_bytes(catalog(3))
    error = failure("--locked", "a.lock")
    assert error.code == NEGATIVE
    words = str(error)
    assert words.startswith("--locked a.lock: catalog ns/cat is not as it was: content sha256:"), words
    assert words.endswith("; the choice a.v2 is gone; the choice a.v3 is new; resolve with --lock a.lock to accept it")


def test_a_bundle_that_was_built_again_is_named_with_what_is_other(lock: Path, tmp_path: Path) -> None:
    built = catalog(2).replace(b"image: a.v2", b"image: again")
    (tmp_path / "cat" / "catalog.yaml").write_bytes(built)
    assert "the choice a.v2 is not as it was: digest sha256:" in str(failure("--locked", "a.lock"))
    assert "image again (locked: a.v2)" in str(failure("--locked", "a.lock"))


def test_a_subscription_that_was_edited_is_named(lock: Path, objects: Path) -> None:
    subscribed(objects, sub("a", version="1.0.0"))
    assert "Subscription a is not as it was" in str(failure("--locked", "a.lock"))


def test_an_image_is_locked_by_digest_and_asked_without_its_registry(objects: Path, tmp_path: Path) -> None:
    with scripted_registry() as registry:
        digest = registry.put("cat", "v1", [a_layer(a_file("configs/a.yaml", catalog(2)))], {CONFIGS: "/configs"})
        image = f"ns/cat={registry.address}/cat:v1"
        assert olmf("-n", "ns", "--catalog", image, "--from", "objects", "--lock", "a.lock").exit_code == 0
    lock = json.loads((tmp_path / "a.lock").read_text())
    assert lock["catalogs"]["ns/cat"]["content"] == digest
    assert lock["read"]["catalogs"] == [f"ns/cat={registry.address}/cat@{digest}"]
    assert olmf("--locked", "a.lock").exit_code == 0


def test_a_lock_without_sources_leaves_them_to_the_command_line(lock: Path) -> None:
    reads: list[object] = [[], {"catalogs": 1, "from": 2}]
    for read in reads:
        lock.write_text(json.dumps({**json.loads(lock.read_text()), "read": read}))
        assert olmf("--locked", "a.lock", "--catalog", "cat", "--from", "objects").exit_code == 0


def test_a_refusal_is_not_locked(tmp_path: Path, lock: Path) -> None:
    subscribed(tmp_path / "other", sub("a", channel="none"))
    before = lock.read_text()
    found = olmf("-n", "ns", "--catalog", "cat", "--from", "other", "--lock", "a.lock")
    assert found.exit_code == NEGATIVE
    assert "nothing is locked in a.lock, because Subscription a gets no answer" in found.stderr
    assert lock.read_text() == before


@pytest.mark.parametrize(
    ("words", "why"),
    [
        pytest.param(("--locked", "none.lock"), "No such file", id="no file"),
        pytest.param(("--locked", "bad.lock"), "it is not JSON", id="no JSON"),
        pytest.param(("--locked", "other.lock"), "no lock of version 1", id="no lock"),
        pytest.param(("--locked", "x", "--lock", "y"), "--lock and --locked exclude each other", id="both at once"),
        pytest.param(("--locked", "x", "--batch"), "--batch all but --isolation", id="a lock of many questions"),
        pytest.param(
            ("-n", "ns", "--catalog", "cat", "--from", "objects", "--lock", "no/where"), "No such file", id="nowhere"
        ),
    ],
)
def test_a_wrong_word_is_answered_by_what_to_do(words: tuple[str, ...], why: str, lock: Path) -> None:
    lock.with_name("bad.lock").write_text("{")
    lock.with_name("other.lock").write_text("{}")
    error = failure(*words)
    assert (error.code, why in str(error)) == (USAGE, True), str(error)
