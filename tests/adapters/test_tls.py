"""Which certificates count does not depend on the version of Python."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.tls import tls_context
from tests.architecture.words import modules

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("purpose", [ssl.Purpose.SERVER_AUTH, ssl.Purpose.CLIENT_AUTH])
def test_authorities_may_lack_what_newer_versions_demand(purpose: ssl.Purpose, monkeypatch: pytest.MonkeyPatch) -> None:
    make = ssl.create_default_context

    def strict(*given: Any, **more: Any) -> ssl.SSLContext:
        made = make(*given, **more)
        made.verify_flags |= ssl.VERIFY_X509_STRICT
        return made

    monkeypatch.setattr(ssl, "create_default_context", strict)
    made = tls_context(purpose)
    assert not made.verify_flags & ssl.VERIFY_X509_STRICT
    assert made.check_hostname == (purpose is ssl.Purpose.SERVER_AUTH)
    assert bool(made.get_ca_certs()) == bool(make(purpose).get_ca_certs())


def test_nobody_else_takes_the_defaults_of_python() -> None:
    taking = [
        path
        for path, source in modules(ROOT, ("eventing", "functions", "shared"))
        if "create_default_context" in source
    ]
    assert taking == ["shared/adapters/tls.py"]
