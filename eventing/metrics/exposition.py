"""Writes metrics in the text format of Prometheus (0.0.4).

The client library of Prometheus cannot be used: it appends `_total` to the name of every counter, and OLM's names do
not have it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

from shared.telemetry import Metric

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Series(NamedTuple):
    """One line of the text, without its value."""

    metric: Metric
    labels: tuple[tuple[str, str], ...] = ()
    part: Literal["", "_sum", "_count"] = ""
    """The suffix for a summary (`_sum`, `_count`)."""


def text(values: Mapping[Series, float]) -> str:
    """The text of these values: metrics in the order of their table, series by their labels."""
    return "".join(f"{line}\n" for line in _lines(values))


def _lines(values: Mapping[Series, float]) -> Iterator[str]:
    found: defaultdict[Metric, list[Series]] = defaultdict(list)
    for series in values:
        found[series.metric].append(series)
    for metric in filter(found.__contains__, Metric):
        yield f"# HELP {metric.name} {metric.help}"
        yield f"# TYPE {metric.name} {metric.type}"
        for series in sorted(found[metric]):
            labels = ",".join(f'{key}="{_escaped(value)}"' for key, value in series.labels)
            yield f"{metric.name}{series.part}{f'{{{labels}}}' if labels else ''} {values[series]}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
