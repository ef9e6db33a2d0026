"""Who takes back what we write does not make us write as fast as he does."""

from __future__ import annotations

import sys
import time

from eventing.runner.contested import BURST
from shared.kinds import CLUSTER_ROLE, Ref
from tests.kit.installation import Installation, an_operator_group
from tests.kit.waiting import PATIENCE_SECONDS, wait_for

WORKERS = 2
"""At most: each counts for itself."""
THEN_SECONDS = 10.0
MOST_THEN = 5 * WORKERS
"""After 1, 2, 4 and 8 seconds, and one whose pause had begun before."""
FOREIGN = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]


def test_a_role_that_somebody_changes_each_time_is_repaired_ever_more_seldom(
    installation: Installation, namespace: str
) -> None:
    """As a controller does that knows the object, too; when it ends, the role becomes right."""
    installation.apply(an_operator_group(namespace))
    labels = {"olm.owner.namespace": namespace, "olm.owner.kind": "OperatorGroup"}
    ref = Ref.of(wait_for(lambda: installation.cluster.list(CLUSTER_ROLE, labels=labels), "the roles")[0])
    fight(installation, ref, times=BURST)
    fight(installation, ref, times=(WORKERS - 1) * BURST, seconds=THEN_SECONDS)
    after = fight(installation, ref, seconds=THEN_SECONDS)
    assert after <= MOST_THEN, f"{ref.name} was repaired {after} times in {THEN_SECONDS} s"
    installation.until(ref, lambda role: not role.get("rules"), "its own rules")


def fight(installation: Installation, ref: Ref, times: int = sys.maxsize, seconds: float = PATIENCE_SECONDS) -> int:
    """Take the rules of a role back as soon as they are repaired; returns how often that was."""
    taken_back, end = 0, time.monotonic() + seconds
    while taken_back < times and time.monotonic() < end:
        found = installation.cluster.get(ref)
        if found and found.get("rules") != FOREIGN:
            installation.cluster.merge(ref, {"rules": FOREIGN})
            taken_back += 1
        time.sleep(0.02)
    return taken_back
