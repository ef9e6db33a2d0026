"""An installation of which nothing is awake but the scheduler: the Broker wakes who drains (DESIGN §8)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eventing.local.ports import free_port
from eventing.local.state import StateDirectory
from shared import names
from shared.kinds import DEPLOYMENT, OPTIONAL, SUBSCRIPTION, WATCHED
from tests.kit.api_server_source import ApiServerSource, api_server_source
from tests.kit.installation import SAMPLES, Installation, a_namespace, a_subscription, an_operator_group, installed
from tests.kit.small_knative import UNHEALTHY, SmallKnative, small_knative

SERVED = tuple(kind for kind in WATCHED if kind not in OPTIONAL)


@contextmanager
def on_knative(folder: Path, audit_seconds: int) -> Iterator[tuple[Installation, SmallKnative, ApiServerSource]]:
    """An installation whose workers serve no group of ours, a Broker, and a source that sends to it."""
    port = free_port()
    environ = {
        "OLMF_BROKER": f"http://127.0.0.1:{port}/olm/olmf", "OLMF_BROKER_NAMESPACE": "knative-eventing",
        "OLMF_STEPS": "nobody", "OLMF_AUDIT_SECONDS": str(audit_seconds),
    }  # fmt: skip
    words = ("--bundles", str(SAMPLES), "--source", "endpoint")
    with installed(folder / "state", *words, environ=environ) as found:
        status = found.status()
        kubeconfig, redis = Path(status["kubeconfig"]), json.loads((found.state / "olmf.json").read_text())["redis"]
        token = StateDirectory(found.state).endpoint_token.read_text().strip()
        with (
            small_knative(redis, kubeconfig, status["endpoint"], folder, port) as broker,
            api_server_source(kubeconfig, broker.url, SERVED, "resource", token) as source,
        ):
            yield found, broker, source


def install(found: Installation) -> None:
    found.apply(a_namespace("zz"), an_operator_group("zz"), a_subscription("tide", "zz"))
    found.until_phase("tide.v1.0.0", "zz")
    found.until(SUBSCRIPTION.ref("tide", "zz"), lambda each: each["status"].get("state") == "AtLatestKnown")


def test_an_event_wakes_who_drains_and_each_is_delivered_once(tmp_path: Path) -> None:
    with on_knative(tmp_path, 3600) as (found, broker, source):
        install(found)
        assert (source.refused, broker.refused) == ([], [])
        reported = Counter(one for one in broker.delivered if one[0] != names.WORK_READY)
        assert set(reported.values()) == {1}
        found.until_it_rests()
        before = len(broker.delivered)
        found.until_it_rests()
        assert len(broker.delivered) == before, "at rest nothing is sent"


def test_events_that_are_lost_repeated_late_and_out_of_order_cost_time_alone(tmp_path: Path) -> None:
    with on_knative(tmp_path, 3) as (found, broker, _):
        broker.fates = UNHEALTHY
        install(found)
        assert broker.lost
        done = found.olmf("uninstall", "tide", "-n", "zz")
        assert "deleted ClusterServiceVersion tide.v1.0.0" in done.stdout
        found.until_gone(DEPLOYMENT.ref("tide-controller", "zz"))
        assert found.olmf("queue", "dead", "-o", "json").stdout.strip() == "[]"


def test_a_broker_that_was_away_is_made_up_for_when_it_is_back(tmp_path: Path) -> None:
    """What was sent meanwhile is lost; the scheduler, whose own events were refused, starts an audit."""
    with on_knative(tmp_path, 3600) as (found, broker, source):
        broker.is_away = True
        found.apply(a_namespace("zz"), an_operator_group("zz"), a_subscription("tide", "zz"))
        found.olmf("events", "send", "Namespace/olm")  # straight to the intake: there is work, and nobody to do it
        found.until(SUBSCRIPTION.ref("tide", "zz"), lambda _: len(source.refused) > 2, "what was refused")
        broker.is_away = False
        found.until_phase("tide.v1.0.0", "zz")
