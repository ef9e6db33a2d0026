"""The Grafana dashboard of `k8s/monitoring`: a panel for each metric of the table, and the alerts that fire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Final

import orjson

from eventing.deploy.rbac import NAMESPACE
from shared.api.manifest import Manifest
from shared.telemetry import Metric

UID: Final = "olmf"
_SOURCE: Final = {"type": "prometheus", "uid": "${source}"}
_WIDTH, _HEIGHT, _SCREEN = 8, 7, 24
"""Of a panel, in Grafana's grid; a screen has 24 columns."""
_SINCE: Final = "[$__rate_interval]"

BY: Final[Mapping[Metric, tuple[str, ...]]] = {
    Metric.csv_abnormal: ("namespace", "name", "phase", "reason"),
    Metric.catalog_source_snapshots_total: ("namespace", "name"),
    Metric.subscription_sync_total: ("package",),
    Metric.olm_resolution_duration_seconds: ("outcome",),
    Metric.olmf_cluster_extension_abnormal: ("name", "reason"),
    Metric.olmf_run_duration_seconds: ("step",),
    Metric.olmf_dead_letters_total: ("step",),
    Metric.olmf_queue_ready: ("group",),
    Metric.olmf_queue_oldest_seconds: ("lane",),
    Metric.olmf_skipped_events_total: ("kind",),
    Metric.olmf_watch_silence_seconds: ("kind",),
}
"""The labels by which a metric is drawn apart; any other is drawn as one sum."""
WELL: Final = frozenset(
    {
        Metric.csv_succeeded,
        Metric.catalogsource_ready,
        Metric.olmf_cluster_catalog_serving,
        Metric.olmf_cluster_extension_installed,
    }
)
"""1 while an object is well: drawn is how many are not, because there may be thousands."""
_TITLES: Final = {
    "What is at work": ("olmf_redis_up", "olmf_queue", "olmf_run", "olmf_dead", "olmf_refused"),
    "What is heard of the cluster": ("olmf_watch", "olmf_sink", "olmf_skipped"),
    "OLM v1": ("olmf_cluster",),
    "Operators": ("",),
}
"""Rows, each with how the names of its metrics begin; the first that fits counts."""


def files() -> Mapping[str, list[Manifest]]:
    """A ConfigMap with the label by which Grafana's sidecar finds dashboards."""
    text = orjson.dumps(dashboard(), option=orjson.OPT_INDENT_2).decode() + "\n"
    meta = {"name": "olmf-dashboard", "namespace": NAMESPACE, "labels": {"grafana_dashboard": "1"}}
    return {
        "dashboard.yaml": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"olmf.json": text}}]
    }


def dashboard() -> Manifest:
    """The dashboard in Grafana's JSON, for any Prometheus that its user chooses."""
    return {
        "uid": UID,
        "title": "olm-functions",
        "description": "`olmf top` shows the same of this moment, `olmf why` says of an object what it waits for.",
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {
            "list": [{"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}]
        },
        "panels": list(_panels()),
    }


def _panels() -> Iterator[Manifest]:
    numbers, top = count(1), 0
    yield _alerts(next(numbers), top)
    top += _HEIGHT
    for title, beginnings in _TITLES.items():
        yield {"id": next(numbers), "type": "row", "title": title, "gridPos": _place(0, top, _SCREEN, 1), "panels": []}
        for place, metric in enumerate(metric for metric in Metric if _row_of(metric) == beginnings):
            down, right = divmod(place * _WIDTH, _SCREEN)
            yield _panel(next(numbers), metric, _place(right, top + 1 + down * _HEIGHT, _WIDTH, _HEIGHT))
            bottom = top + 1 + (down + 1) * _HEIGHT
        top = bottom


def _row_of(metric: Metric) -> tuple[str, ...]:
    return next(beginnings for beginnings in _TITLES.values() if metric.name.startswith(beginnings))


def _panel(number: int, metric: Metric, place: Mapping[str, int]) -> Manifest:
    legend = " ".join(f"{{{{{label}}}}}" for label in BY.get(metric, ())) or metric.name
    query = {"refId": "A", "datasource": _SOURCE, "expr": expression(metric), "legendFormat": legend}
    return {
        "id": number,
        "type": "timeseries",
        "title": f"{metric.name}: {_UNITS[metric.type][1]}" if metric not in WELL else f"{metric.name}: how many are 0",
        "description": metric.help,
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": _UNITS[metric.type][0], "min": 0}, "overrides": []},
        "targets": [{**query, "exemplar": True} if metric.type == "histogram" else query],
    }


_UNITS: Final = {
    "gauge": ("short", "now"),
    "counter": ("short", "per minute"),
    "summary": ("s", "mean"),
    "histogram": ("s", "of 100 runs the 95th"),
}
"""Grafana's unit for each type of metric, and what is drawn."""


def expression(metric: Metric) -> str:
    """What is drawn of a metric: a gauge as it is, how much a counter grows in a minute, the mean of a summary.

    Of a histogram: how long the 95th of 100 takes, with exemplars that lead to traces.
    """
    by = f" by ({', '.join(BY[metric])})" if metric in BY else ""
    if metric in WELL:
        return f"count({metric.name} == 0) or vector(0)"
    match metric.type:
        case "gauge":
            return f"sum{by} ({metric.name})"
        case "counter":
            return f"sum{by} (rate({metric.name}{_SINCE})) * 60"
        case "summary":
            parts = (f"sum{by} (rate({metric.name}_{part}{_SINCE}))" for part in ("sum", "count"))
            return " / ".join(parts)
        case "histogram":
            labels = ", ".join((*BY.get(metric, ()), "le"))
            return f"histogram_quantile(0.95, sum by ({labels}) (rate({metric.name}_bucket{_SINCE})))"


def _alerts(number: int, top: int) -> Manifest:
    names = "Olmf.+|OperatorAbnormal|CatalogNotReady|ExtensionAbnormal|ClusterCatalog.+"
    expr = f'ALERTS{{alertstate="firing", alertname=~"{names}"}}'
    return {
        "id": number,
        "type": "table",
        "title": "Alerts that fire; the annotation `next` of each is the command that says more",
        "datasource": _SOURCE,
        "gridPos": _place(0, top, _SCREEN, _HEIGHT),
        "targets": [{"refId": "A", "datasource": _SOURCE, "expr": expr, "format": "table", "instant": True}],
    }


def _place(x: int, y: int, width: int, height: int) -> dict[str, int]:
    return {"x": x, "y": y, "w": width, "h": height}
