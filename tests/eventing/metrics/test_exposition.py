"""The text of `/metrics`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parsed_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parsed

from eventing.metrics.exposition import Series, exposition, text
from eventing.workqueue.durations import Exemplar
from shared.telemetry import Metric


def test_the_text_is_the_format_of_prometheus() -> None:
    labels = (("name", "a"), ("reason", 'a "quoted" \\ word\n'))
    values = {
        Series(Metric.olmf_run_duration_seconds, (("step", "b"),), "_sum"): 1.5,
        Series(Metric.olmf_run_duration_seconds, (("step", "b"),), "_count"): 2,
        Series(Metric.csv_abnormal, labels): 1,
        Series(Metric.olmf_run_duration_seconds, (("step", "a"),), "_sum"): 0.5,
    }
    assert text(values).splitlines() == [
        "# HELP csv_abnormal 1 while a CSV is not Succeeded, with its phase and reason",
        "# TYPE csv_abnormal gauge",
        r'csv_abnormal{name="a",reason="a \"quoted\" \\ word\n"} 1.0',
        "# HELP olmf_run_duration_seconds Runs of a step by their end: done, waits, retry, bug, timeout, interrupted",
        "# TYPE olmf_run_duration_seconds histogram",
        'olmf_run_duration_seconds_sum{step="a"} 0.5',
        'olmf_run_duration_seconds_count{step="b"} 2.0',
        'olmf_run_duration_seconds_sum{step="b"} 1.5',
    ]


def test_every_metric_has_its_own_name_and_type() -> None:
    lines = text({Series(metric): 1 for metric in Metric}).splitlines()
    assert lines == [
        line
        for metric in Metric
        for line in (
            f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.type}", f"{metric.name} 1.0"
        )
    ]  # fmt: skip


_texts = st.text(st.characters(codec="utf-8"), max_size=8) | st.just("\n# TYPE csv_upgrade_count_total counter\n")


@given(st.dictionaries(st.tuples(_texts, _texts), st.floats(allow_nan=False), min_size=1, max_size=4))
def test_what_the_parser_of_prometheus_reads_is_what_was_reported(reported: dict[tuple[str, str], float]) -> None:
    values = {Series(Metric.csv_abnormal, (("name", a), ("reason", b))): value for (a, b), value in reported.items()}
    (family,) = parsed(text(values))
    assert (family.name, family.type, family.documentation) == (
        "csv_abnormal", "gauge", Metric.csv_abnormal.help,
    )  # fmt: skip
    assert {(one.labels["name"], one.labels["reason"]): one.value for one in family.samples} == reported


def test_counters_with_and_without_a_suffix_are_counters_to_the_parser() -> None:
    reported = {Series(Metric.csv_upgrade_count): 3.0, Series(Metric.subscription_sync_total, (("name", "a"),)): 2.0}
    assert [(one.type, [sample.value for sample in one.samples]) for one in parsed(text(reported))] == [
        ("counter", [3.0]), ("counter", [2.0]),
    ]  # fmt: skip


PROMETHEUS = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3"


def a_bucket(le: str, exemplar: Exemplar | None = None) -> Series:
    return Series(Metric.olmf_run_duration_seconds, (("step", "a"), ("le", le)), "_bucket", exemplar)


def test_who_asks_for_openmetrics_gets_exemplars() -> None:
    values = {
        a_bucket("+Inf"): 3.0, a_bucket("10.0"): 3.0, a_bucket("1.0", Exemplar("0af7", 0.25, 12.5)): 2.0,
        Series(Metric.olmf_run_duration_seconds, (("step", "a"),), "_count"): 3.0,
        Series(Metric.olmf_run_duration_seconds, (("step", "a"),), "_sum"): 5.0,
    }  # fmt: skip
    answer = exposition(values, PROMETHEUS)
    assert answer.content_type == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    [family] = parsed_openmetrics(answer.text)  # type: ignore[no-untyped-call]
    bounds = [sample.labels["le"] for sample in family.samples if sample.name.endswith("_bucket")]
    assert (family.type, bounds) == ("histogram", ["1.0", "10.0", "+Inf"])
    [exemplar] = [sample.exemplar for sample in family.samples if sample.exemplar]
    assert (exemplar.labels, exemplar.value, float(exemplar.timestamp)) == ({"trace_id": "0af7"}, 0.25, 12.5)
    plain = exposition(values, "text/plain")
    assert (plain.text, plain.content_type) == (text(values), "text/plain; version=0.0.4; charset=utf-8")
    assert "0af7" not in plain.text


def test_each_metric_has_the_same_name_and_value_in_openmetrics() -> None:
    """`csv_upgrade_count`, which is OLM's name, is no counter there: those end with `_total`."""
    metrics = [metric for metric in Metric if metric.type in ("gauge", "counter")]
    answer = exposition({Series(metric): 1 for metric in metrics}, PROMETHEUS)
    families = parsed_openmetrics(answer.text)  # type: ignore[no-untyped-call]
    samples = [(sample.name, sample.value) for one in families for sample in one.samples]
    assert samples == [(metric.name, 1.0) for metric in metrics]
