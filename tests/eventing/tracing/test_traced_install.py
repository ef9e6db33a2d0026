"""One trace tells of an installation, from the Subscription that somebody made to the last write."""

from __future__ import annotations

from pathlib import Path

import urllib3
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parsed

from shared.kinds import SUBSCRIPTION
from tests.kit.installation import SAMPLES, Installation, a_namespace, a_subscription, an_operator_group, installed
from tests.kit.span_receiver import ReceivedSpan, a_span_receiver
from tests.kit.waiting import wait_for

STEP = "install_plan/execute_install_plan"


def test_one_trace_leads_from_the_subscription_to_the_last_write(tmp_path: Path) -> None:
    with a_span_receiver() as receiver:
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}
        with installed(tmp_path / "state", "--bundles", str(SAMPLES), environ=environ) as found:
            found.apply(a_namespace("one"), an_operator_group("one"))
            found.until_it_rests()
            found.apply(a_subscription("beacon", "one"))
            sub = SUBSCRIPTION.ref("beacon", "one")
            found.until(sub, lambda each: each["status"].get("state") == "AtLatestKnown")
            found.until_it_rests()
            trace = wait_for(lambda: the_trace_of("Subscription", receiver.spans))
            traces_of_runs = exemplars(found)
        complete = [span for span in receiver.spans if span.trace == trace]
        [root] = [span for span in complete if not span.parent]
        assert (root.name, root.attributes["cloudevents.event_subject"]) == ("add Subscription", str(sub))
        assert {span.parent for span in complete} - {span.id for span in complete} == {""}, "every parent was sent, too"
        assert len({span.id for span in complete}) == len(complete), "each was sent once"
        later = [span for span in receiver.spans if is_write_in("one", span) and span.began > root.began]
        assert {span.trace for span in later} == {trace}, "whatever was written in the namespace from then on"
        assert {"create InstallPlan", "create Deployment", "replace status of ClusterServiceVersion"} <= {
            span.name for span in later
        }
        [run] = [span for span in complete if span.name == STEP and span.attributes["olmf.outcome"] == "done"][:1]
        assert run.attributes["k8s.namespace.name"] == "one"
        assert {span.service for span in complete} == {"olmf-worker"}
        assert trace in traces_of_runs


def the_trace_of(kind: str, spans: list[ReceivedSpan]) -> str:
    """The trace that the creation of an object of that kind began."""
    return next((span.trace for span in spans if span.name == f"add {kind}" and not span.parent), "")


def is_write_in(namespace: str, span: ReceivedSpan) -> bool:
    return "http.request.method" in span.attributes and span.attributes.get("k8s.namespace.name") == namespace


def exemplars(found: Installation) -> set[str]:
    """The traces that the histogram of durations names."""
    answer = urllib3.request(
        "GET", f"{found.status()['endpoint']}/metrics", headers={"Accept": "application/openmetrics-text"}
    )
    families = parsed(answer.data.decode())  # type: ignore[no-untyped-call]
    samples = (sample for family in families for sample in family.samples)
    return {sample.exemplar.labels["trace_id"] for sample in samples if sample.exemplar}
