"""Who takes back what we write does not make us write as fast as he does."""

from __future__ import annotations

import time

from eventing.runner.contested import FREE
from shared.api.manifest import name_of
from shared.kinds import CLUSTER_ROLE, Ref
from tests.kit.installation import Installation, an_operator_group
from tests.kit.waiting import wait_for

SECONDS = 20.0
MOST = 2 * (FREE + 5)
"""Of one worker: five at once, then after 1, 2, 4 and 8 seconds; the installation on a real control plane has two."""
FOREIGN = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]


def test_a_role_that_somebody_changes_each_time_is_repaired_ever_more_seldom(
    installation: Installation, namespace: str
) -> None:
    """As a controller does that knows the object, too; when it ends, the role becomes right."""
    installation.apply(an_operator_group(namespace))
    labels = {"olm.owner.namespace": namespace, "olm.owner.kind": "OperatorGroup"}
    ref = Ref.of(wait_for(lambda: installation.cluster.list(CLUSTER_ROLE, labels=labels), "the roles")[0])
    taken_back, end = 0, time.monotonic() + SECONDS
    while time.monotonic() < end:
        found = installation.cluster.get(ref)
        if found and found.get("rules") != FOREIGN:
            installation.cluster.merge(ref, {"rules": FOREIGN})
            taken_back += 1
        time.sleep(0.02)
    assert FREE <= taken_back <= MOST, f"{name_of(found or {})} was repaired {taken_back} times in {SECONDS} s"
    installation.until(ref, lambda role: not role.get("rules"), "its own rules")
