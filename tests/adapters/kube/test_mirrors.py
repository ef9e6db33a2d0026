from __future__ import annotations

from collections.abc import Mapping

import pytest

from shared.adapters.kube import ApiError
from shared.adapters.kube.mirrors import KubeMirrors
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.mirrors import Mirror, Mirrors, Rule
from shared.adapters.oci.reference import Reference
from shared.api.manifest import Manifest
from shared.kinds import MIRROR_SETS, Kind
from tests.kit.cluster import FakeCluster

_IMAGE = "quay.io/acme/tea:1"


def a_set(*mirrors: str, source: str = "quay.io/acme") -> Manifest:
    kind = MIRROR_SETS[1]
    spec = {"imageTagMirrors": [{"source": source, "mirrors": list(mirrors)}]}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "a"}, "spec": spec}


class Refusing(FakeCluster):
    """A cluster that refuses to list, in one way."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self._status = status

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        raise ApiError(self._status, "No", "no")


def locations(known: KubeMirrors) -> list[str]:
    return [str(location.reference) for location in known.locations(Reference.parse(_IMAGE))]


def test_mirror_sets_of_the_cluster_count() -> None:
    assert locations(KubeMirrors(FakeCluster([a_set("inner.io")]))) == ["inner.io/tea:1", _IMAGE]


def test_rules_of_the_machine_count_first() -> None:
    machine = Mirrors((Rule("quay.io/acme", (Mirror("mine.io"),)),))
    assert locations(KubeMirrors(FakeCluster([a_set("inner.io")]), lambda: machine)) == ["mine.io/tea:1", _IMAGE]


def test_what_changes_is_seen_after_a_minute() -> None:
    now, cluster = [0.0], FakeCluster([a_set("old.io")])
    known = KubeMirrors(cluster, now=lambda: now[0])
    assert locations(known) == ["old.io/tea:1", _IMAGE]
    cluster.objects = FakeCluster([a_set("new.io")]).objects
    assert locations(known) == ["old.io/tea:1", _IMAGE]
    now[0] = 61
    assert locations(known) == ["new.io/tea:1", _IMAGE]


def test_who_may_not_read_them_asks_where_the_name_says() -> None:
    assert locations(KubeMirrors(Refusing(403))) == [_IMAGE]


def test_a_cluster_that_does_not_answer_is_not_one_without_mirrors() -> None:
    with pytest.raises(ApiError):
        locations(KubeMirrors(Refusing(0)))


def test_a_mirror_set_that_is_none_is_reported() -> None:
    with pytest.raises(OciError, match="the mirror sets of the cluster"):
        locations(KubeMirrors(FakeCluster([a_set() | {"spec": {"imageTagMirrors": ["x"]}}])))
