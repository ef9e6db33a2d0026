"""Writes metrics in the text format of Prometheus (0.0.4).

The client library of Prometheus cannot be used: it appends `_total` to the name of every counter, and OLM's names do
not have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from shared.telemetry import Metric


class Series(NamedTuple):
    """One line of the text, without its value."""

    metric: Metric
    labels: tuple[tuple[str, str], ...] = ()
    part: Literal["", "_sum", "_count"] = ""
    """The suffix for a summary (`_sum`, `_count`)."""


def text(metrics: Iterable[Metric], values: Mapping[Series, float]) -> str:
    """The text of the metrics in this order, each with its series."""
    return "".join(f"{line}\n" for metric in metrics for line in _lines(metric, values))


def _lines(metric: Metric, values: Mapping[Series, float]) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help}"
    yield f"# TYPE {metric.name} {metric.type}"
    for series in sorted(series for series in values if series.metric is metric):
        labels = ",".join(f'{key}="{_escaped(value)}"' for key, value in series.labels)
        yield f"{metric.name}{series.part}{f'{{{labels}}}' if labels else ''} {values[series]}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
