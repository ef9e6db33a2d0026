"""The uids of owners, filled in when an object is written."""

from __future__ import annotations

import pytest

from eventing.effects.owners import Owners
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest
from tests.eventing.effects.fake_api import FakeApi

PARENT: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "parent", "namespace": "ns"}}


def owned_by(name: str, kind: str = "ConfigMap", **more: str) -> Manifest:
    owner = {"apiVersion": "v1", "kind": kind, "name": name, **more}
    return {"metadata": {"name": "child", "namespace": "ns", "ownerReferences": [owner]}}


def test_each_owner_is_read_once() -> None:
    api = FakeApi([PARENT])
    owners = Owners(api, {})
    for _ in range(2):
        (owner,) = owners.fill(owned_by("parent"))["metadata"]["ownerReferences"]
        assert owner["uid"] == "uid-101"
    assert api.calls == ["get parent"]


def test_an_owner_that_has_its_uid_is_not_read() -> None:
    api = FakeApi()
    whole = owned_by("parent", uid="u")
    assert Owners(api, {}).fill(whole) is whole
    assert api.calls == []


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        pytest.param(owned_by("parent"), "does not exist", id="it is gone"),
        pytest.param(owned_by("a/b"), "'a/b' does not exist", id="nothing can be called so"),
        pytest.param(owned_by("parent", "Strange"), "v1 Strange is not served", id="a kind that is not served"),
    ],
)
def test_an_owner_that_is_not_there_refuses_the_write(manifest: Manifest, message: str) -> None:
    with pytest.raises(ApiError, match=message) as refused:
        Owners(FakeApi(), {}).fill(manifest)
    assert refused.value.is_not_found
