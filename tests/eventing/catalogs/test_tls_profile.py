"""Which handshakes a profile lets through, and which profiles there are (v1.md §25.4)."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from eventing.catalogs.changing_certificate import PairFiles
from eventing.catalogs.tls_profile import TlsProfile, TlsProfileError, profile_of
from tests.kit.webhook_server import make_authority

FIRST, SECOND = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_authority(tmp_path_factory.mktemp("keys") / "pki", "IP:127.0.0.1")


def handshake(keys: Path, profile: TlsProfile, client: TlsProfile, newest: ssl.TLSVersion) -> tuple[str | None, str]:
    """Version and cipher that both agree on. SSLError."""
    server = PairFiles(keys / "server.crt", keys / "server.key", profile).context()
    asks = ssl.create_default_context(cafile=str(keys / "ca.crt"))
    client.apply(asks)
    asks.maximum_version = newest
    inward, outward = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = (
        asks.wrap_bio(inward, outward, server_hostname="127.0.0.1"), server.wrap_bio(outward, inward, server_side=True)
    )  # fmt: skip
    for _ in range(4):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    cipher = ends[0].cipher()
    assert cipher is not None
    return ends[0].version(), cipher[0]


V12, V13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3


def custom(*ciphers: str, curve: str = "", version: str = "TLSv1.2") -> TlsProfile:
    return profile_of("custom", version, ciphers, [curve] if curve else [])


@pytest.mark.parametrize(
    ("ours", "client", "newest", "agreed"),
    [
        pytest.param(TlsProfile(), TlsProfile(), V13, "TLSv1.3", id="intermediate, a client of today"),
        pytest.param(TlsProfile(), TlsProfile(), V12, "TLSv1.2", id="intermediate, an older client"),
        pytest.param(custom(version="TLSv1.3"), TlsProfile(), V13, "TLSv1.3", id="26.10 T1 the version wanted"),
        pytest.param(custom(FIRST), custom(FIRST), V12, "TLSv1.2", id="26.10 T2 the cipher wanted"),
        pytest.param(custom(FIRST, curve="prime256v1"), custom(curve="prime256v1"), V12, "TLSv1.2", id="26.10 T3"),
        pytest.param(custom(FIRST, curve="secp256r1"), custom(curve="prime256v1"), V12, "TLSv1.2", id="26.10 T4"),
    ],
)
def test_v1_md_25_4_what_is_let_through(
    keys: Path, ours: TlsProfile, client: TlsProfile, newest: ssl.TLSVersion, agreed: str
) -> None:
    version, cipher = handshake(keys, ours, client, newest)
    assert version == agreed
    if ours.ciphers == custom(FIRST).ciphers:
        assert cipher == "ECDHE-ECDSA-AES128-GCM-SHA256"


@pytest.mark.parametrize(
    ("ours", "client", "newest"),
    [
        pytest.param(custom(version="TLSv1.3"), TlsProfile(), V12, id="26.10 T1 an older version"),
        pytest.param(profile_of("modern", "", (), ()), TlsProfile(), V12, id="modern, an older version"),
        pytest.param(custom(FIRST), custom(SECOND), V12, id="26.10 T2 another cipher"),
        pytest.param(custom(FIRST, curve="prime256v1"), custom(curve="secp521r1"), V12, id="26.10 T3 another curve"),
        pytest.param(custom(FIRST, curve="secp256r1"), custom(curve="secp521r1"), V13, id="26.10 T4 another curve"),
    ],
)
def test_v1_md_25_4_what_is_not(keys: Path, ours: TlsProfile, client: TlsProfile, newest: ssl.TLSVersion) -> None:
    with pytest.raises(ssl.SSLError):
        handshake(keys, ours, client, newest)


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("old", "", (), ()), "no profile 'old': modern, intermediate or custom"),
        (("custom", "TLSv1.1", (), ()), "no version 'TLSv1.1': TLSv1.2, TLSv1.3"),
        (("custom", "TLSv1.2", ("RC4",), ()), "no cipher 'RC4'"),
        (("custom", "TLSv1.2", (), ("SecP256r1MLKEM768",)), "no curve 'SecP256r1MLKEM768'"),
        (("custom", "TLSv1.2", (), ("prime256v1", "secp384r1")), "one curve, or none"),
    ],
)
def test_what_cannot_be_had_is_reported(words: tuple[str, str, tuple[str, ...], tuple[str, ...]], output: str) -> None:
    with pytest.raises(TlsProfileError, match=output):
        profile_of(*words)
