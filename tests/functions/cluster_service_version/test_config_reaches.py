"""A Subscription that changed enqueues what it installed, so that its configuration reaches the Deployments."""

from __future__ import annotations

import pytest

from eventing.events.job import Job
from shared import kinds, names
from shared.api.manifest import Manifest
from shared.kinds import Ref
from shared.step import Emit
from tests.functions.subscription.world import World, a_subscription

SUBSCRIPTION = kinds.SUBSCRIPTION.ref("etcd", "ns")


def enqueued(status: Manifest) -> set[Ref]:
    """Whom the Subscription says that the configuration may have changed."""
    world = World()
    world.put({**a_subscription("etcd"), "status": status})
    outcome = world.run(Job("subscription/track_subscription", SUBSCRIPTION))
    return {emit.ref for emit in outcome.emits if emit == Emit(names.CONFIG_CHANGED, emit.ref)}


@pytest.mark.parametrize(
    ("status", "want"),
    [
        pytest.param(
            {"installedCSV": "etcd.v1"}, {kinds.CLUSTER_SERVICE_VERSION.ref("etcd.v1", "ns")},
            id="csv.md 1.4: the version of status.installedCSV",
        ),
        pytest.param({"currentCSV": "etcd.v1"}, set(), id="csv.md 1.4: nothing is installed yet"),
    ],
)  # fmt: skip
def test_a_subscription_enqueues_what_it_installed(status: Manifest, want: set[Ref]) -> None:
    assert enqueued(status) == want
