"""Certificates as another program sees them, and as they are read back."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509 as c509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from shared.adapters.keys import Keyring, StoredKeys, x509
from shared.adapters.keys.stored import content_of, public_part
from shared.api.manifest import Manifest
from shared.domain.endpoints.certificates import Pair
from shared.domain.endpoints.defects import MOST_ENDPOINTS
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
def test_what_nobody_can_use_states_why(change: Callable[[], dict[str, str]], flaw: str) -> None:
    found = public_part(a_secret(PAIR, KEY, **change())).content.pair
    assert found.flaw.startswith(flaw)
    assert not found.serves(HOSTS, NOW)


def test_content_that_is_no_base64_is_none() -> None:
    assert content_of({"data": {"a": "!", "b": "eA==", "c": 1}}) == {"b": b"x"}


def test_a_step_gets_nothing_private() -> None:
    keys = StoredKeys(FakeCluster([a_secret(PAIR, KEY)]))
    issued = keys.issue(HOSTS, NOW)
    assert keys.stored(SECRET.ref("absent", "ns")) is None
    reported = repr((issued, keys.stored(REF)))
    secret = KEY.decode().splitlines()[1]
    assert secret not in reported
    assert "PRIVATE" not in reported
    assert (keys.keyring.private(issued.key) or b"").startswith(b"-----BEGIN EC PRIVATE KEY")


def test_the_keyring_forgets_the_oldest_and_what_is_stored() -> None:
    keyring = Keyring()
    for number in range(1025):
        keyring.keep(str(number), b"k")
    assert (keyring.private("0"), keyring.private("1")) == (None, b"k")
    keyring.forget(("1", "absent"))
    assert keyring.private("1") is None


def test_the_keyring_holds_what_all_runs_of_a_worker_make() -> None:
    """Else a version that has more than it holds would never be installed: its first keys were gone."""
    keyring, runs = Keyring(), 8
    for number in range(MOST_ENDPOINTS * runs):
        keyring.keep(str(number), b"k")
    assert keyring.private("0") == b"k"


def pem(label: str, content: bytes) -> bytes:
    return f"-----BEGIN {label}-----\n{base64.encodebytes(content).decode()}-----END {label}-----\n".encode()


def rsa_key(bits: int = 2048) -> bytes:
    return rsa.generate_private_key(65537, bits).private_bytes(
        Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()
    )


HOSTILE_KEYS = [
    pytest.param(rsa_key, id="RSA"),
    pytest.param(lambda: KEY + rsa_key(), id="RSA behind ours"),
    pytest.param(lambda: KEY[:40] + rsa_key(), id="RSA behind the beginning of ours"),
    pytest.param(lambda: pem("EC PRIVATE KEY", b"0" * 900), id="too long"),
    pytest.param(lambda: pem("EC PRIVATE KEY", b"0" * 90), id="no key"),
]


@pytest.mark.parametrize("text", HOSTILE_KEYS)
def test_only_short_keys_on_a_curve_are_looked_into(text: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """An RSA key of a tenant took minutes to check, and a DH key would, too; meanwhile no other run goes on."""
    seen: list[bytes] = []
    load_pem_private_key = serialization.load_pem_private_key

    def load(data: bytes, password: None) -> object:
        seen.append(data)
        return load_pem_private_key(data, password)

    monkeypatch.setattr(serialization, "load_pem_private_key", load)
    assert x509.handle_of_pem(text()) == ""
    assert all(len(one) < 1024 and b"RSA" not in one for one in seen)


def test_a_private_key_is_kept_nowhere_because_it_was_looked_at() -> None:
    assert x509.handle_of_pem(KEY) == PAIR.key
    assert not hasattr(x509.handle_of_pem, "cache_info")


LEAKING = ("tls.crt", "olmCAKey", "olmf-former-ca.crt", "olmf-next.crt", "olmf-next-ca.crt")


@pytest.mark.parametrize("key", LEAKING)
@pytest.mark.parametrize("text", [KEY.decode(), KEY.decode() + PAIR.authority, PAIR.authority + KEY.decode()])
def test_nothing_but_certificates_is_told_of_a_secret(key: str, text: str) -> None:
    """A combined PEM file would lead the private key into a caBundle, which every user may read."""
    following = {"olmf-next.crt": OTHER.certificate, "olmf-next-ca.crt": OTHER.authority}
    content = public_part(a_secret(PAIR, KEY, **{**following, key: text})).content
    assert "PRIVATE" not in repr(content)
    assert "PRIVATE" not in content.bundle


def test_a_ca_with_other_text_around_it_stays_in_use() -> None:
    found = public_part(a_secret(PAIR, KEY, olmCAKey=f"# the CA\n{PAIR.authority}# {KEY.decode()}")).content
    assert found.pair == PAIR
    former = public_part(a_secret(PAIR, KEY, **{"olmf-former-ca.crt": f"x\n{OTHER.authority}"})).content.former
    assert former == OTHER.authority


def a_certificate(*extensions: c509.ExtensionType) -> str:
    key, name = ec.generate_private_key(ec.SECP256R1()), c509.Name([])
    builder = c509.CertificateBuilder(name, name, key.public_key(), 1, NOW, NOW + timedelta(days=1))
    for one in extensions:
        builder = builder.add_extension(one, critical=False)
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM).decode()


def patched(old: bytes, new: bytes, *extensions: c509.ExtensionType) -> str:
    """A certificate, some bytes of which are others."""
    body = base64.b64decode("".join(a_certificate(*extensions).splitlines()[1:-1]))
    assert old in body
    return pem("CERTIFICATE", body.replace(old, new)).decode()


NAMES = c509.SubjectAlternativeName([c509.DNSName("a"), c509.DNSName("b")])
BAD_CERTIFICATES = [
    pytest.param(lambda: patched(bytes.fromhex("a003020102"), bytes.fromhex("a003020109")), id="InvalidVersion"),
    pytest.param(
        lambda: patched(bytes.fromhex("0603551d23"), bytes.fromhex("0603551d11"), NAMES,
                        c509.AuthorityKeyIdentifier(b"0123456789", None, None)),
        id="DuplicateExtension",
    ),
    pytest.param(lambda: patched(b"\x82\x01b", b"\x85\x01b", NAMES), id="UnsupportedGeneralNameType"),
]  # fmt: skip


@pytest.mark.parametrize("text", BAD_CERTIFICATES)
def test_whatever_the_library_says_of_a_certificate_is_a_flaw(text: Callable[[], str]) -> None:
    """Else the Secret would never be replaced: the runs of the version end with an error each time."""
    found = public_part(a_secret(PAIR, KEY, **{"tls.crt": text()})).content.pair
    assert found.flaw.startswith("no certificate: ")
    assert public_part(a_secret(PAIR, KEY, **{"olmf-former-ca.crt": "x"})).content.former == ""


def test_a_name_without_room_in_the_subject() -> None:
    """A common name has at most 64 characters; clients look at the other names."""
    hosts = (f"{'a' * 63}.{'b' * 63}.svc",)
    assert x509.issue(hosts, NOW)[0].serves(hosts, NOW)
    assert x509.read(*_texts(hosts), "x").hosts == hosts


def _texts(hosts: tuple[str, ...]) -> tuple[str, str]:
    pair, _ = x509.issue(hosts, NOW)
    return pair.authority, pair.certificate
