"""Which servers of the registry API are reached through a proxy: catalog.md 8.3 row 43."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from shared.adapters.catalog_client.proxies import proxy_for

PROXY = "http://proxy.example:3128"


@pytest.mark.parametrize(
    ("environ", "host", "want"),
    [
        pytest.param({}, "tea.olm.svc", "", id="none"),
        pytest.param({"GRPC_PROXY": PROXY}, "tea.olm.svc", PROXY, id="GRPC_PROXY"),
        pytest.param({"grpc_proxy": "proxy.example:3128"}, "tea.olm.svc", PROXY, id="in small letters, without scheme"),
        pytest.param({"HTTP_PROXY": PROXY, "HTTPS_PROXY": PROXY}, "tea.olm.svc", "", id="the others do not count"),
        pytest.param({"GRPC_PROXY": PROXY, "NO_PROXY": ".svc,10.0.0.0/8"}, "tea.olm.svc", "", id="below a domain"),
        pytest.param({"GRPC_PROXY": PROXY, "no_proxy": "x, olm.svc"}, "tea.olm.svc", "", id="a domain without its dot"),
        pytest.param({"GRPC_PROXY": PROXY, "NO_PROXY": "*.svc"}, "tea.olm.svc", "", id="with a star"),
        pytest.param({"GRPC_PROXY": PROXY, "NO_PROXY": "*"}, "tea.olm.svc", "", id="everything"),
        pytest.param({"GRPC_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8"}, "10.1.2.3", "", id="a network"),
        pytest.param(
            {"GRPC_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8"}, "tea.olm.svc", PROXY, id="a name is in no network"
        ),
        pytest.param({"GRPC_PROXY": PROXY, "NO_PROXY": "10.0.0.0/99"}, "10.1.2.3", PROXY, id="no network"),
        pytest.param({"GRPC_PROXY": PROXY, "NO_PROXY": "10.1.2.3"}, "10.1.2.3", "", id="an address"),
        pytest.param({"GRPC_PROXY": PROXY, "NO_PROXY": "tea.olm.svc:50051"}, "tea.olm.svc", "", id="this port"),
        pytest.param({"GRPC_PROXY": PROXY, "NO_PROXY": "tea.olm.svc:443"}, "tea.olm.svc", PROXY, id="another port"),
        pytest.param({"GRPC_PROXY": PROXY, "NO_PROXY": "ea.olm.svc"}, "tea.olm.svc", PROXY, id="the end of a label"),
        pytest.param({"GRPC_PROXY": PROXY}, "127.0.0.1", "", id="this machine"),
    ],
)
def test_row_43_the_proxy_of_a_server(environ: Mapping[str, str], host: str, want: str) -> None:
    assert proxy_for(host, 50051, environ) == want
