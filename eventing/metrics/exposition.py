"""Metrics as the library of Prometheus takes them, and its text (format 0.0.4)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

import prometheus_client
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE

from shared.telemetry import Metric

__all__ = ["CONTENT_TYPE", "Families", "Series", "text"]


class Series(NamedTuple):
    """One line of the text, without its value."""

    metric: Metric
    labels: tuple[tuple[str, str], ...] = ()
    part: Literal["", "_sum", "_count"] = ""
    """The suffix for a summary (`_sum`, `_count`)."""


class Families:
    """A collector over the present values: metrics in the order of their table, series by their labels."""

    def __init__(self, values: Mapping[Series, float]) -> None:
        self._values = values

    def collect(self) -> Iterator[prometheus_client.Metric]:
        """Each metric that has a value, with all of its samples."""
        found: defaultdict[Metric, list[Series]] = defaultdict(list)
        for series in self._values:
            found[series.metric].append(series)
        for metric in filter(found.__contains__, Metric):
            family = prometheus_client.Metric(_stem(metric), metric.help, metric.type)
            for series in sorted(found[metric]):
                family.add_sample(f"{metric.name}{series.part}", dict(series.labels), self._values[series])
            yield family


def text(values: Mapping[Series, float]) -> str:
    """The text of these values."""
    return _UNSUFFIXED.sub(r"\1", prometheus_client.generate_latest(Families(values)).decode())


_TOTAL: Final = "_total"
_PLAIN: Final = [one.name for one in Metric if one.type == "counter" and not one.name.endswith(_TOTAL)]
_UNSUFFIXED: Final = re.compile(rf"^(# (?:HELP|TYPE) (?:{'|'.join(_PLAIN)})){_TOTAL}\b", re.MULTILINE)
"""Where the library gives a counter of OLM the suffix of its own counters."""


def _stem(metric: Metric) -> str:
    return metric.name.removesuffix(_TOTAL) if metric.type == "counter" else metric.name
