from __future__ import annotations

import pytest

from eventing.metrics.listener import address_of, listener
from shared.config import Settings


@pytest.mark.parametrize(
    ("kubeconfig", "desired"),
    [
        pytest.param("/somewhere", {"127.0.0.1"}, id="on somebody's machine nobody else is answered"),
        pytest.param("", {"::", "0.0.0.0"}, id="in a pod everybody is"),
    ],
)
def test_who_is_answered(kubeconfig: str, desired: set[str]) -> None:
    with listener(Settings(kubeconfig=kubeconfig, port=0)) as listening:
        assert listening.getsockname()[0] in desired
        assert address_of(listening) == f"http://127.0.0.1:{listening.getsockname()[1]}"
