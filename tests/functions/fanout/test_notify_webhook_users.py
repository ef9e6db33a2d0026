from __future__ import annotations

import pytest

from functions.fanout.notify_webhook_users import notify_webhook_users
from shared import names
from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP
from shared.step import Emit
from tests.domain.endpoints.builders import a_conversion, a_server, a_webhook
from tests.kit.cluster import FakeCluster


@pytest.mark.parametrize(
    ("csv", "is_enqueued"),
    [
        pytest.param(a_server(a_webhook()), True, id="csv.md 19-23: its webhook is for the namespaces of the group"),
        pytest.param(a_server(a_conversion()), False, id="conversion is for all namespaces"),
        pytest.param(a_server(), False, id="it has no webhook"),
        pytest.param(a_server(a_webhook(), meta={"labels": {"olm.copiedFrom": "x"}}), False, id="a copy"),
    ],
)
def test_versions_that_a_changed_group_concerns(csv: Manifest, is_enqueued: bool) -> None:
    outcome = notify_webhook_users(OPERATOR_GROUP.ref("g", "ns"), FakeCluster([csv]))

    enqueued = Emit(names.CONFIG_CHANGED, CLUSTER_SERVICE_VERSION.ref("a.v1", "ns"))
    assert outcome.emits == ((enqueued,) if is_enqueued else ())
