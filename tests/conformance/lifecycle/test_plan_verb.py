"""`olmf plan` of a cluster: of a plan that waits for approval, and when nothing is to be done (issue 15 §1.5)."""

from __future__ import annotations

import json
from typing import Any

from shared.kinds import INSTALL_PLAN, OPERATOR_GROUP, SUBSCRIPTION, Ref
from tests.kit.installation import Installation, a_subscription, an_operator_group
from tests.kit.waiting import wait_for


def planned(installation: Installation, namespace: str, *words: str) -> tuple[int, Any]:
    done = installation.olmf("plan", "-n", namespace, "-o", "json", *words, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_what_the_plan_that_waits_would_create_and_nothing_after_it(installation: Installation, namespace: str) -> None:
    spec = {"channel": "stable", "startingCSV": "beacon.v1.0.0", "installPlanApproval": "Manual"}
    installation.apply(an_operator_group(namespace, targets=(namespace,)), a_subscription("beacon", namespace, **spec))
    waiting = SUBSCRIPTION.ref("beacon", namespace)
    installation.until(waiting, lambda each: each["status"].get("installPlanRef"), "a plan")
    [group] = installation.cluster.list(OPERATOR_GROUP, namespace)
    installation.until(Ref.of(group), lambda each: each["status"].get("namespaces"), "namespaces")
    code, reported = planned(installation, namespace)
    effects = {one["object"]: one["effect"] for one in reported["objects"]}
    assert code == 0, reported
    assert reported["objects"], reported
    assert effects[f"ClusterServiceVersion {namespace}/beacon.v1.0.0"] == "create"
    assert f"reaches {namespace}" in reported["remarks"]
    installation.olmf("approve", "beacon", "-n", namespace)
    installation.until_phase("beacon.v1.0.0", namespace)
    is_installed = installation.until(waiting, lambda each: each["status"].get("installedCSV"), "installed")
    assert is_installed["status"]["installedCSV"] == "beacon.v1.0.0"
    rests = installation.until(waiting, lambda each: each["status"].get("state") == "AtLatestKnown", "at rest")
    done = INSTALL_PLAN.ref(rests["status"]["installPlanRef"]["name"], namespace)
    installation.until(done, lambda each: each["status"]["phase"] == "Complete", "complete")  # else it is under way
    wait_for(lambda: planned(installation, namespace)[1]["objects"] == [], "the word that there is no newer version")

    installation.cluster.merge(waiting, {"spec": {"channel": "fast"}})
    installation.until(waiting, lambda each: each["status"]["currentCSV"] == "beacon.v1.1.0", "the next plan")
    code, told = planned(installation, namespace)
    effects = {one["object"]: one["effect"] for one in told["objects"]}
    assert (code, told["unknown"], told["blockers"]) == (0, [], []), told
    assert effects[f"Deployment {namespace}/beacon-controller"] == "change"
    assert effects["CustomResourceDefinition beacons.samples.olmf.io"] == "keep"
    removed = {name.partition(" ")[0] for name, effect in effects.items() if effect == "remove"}
    assert removed == {"ClusterServiceVersion", "OperatorCondition", "Role", "RoleBinding"}, effects
