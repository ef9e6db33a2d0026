"""A changed proxy reaches the Deployments of every operator (csv.md §6.3)."""

from __future__ import annotations

from functions.fanout.notify_proxied import notify_proxied
from shared import kinds, names
from shared.domain.csv.overrides import PROXY
from shared.step import Emit, Outcome
from tests.functions.operator_group.builders import a_csv, a_group
from tests.kit.cluster import FakeCluster

WORLD = FakeCluster([
    a_group(), a_group("h"), a_csv("a.v1"), a_csv("copy.v1", labels={"olm.copiedFrom": "x"}), a_csv("b.v1", "no-group"),
])  # fmt: skip


def test_every_version_looks_at_its_deployments_csv_md_6_3() -> None:
    version = kinds.CLUSTER_SERVICE_VERSION.ref("a.v1", "ns")
    assert notify_proxied(PROXY, WORLD) == Outcome(
        emits=(Emit(names.CONFIG_CHANGED, version),), summary="concerns 1 versions"
    )


def test_only_the_proxy_of_the_cluster_counts() -> None:
    assert notify_proxied(kinds.PROXY.ref("other"), WORLD).emits == ()
