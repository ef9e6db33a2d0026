"""Secrets of Helm are foreign text: what is not as upstream writes it is told (v1.md §20, §21.9)."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import ClusterExtension
from shared.domain.extension import migration
from shared.domain.extension.helm_release import LARGEST, Release, UnusableRelease, newest, others_of, release_of
from tests.kit.helm_release import ETCD, a_release, secrets_of

EXTENSION: Manifest = {
    "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
    "metadata": {"name": "etcd", "uid": "u1"}, "spec": {},
}  # fmt: skip
SETTINGS: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}


def the_secrets(*objects: Manifest, **more: Any) -> list[Manifest]:
    return secrets_of(a_release(EXTENSION, objects, **more), EXTENSION, chunk=250)


def read(index: Manifest, *others: Manifest) -> Release:
    there = {one["metadata"]["name"]: one for one in others}
    return release_of(index, [(name, there.get(name)) for name in others_of(index)])


def packed(text: bytes) -> str:
    return base64.b64encode(gzip.compress(text, mtime=0)).decode()


def test_a_release_of_several_secrets() -> None:
    index, *others = the_secrets(SETTINGS)
    assert others
    found = read(index, *others)
    assert [one["metadata"]["name"] for one in found.objects] == ["settings"]
    assert found.labels == ETCD
    assert found.annotations[names.V1_PROPERTIES] == "[]"


def with_data(**data: object) -> Callable[[Manifest], Manifest]:
    return lambda index: {**index, "data": {**index["data"], **data}}


def with_manifest(text: str) -> Callable[[Manifest], Manifest]:
    release = a_release(EXTENSION, (), manifest=text)
    return lambda index: with_data(
        extraChunks=base64.b64encode(b"[]").decode(), chunk=packed(json.dumps(release).encode())
    )(index)


LINE = "line 1 of the manifest of sh.helm.release.v1.etcd.v1: "
NO_MORE = base64.b64encode(b"[]").decode()


@pytest.mark.parametrize(
    ("spoiled", "why"),
    [
        pytest.param(with_data(extraChunks="!"), "is missing extraChunks", id="no base64"),
        pytest.param(with_data(extraChunks=packed(b"[]")), "failed to decode chunk names", id="no JSON"),
        pytest.param(with_data(extraChunks="e30="), "extraChunks is no list of names", id="no list"),
        pytest.param(with_data(extraChunks="WzFd"), "extraChunks is no list of names", id="no names"),
        pytest.param(
            with_data(extraChunks=base64.b64encode(json.dumps(["a"] * 11).encode()).decode()),
            "consists of 12 chunks, which exceeds the maximum of 11", id="too many secrets",
        ),
        pytest.param(
            with_data(extraChunks=base64.b64encode(b'["gone"]').decode()), "failed to get chunk secret gone",
            id="a secret is gone",
        ),
        pytest.param(with_data(chunk=None), "is missing chunk", id="no text"),
        pytest.param(with_data(chunk="bm8=", extraChunks=NO_MORE), "failed to decode release", id="no gzip"),
        pytest.param(
            with_data(chunk=packed(b"x" * (LARGEST + 1)), extraChunks=NO_MORE), f"exceeds {LARGEST} bytes",
            id="too large"
        ),
        pytest.param(with_data(extraChunks=NO_MORE), "unexpected EOF", id="cut off"),
        pytest.param(
            with_data(chunk=packed(b"[" * 5000), extraChunks=NO_MORE), "failed to decode release", id="nested deeply"
        ),
        pytest.param(
            with_data(chunk=packed(b"[]"), extraChunks=NO_MORE), "is not what its secret says", id="another value"
        ),
        pytest.param(with_manifest("no JSON"), f"failed to decode {LINE[:-2]}", id="a line is no JSON"),
        pytest.param(with_manifest("[]"), f"{LINE}it is no object", id="a line is no object"),
        pytest.param(with_manifest('{"metadata": 1}'), f"{LINE}it has no metadata", id="no metadata"),
        pytest.param(
            with_manifest('{"metadata": {"labels": [1]}}'), f"{LINE}metadata.labels are no texts",
            id="labels are a list",
        ),
        pytest.param(
            with_manifest('{"metadata": {"annotations": {"a": 1}}}'), f"{LINE}metadata.annotations are no texts",
            id="an annotation is a number",
        ),
        pytest.param(
            with_manifest('{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "../x"}}'),
            f"{LINE}ConfigMap '../x'", id="a name that no object can have",
        ),
    ],
)  # fmt: skip
def test_a_release_that_is_not_as_upstream_writes_it(spoiled: Callable[[Manifest], Manifest], why: str) -> None:
    index, *others = the_secrets(SETTINGS)
    with pytest.raises(UnusableRelease) as error:
        read(spoiled(index), *others)
    assert why in str(error.value)


def test_a_secret_that_the_first_does_not_control_is_not_read() -> None:
    index, first, *others = the_secrets(SETTINGS)
    first["metadata"]["ownerReferences"] = []
    with pytest.raises(UnusableRelease, match="failed to get chunk secret"):
        read(index, first, *others)


def test_the_newest_of_this_very_extension() -> None:
    release = a_release(EXTENSION, ())
    found = [secrets_of(release, EXTENSION, version=number)[0] for number in (2, 10, 9)]
    stranger = secrets_of(release, {**EXTENSION, "metadata": {"name": "etcd", "uid": "u2"}}, version=11)[0]
    odd = secrets_of(release, EXTENSION)[0]
    odd["metadata"]["labels"]["version"] = "many"
    extension = ClusterExtension(EXTENSION)
    assert newest([odd, *found, stranger], extension) is found[1]
    assert newest([odd], extension) is odd
    assert newest([stranger], extension) is None


@pytest.mark.parametrize(
    ("labels", "objects", "why"),
    [
        pytest.param({}, [], "failed to get version and release of installed bundle", id="no version"),
        pytest.param(ETCD, [SETTINGS] * 1001, "1001 objects are more than 20 phases of 50", id="too many objects"),
        pytest.param(
            ETCD, [{**SETTINGS, "data": {"a": "".join(map(chr, range(256, 55000))) * 18}}],
            "exceeds maximum Secret data size", id="an object that fits no Secret",
        ),
    ],
)  # fmt: skip
def test_a_release_that_no_revision_can_be_made_of(labels: dict[str, str], objects: list[Manifest], why: str) -> None:
    with pytest.raises(UnusableRelease) as error:
        migration.first_revision(ClusterExtension(EXTENSION), Release(labels, {}, tuple(objects)), "olm")
    assert why in str(error.value)


def test_a_release_that_is_recorded_with_the_bundle_s_own_release() -> None:
    labels = {**ETCD, names.V1_BUNDLE_RELEASE: "2"}
    found = migration.first_revision(ClusterExtension(EXTENSION), Release(labels, {}, (SETTINGS,)), "olm")
    assert found.revision["metadata"]["annotations"][names.V1_BUNDLE_RELEASE] == "2"
