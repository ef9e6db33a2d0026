"""Certificates as another program sees them, and as they are read back."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from shared.adapters.keys import Keyring, StoredKeys, x509
from shared.adapters.keys.stored import content_of, public_part
from shared.api.manifest import Manifest
from shared.domain.endpoints.certificates import Pair
from shared.kinds import SECRET
from tests.conformance.keys import openssl
from tests.kit.cluster import FakeCluster

NOW = datetime.now(UTC).replace(microsecond=0)
HOSTS = ("a-service.ns", "a-service.ns.svc", "a-service.ns.svc.cluster.local")
REF = SECRET.ref("a-service-cert", "ns")


def a_secret(pair: Pair, private: bytes, **data: str) -> Manifest:
    texts = {"tls.crt": pair.certificate, "tls.key": private.decode(), "olmCAKey": pair.authority, **data}
    encoded = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
    meta = {"name": REF.name, "namespace": REF.namespace, "annotations": {"olmcahash": pair.digest, "last": "x"}}
    return {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": meta, "data": encoded}


def test_openssl_accepts_the_chain_csv_md_7_2(tmp_path: Path) -> None:
    """P-256, for servers, the three names, 730 days."""
    pair, private = x509.issue(HOSTS, NOW)
    for name, text in (("ca.crt", pair.authority), ("tls.crt", pair.certificate), ("tls.key", private.decode())):
        (tmp_path / name).write_text(text)
    for host in HOSTS:
        openssl(tmp_path, "verify", "-x509_strict", "-purpose", "sslserver", "-verify_hostname", host, "-CAfile",
                "ca.crt", "tls.crt")  # fmt: skip
    openssl(tmp_path, "x509", "-in", "tls.crt", "-noout", "-text", "-out", "text")
    openssl(tmp_path, "x509", "-in", "ca.crt", "-noout", "-subject", "-out", "ca")
    text, subject = (tmp_path / "text").read_text(), (tmp_path / "ca").read_text()
    assert "TLS Web Server Authentication" in text
    assert "prime256v1" in text
    assert "olm-selfsigned-" in subject
    assert "Red Hat, Inc." in subject
    assert pair.ends - NOW == timedelta(days=730)


def test_what_was_stored_is_read_back() -> None:
    pair, private = x509.issue(HOSTS, NOW)
    stored = public_part(a_secret(pair, private))
    assert stored.content.pair == pair
    assert stored.manifest["metadata"]["annotations"] == {"olmcahash": pair.digest}
    assert "data" not in stored.manifest


OTHER, OTHER_KEY = x509.issue(HOSTS, NOW)
PAIR, KEY = x509.issue(HOSTS, NOW)


@pytest.mark.parametrize(
    ("change", "flaw"),
    [
        pytest.param(lambda: {"tls.crt": "x"}, "no certificate: ", id="csv.md 18 row 88: no certificate"),
        pytest.param(lambda: {"olmCAKey": ""}, "no certificate: ", id="csv.md 18 row 88: no CA"),
        pytest.param(lambda: {"olmCAKey": OTHER.authority}, "the CA did not sign", id="csv.md 7.2: of another CA"),
        pytest.param(lambda: {"tls.key": "x"}, "the private key belongs to another", id="no key"),
        pytest.param(lambda: {"tls.key": OTHER_KEY.decode()}, "the private key belongs to another", id="another key"),
    ],
)
def test_what_nobody_can_use_says_why(change: Callable[[], dict[str, str]], flaw: str) -> None:
    found = public_part(a_secret(PAIR, KEY, **change())).content.pair
    assert found.flaw.startswith(flaw)
    assert not found.serves(HOSTS, NOW)


def test_content_that_is_no_base64_is_none() -> None:
    assert content_of({"data": {"a": "!", "b": "eA==", "c": 1}}) == {"b": b"x"}


def test_a_step_gets_nothing_private() -> None:
    keys = StoredKeys(FakeCluster([a_secret(PAIR, KEY)]))
    issued = keys.issue(HOSTS, NOW)
    assert keys.stored(SECRET.ref("absent", "ns")) is None
    told = repr((issued, keys.stored(REF)))
    secret = KEY.decode().splitlines()[1]
    assert secret not in told
    assert "PRIVATE" not in told
    assert (keys.keyring.private(issued.key) or b"").startswith(b"-----BEGIN EC PRIVATE KEY")


def test_the_keyring_forgets_the_oldest() -> None:
    keyring = Keyring()
    for number in range(65):
        keyring.keep(str(number), b"k")
    assert (keyring.private("0"), keyring.private("64")) == (None, b"k")


def test_a_name_without_room_in_the_subject() -> None:
    """A common name has at most 64 characters; clients look at the other names."""
    hosts = (f"{'a' * 63}.{'b' * 63}.svc",)
    assert x509.issue(hosts, NOW)[0].serves(hosts, NOW)
    assert x509.read(*_texts(hosts), "x").hosts == hosts


def _texts(hosts: tuple[str, ...]) -> tuple[str, str]:
    pair, _ = x509.issue(hosts, NOW)
    return pair.authority, pair.certificate
