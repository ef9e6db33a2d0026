"""Our own updates, while operators are being installed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from shared.kinds import INSTALL_PLAN
from tests.conformance.node.in_pods import DEPLOYMENTS, IMAGE, InPods
from tests.kit.installation import a_subscription, an_operator_group
from tests.kit.waiting import wait_for

BASE = Path(__file__).parents[4] / "k8s" / "base"
PLACES = tuple(f"bay-{number}" for number in range(1, 9))
WORKER = "system:serviceaccount:olm:olmf-worker"


def applies_again(host: InPods) -> str:
    """`kubectl apply -k k8s/base` changes nothing."""
    lines = host.kubectl("apply", "-k", str(BASE), namespace="").splitlines()
    changed = [line for line in lines if not line.endswith(" unchanged")]
    assert not changed, changed
    return f"{len(lines)} objects, all unchanged"


def is_updated_at_work(host: InPods) -> str:
    """Every Deployment of ours is rolled while operators are installed in eight namespaces."""

    def roll() -> None:
        for name in DEPLOYMENTS:
            host.kubectl("rollout", "restart", f"deploy/{name}")
        for name in DEPLOYMENTS:
            host.kubectl("rollout", "status", f"deploy/{name}", "--timeout=180s")

    return installed_while(host, roll)


def installed_while(host: InPods, happens: Callable[[], None]) -> str:
    """Install in all places meanwhile; nothing may be lost, or written twice."""
    log = host.state / "log" / "audit.log"
    begin = log.stat().st_size
    with host.namespaces(*PLACES):
        for place in PLACES:
            host.apply(an_operator_group(place, targets=(place,)))
        for place in PLACES:
            host.apply(a_subscription("tide", place, channel="stable", startingCSV="tide.v0.1.0"))
        happens()
        for place in PLACES:
            host.until_phase("tide.v1.0.0", place)
        host.until_ready()
        plans = Counter(name for place in PLACES for name in versions_planned(host, place))
        assert set(plans.values()) == {len(PLACES)}, plans
        wait_for(
            lambda: json.loads(host.olmf("queue", "dead", "-o", "json").stdout) == [], "no dead letters", seconds=10
        )
        with log.open() as lines:
            lines.seek(begin)
            made = Counter(created(lines))
    twice = [what for what, count in made.items() if count > 1]
    assert not twice, f"created twice: {twice[:5]}"
    return (
        f"{len(PLACES)} namespaces, {len(plans)} versions each: Succeeded; one InstallPlan each; "
        f"{sum(made.values())} objects created, none twice; no dead letter; all pods ready"
    )


def versions_planned(host: InPods, place: str) -> list[str]:
    """What each InstallPlan installs."""
    plans = host.cluster.list(INSTALL_PLAN, place)
    return [name for plan in plans for name in plan["spec"]["clusterServiceVersionNames"]]


def created(lines: Iterable[str]) -> Iterable[tuple[str, ...]]:
    """Every object that a worker created in one of the places, from the audit log of the API server."""
    for line in lines:
        event: dict[str, Any] = json.loads(line)
        ref = event.get("objectRef") or {}
        is_ours = event["user"]["username"] == WORKER and ref.get("namespace") in PLACES
        is_new = event["verb"] == "create" or (event["verb"] == "patch" and event["responseStatus"]["code"] == 201)
        if (
            is_ours
            and is_new
            and event["responseStatus"]["code"] == 201
            and ref.get("name")
            and ref["resource"] != "events"
        ):
            yield ref["resource"], ref["namespace"], ref["name"]


def follows_an_older_release(host: InPods, older: str) -> str:
    """Workers of an older image begin, with the queue full; ours take over."""
    if not older:
        return "not tried: `$OLMF_OLDER_IMAGE` is not set"
    host.kubectl("set", "image", "deploy/olmf-worker", f"worker={older}")
    host.kubectl("set", "image", "deploy/olmf-watch", f"watch={older}")
    for name in ("olmf-worker", "olmf-watch"):
        host.kubectl("rollout", "status", f"deploy/{name}", "--timeout=180s")

    def update() -> None:
        host.kubectl("set", "image", "deploy/olmf-worker", f"worker={IMAGE}")
        host.kubectl("set", "image", "deploy/olmf-watch", f"watch={IMAGE}")
        for name in ("olmf-worker", "olmf-watch"):
            host.kubectl("rollout", "status", f"deploy/{name}", "--timeout=180s")

    return installed_while(host, update)
