"""Which certificates count does not depend on the version of Python."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eventing.packages.requester import FrontProxy
from shared.adapters.kube.credentials import ConnectionSettingError, verifying
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.trust import Trust
from shared.adapters.tls import tls_context
from tests.architecture.words import modules
from tests.kit.webhook_server import make_authority

COMMENT = "# Főtanúsítvány\n"
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


def of_registries(text: str) -> ssl.SSLContext:
    return Trust(folders=(), authorities=text).context("quay.io")


def of_an_api_server(text: str) -> ssl.SSLContext:
    return verifying(text.encode("iso8859-2"))


@pytest.mark.parametrize("take", [of_registries, of_an_api_server])
def test_authorities_may_have_comments_in_any_language(take: Callable[[str], ssl.SSLContext], tmp_path: Path) -> None:
    authority = (make_authority(tmp_path / "pki", "IP:127.0.0.1") / "ca.crt").read_text()
    plain = take(authority).get_ca_certs()
    assert take(f"{COMMENT}{authority}{COMMENT}").get_ca_certs() == plain
    assert FrontProxy(f"{COMMENT}{authority}").flaw(now=0) == ""


@pytest.mark.parametrize("text", [COMMENT, "-----BEGIN CERTIFICATE-----\nMIIű\n-----END CERTIFICATE-----\n"])
def test_what_holds_no_certificate_stays_unreadable(text: str) -> None:
    with pytest.raises(OciError, match="OLMF_REGISTRY_CA cannot be used"):
        of_registries(text)
    with pytest.raises(ConnectionSettingError, match="is not PEM"):
        of_an_api_server(text)
    assert "cannot be read" in FrontProxy(text).flaw(now=0)
