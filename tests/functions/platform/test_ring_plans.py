from __future__ import annotations

import pytest

from functions.platform.ring_plans import ring_plans
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
    ("plan", "is_rung"),
    [
        pytest.param(a_plan("InstallCheckFailed"), True, id="catalog.md 8.10.102: it waits for a group"),
        pytest.param(a_plan("InstallCheckFailed", "Failed"), False, id="it is over"),
        pytest.param(a_plan("InstallComponentFailed"), False, id="it is tried again for another reason"),
        pytest.param(a_plan("InstallCheckFailed", namespace="other"), False, id="another namespace"),
    ],
)
def test_plans_that_a_changed_group_concerns(plan: Manifest, is_rung: bool) -> None:
    outcome = ring_plans(GROUP, FakeCluster([plan]))

    rung = Emit(names.DEPENDENT_RANG, INSTALL_PLAN.ref("install-x", "ns"))
    assert outcome.emits == ((rung,) if is_rung else ())
