"""A version that is gone enqueues the Subscriptions that installed it, and no other."""

from __future__ import annotations

import pytest

from functions.fanout.notify_subscriptions import notify_subscriptions
from shared import names
from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION
from shared.step import Emit
from tests.kit.cluster import FakeCluster


def a_subscription(**status: str) -> Manifest:
    return {
        "apiVersion": SUBSCRIPTION.api_version,
        "kind": "Subscription",
        "metadata": {"name": "etcd", "namespace": "ns"},
        "status": status,
    }


@pytest.mark.parametrize(
    ("subscription", "enqueues"),
    [
        pytest.param(a_subscription(installedCSV="etcd.v1"), True, id="it was installed"),
        pytest.param(a_subscription(currentCSV="etcd.v1"), True, id="it was on its way"),
        pytest.param(a_subscription(installedCSV="etcd.v2"), False, id="another version is installed"),
        pytest.param(a_subscription(), False, id="nothing is installed"),
    ],
)
def test_notify_subscriptions(subscription: Manifest, enqueues: bool) -> None:
    outcome = notify_subscriptions(CLUSTER_SERVICE_VERSION.ref("etcd.v1", "ns"), FakeCluster([subscription]))
    want = (Emit(names.DEPENDENT_CHANGED, SUBSCRIPTION.ref("etcd", "ns")),) if enqueues else ()
    assert outcome.emits == want
    assert outcome.writes == ()
