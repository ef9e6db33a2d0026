"""Metrics as the library of Prometheus takes them, and its text: format 0.0.4, or OpenMetrics, which has exemplars."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

import prometheus_client
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.utils import floatToGoString

from eventing.workqueue.durations import Exemplar
from shared.telemetry import Metric

__all__ = ["CONTENT_TYPE", "Exposition", "Families", "Series", "bound_text", "exposition", "text"]


class Series(NamedTuple):
    """One line of the text, without its value."""

    metric: Metric
    labels: tuple[tuple[str, str], ...] = ()
    part: Literal["", "_sum", "_count", "_bucket"] = ""
    """The suffix for a summary or a histogram."""
    exemplar: Exemplar | None = None
    """Of a bucket."""


class Exposition(NamedTuple):
    """What `/metrics` answers."""

    text: str
    content_type: str


class Families:
    """A collector over the present values: metrics in the order of their table, series by their labels."""

    def __init__(self, values: Mapping[Series, float], *, unsuffixed: str = "counter") -> None:
        """`unsuffixed` is the type of OLM's counters without the suffix that OpenMetrics demands."""
        self._values = values
        self._unsuffixed = unsuffixed

    def collect(self) -> Iterator[prometheus_client.Metric]:
        """Each metric that has a value, with all of its samples."""
        found: defaultdict[Metric, list[Series]] = defaultdict(list)
        for series in self._values:
            found[series.metric].append(series)
        for metric in filter(found.__contains__, Metric):
            type_ = self._unsuffixed if metric.name in _PLAIN else metric.type
            stem = _stem(metric) if type_ == "counter" else metric.name
            family = prometheus_client.Metric(stem, metric.help, type_)
            for series in sorted(found[metric], key=_place):
                name, exemplar = f"{metric.name}{series.part}", _exemplar(series.exemplar)
                family.add_sample(name, dict(series.labels), self._values[series], exemplar=exemplar)
            yield family


def exposition(values: Mapping[Series, float], accept: str = "") -> Exposition:
    """These values for who accepts such texts: with exemplars for who asks for OpenMetrics, as Prometheus does."""
    if _OPENMETRICS not in accept:
        return Exposition(text(values), CONTENT_TYPE)
    families = Families(values, unsuffixed="unknown")
    written: bytes = openmetrics.generate_latest(families)  # type: ignore[no-untyped-call]
    return Exposition(written.decode(), openmetrics.CONTENT_TYPE_LATEST)


def text(values: Mapping[Series, float]) -> str:
    """The text of these values in format 0.0.4."""
    return _UNSUFFIXED.sub(r"\1", prometheus_client.generate_latest(Families(values)).decode())


def bound_text(seconds: float) -> str:
    """The label `le` of a bucket."""
    return str(floatToGoString(seconds))  # type: ignore[no-untyped-call]


_BOUND: Final = "le"
_OPENMETRICS: Final = "application/openmetrics-text"
_TOTAL: Final = "_total"
_PLAIN: Final = [one.name for one in Metric if one.type == "counter" and not one.name.endswith(_TOTAL)]
_UNSUFFIXED: Final = re.compile(rf"^(# (?:HELP|TYPE) (?:{'|'.join(_PLAIN)})){_TOTAL}\b", re.MULTILINE)
"""Where the library gives a counter of OLM the suffix of its own counters."""


def _place(series: Series) -> tuple[list[tuple[str, str]], str, float]:
    """Buckets come in the order of their bounds."""
    bound = dict(series.labels).get(_BOUND, "0")
    return [label for label in series.labels if label[0] != _BOUND], series.part, float(bound)


def _exemplar(exemplar: Exemplar | None) -> prometheus_client.samples.Exemplar | None:
    if exemplar is None:
        return None
    return prometheus_client.samples.Exemplar({"trace_id": exemplar.trace}, exemplar.seconds, exemplar.at)


def _stem(metric: Metric) -> str:
    return metric.name.removesuffix(_TOTAL) if metric.type == "counter" else metric.name
