"""The text of `/metrics`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families as parsed

from eventing.metrics.exposition import Series, text
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
        "# TYPE olmf_run_duration_seconds summary",
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
