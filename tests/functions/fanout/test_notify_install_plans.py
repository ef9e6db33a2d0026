from __future__ import annotations

import pytest

from functions.fanout.notify_install_plans import notify_install_plans
from shared import names
from shared.api.manifest import Manifest
from shared.kinds import INSTALL_PLAN, OPERATOR_GROUP
from shared.step import Emit
from tests.kit.cluster import FakeCluster

GROUP = OPERATOR_GROUP.ref("g", "ns")


def a_plan(reason: str, phase: str = "Installing", namespace: str = "ns") -> Manifest:
    conditions = [{"type": "Installed", "status": "False", "reason": reason}]
    return {
        "apiVersion": INSTALL_PLAN.api_version, "kind": INSTALL_PLAN.kind,
        "metadata": {"name": "install-x", "namespace": namespace},
        "status": {"phase": phase, "plan": [{}], "conditions": conditions},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("plan", "is_enqueued"),
    [
        pytest.param(a_plan("InstallCheckFailed"), True, id="catalog.md 8.10.102: it waits for a group"),
        pytest.param(a_plan("InstallCheckFailed", "Failed"), False, id="it is over"),
        pytest.param(a_plan("InstallComponentFailed"), False, id="it is tried again for another reason"),
        pytest.param(a_plan("InstallCheckFailed", namespace="other"), False, id="another namespace"),
    ],
)
def test_plans_that_a_changed_group_concerns(plan: Manifest, is_enqueued: bool) -> None:
    outcome = notify_install_plans(GROUP, FakeCluster([plan]))

    enqueued = Emit(names.DEPENDENT_CHANGED, INSTALL_PLAN.ref("install-x", "ns"))
    assert outcome.emits == ((enqueued,) if is_enqueued else ())
