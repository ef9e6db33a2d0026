"""What a Job is told of mirrors."""

from __future__ import annotations

import json

import pytest

from shared.api.manifest import Manifest
from shared.domain.unpack.registries import mirrors_about
from shared.domain.unpack.result import Missing, to_create
from shared.kinds import MIRROR_SETS
from shared.reading.unpacking import read_unpacking
from tests.domain.unpack.test_unpack import DESIRED, NOW
from tests.kit.cluster import FakeCluster

IMAGE = "quay.io/acme/tea@sha256:0"


def a_set(source: str) -> Manifest:
    kind = MIRROR_SETS[0]
    listed = [{"source": source, "mirrors": ["inner.io/m"]}]
    return {
        "apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "a"},
        "spec": {"imageDigestMirrors": listed},
    }  # fmt: skip


@pytest.mark.parametrize("source", ["quay.io", "quay.io/acme", "quay.io/acme/tea", "*.io"])
def test_what_is_about_the_image_is_reported(source: str) -> None:
    assert json.loads(mirrors_about(IMAGE, [a_set(source)])) == [{"spec": a_set(source)["spec"]}]


@pytest.mark.parametrize("source", ["quay.io/acm", "other.io", "", "*.com"])
def test_what_is_about_others_is_not(source: str) -> None:
    assert mirrors_about(IMAGE, [a_set(source), {"spec": None}]) == ""


def test_a_job_that_is_made_knows_the_mirrors_of_its_image() -> None:
    source = DESIRED.path.partition("/")[0]
    cluster = FakeCluster([a_set(source)])
    seen = read_unpacking(DESIRED, None, cluster, NOW, warnings=cluster)
    assert isinstance(seen.result, Missing)
    job = to_create(DESIRED, seen.result)[-1]
    [container] = job["spec"]["template"]["spec"]["containers"]
    assert container["command"][-2:] == ["--mirrors", seen.result.registries.mirrors]
    assert source in seen.result.registries.mirrors
