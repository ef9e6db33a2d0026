"""The histogram of requests for catalogs (v1.md §25)."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest

from eventing.catalogs.request_metrics import RequestMetrics
from shared.adapters import prompt_server
from shared.adapters.catalog_api import web
from shared.adapters.prompt_server import Asked
from tests.kit.waiting import wait_for


def asked(port: int, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
        return str(answer.read().decode())


def test_v1_md_25_1_requests_are_counted_by_their_status() -> None:
    metrics = RequestMetrics()
    measured = prompt_server.running(prompt_server.listening("127.0.0.1", 0), Asked(metrics.answer))
    with measured as beside, web.running({"tea": None}, observe=metrics.observe) as port:
        for path in ("/catalogs/tea/api/v1/all", "/catalogs/none/api/v1/all", "/nothing"):
            with pytest.raises(urllib.error.HTTPError):
                asked(port, path)
        assert {asked(port, path) for path in ("/livez", "/readyz")} == {"ok\n"}  # which is no request of a client
        name = "catalogd_http_request_duration_seconds_count"
        lines = [f'{name}{{code="503"}} 1.0', f'{name}{{code="404"}} 2.0']
        wait_for(lambda: all(line in asked(beside, "/metrics") for line in lines), f"{lines}")
        assert 'code="200"' not in asked(beside, "/metrics")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            asked(beside, "/other")
