"""Bundles by digest, pulled once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from shared.adapters.content.kept_bundles import BUNDLE, files_of
from shared.adapters.content.store import Store
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.reference import Reference
from shared.domain.bundle.model import Files

BY_DIGEST = Reference("quay.io", "acme/tea", "1", f"sha256:{'a' * 64}")
FILES = {"manifests/tea.yaml": b"kind: Tea\n", "metadata/annotations.yaml": b"\xff"}


class Registry:
    """Counts what is pulled."""

    def __init__(self) -> None:
        self.pulled: list[Reference] = []

    def pull(self, reference: Reference) -> Files:
        self.pulled.append(reference)
        return FILES


@pytest.fixture
def registry() -> Registry:
    return Registry()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_what_a_digest_names_is_pulled_once(registry: Registry, store: Store) -> None:
    with_other_tag = Reference("quay.io", "acme/tea", "2", BY_DIGEST.digest)
    for reference in (BY_DIGEST, BY_DIGEST, with_other_tag):
        assert files_of(reference, store, registry.pull) == FILES
    assert registry.pulled == [BY_DIGEST]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(Reference("quay.io", "acme/coffee", "", BY_DIGEST.digest), id="of another repository"),
        pytest.param(Reference("quay.io", "acme/tea", "", f"sha256:{'b' * 64}"), id="of another digest"),
    ],
)
def test_another_is_pulled(registry: Registry, store: Store, other: Reference) -> None:
    """Who may read one repository may not read each that claims to have the same image."""
    for reference in (BY_DIGEST, other):
        files_of(reference, store, registry.pull)
    assert registry.pulled == [BY_DIGEST, other]


def test_what_a_tag_names_is_pulled_each_time(registry: Registry, store: Store) -> None:
    by_tag = Reference("quay.io", "acme/tea", "1")
    for _ in range(2):
        files_of(by_tag, store, registry.pull)
    assert registry.pulled == [by_tag, by_tag]
    assert not store.names(BUNDLE)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda _: b"", id="empty"),
        pytest.param(lambda kept: kept[:-1], id="cut off"),
        pytest.param(lambda kept: kept.replace(b"kind: Tea", b"kind: Pea"), id="one letter"),
    ],
)
def test_a_damaged_file_is_made_again(registry: Registry, store: Store, damage: Callable[[bytes], bytes]) -> None:
    files_of(BY_DIGEST, store, registry.pull)
    [name] = store.names(BUNDLE)
    file = store.folder / name
    file.write_bytes(damage(file.read_bytes()))
    for _ in range(3):
        assert files_of(BY_DIGEST, store, registry.pull) == FILES
    assert len(registry.pulled) == 2


@pytest.mark.parametrize("where", ["full", "no folder", "unwritable"])
def test_what_cannot_be_kept_is_pulled_each_time(registry: Registry, tmp_path: Path, where: str) -> None:
    (tmp_path / "file").touch()
    store = Store(tmp_path / "file" / "store" if where == "no folder" else tmp_path / "store", limit_bytes=10_000)
    if where == "full":
        store.limit_bytes = 1
    if where == "unwritable":
        (tmp_path / "store" / f"{name_in(Store(tmp_path / 'other'))}.lock").mkdir(parents=True)
    for _ in range(2):
        assert files_of(BY_DIGEST, store, registry.pull) == FILES
    assert len(registry.pulled) == 2


def name_in(store: Store) -> str:
    """The name of the file in a store that keeps it."""
    files_of(BY_DIGEST, store, lambda _: FILES)
    (name,) = store.names(BUNDLE)
    return name


def test_of_a_failed_pull_nothing_is_kept(registry: Registry, store: Store) -> None:
    def fail(_: Reference) -> Files:
        raise OciError("Unreachable", "the registry is away")

    with pytest.raises(OciError, match="away"):
        files_of(BY_DIGEST, store, fail)
    assert files_of(BY_DIGEST, store, registry.pull) == FILES
