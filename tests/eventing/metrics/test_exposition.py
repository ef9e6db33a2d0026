"""The text of `/metrics`."""

from __future__ import annotations

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
        r'csv_abnormal{name="a",reason="a \"quoted\" \\ word\n"} 1',
        "# HELP olmf_run_duration_seconds Runs of a step, and how they ended: done, waits, retry, bug or timeout",
        "# TYPE olmf_run_duration_seconds summary",
        'olmf_run_duration_seconds_sum{step="a"} 0.5',
        'olmf_run_duration_seconds_count{step="b"} 2',
        'olmf_run_duration_seconds_sum{step="b"} 1.5',
    ]
