"""How long requests to the HTTP API of catalogs took, by status, under the name of upstream's metric (v1.md §25)."""

from __future__ import annotations

from http import HTTPStatus

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from shared.adapters.http_requests import Head
from shared.adapters.prompt_server import Answer, text_answer


class RequestMetrics:
    """The histogram of one process, and what answers with it."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        what = "From the head of a request to the end of its answer"
        self._took = Histogram(
            "catalogd_http_request_duration_seconds", what, labelnames=("code",), registry=self._registry
        )

    def observe(self, status: HTTPStatus, seconds: float) -> None:
        """A request was answered."""
        self._took.labels(str(status.value)).observe(seconds)

    def answer(self, head: Head, _: bytes) -> Answer:
        """`/metrics`, and nothing else."""
        if head.target.partition("?")[0] != "/metrics":
            return text_answer(HTTPStatus.NOT_FOUND, "404 page not found")
        content = generate_latest(self._registry)
        return Answer(HTTPStatus.OK, {"Content-Type": CONTENT_TYPE_PLAIN_0_0_4}, (content,), len(content))
