"""Addresses of servers, and what is told of those that are none."""

from __future__ import annotations

import pytest

from shared.domain.server_address import ServerAddress


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(
            "10.0.0.7:50051", ServerAddress("10.0.0.7", 50051), id="what operator-sdk writes: the IP of a pod"
        ),
        pytest.param("tea.olm.svc:50051", ServerAddress("tea.olm.svc", 50051), id="a Service"),
        pytest.param("[fd00::7]:50051", ServerAddress("fd00::7", 50051), id="IPv6"),
        pytest.param("[fd00::7%eth0]:9", ServerAddress("fd00::7%eth0", 9), id="IPv6 with a zone"),
        pytest.param("grpcs://tea.example:443", ServerAddress("tea.example", 443, is_secure=True), id="TLS"),
    ],
)
def test_an_address(text: str, want: ServerAddress) -> None:
    assert ServerAddress.parse(text) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("foo", "address foo: missing port in address", id="catalog.md 8.3.43: no port"),
        pytest.param(
            "http://bar.com:8080", "address http://bar.com:8080: too many colons in address", id="8.3.43: a scheme"
        ),
        pytest.param("fd00::7", "address fd00::7: too many colons in address", id="IPv6 without brackets"),
        pytest.param("[fd00::7]", "address [fd00::7]: missing port in address", id="IPv6 without a port"),
        pytest.param("[fd00::7]9", "address [fd00::7]9: missing port in address", id="IPv6 without a colon"),
        pytest.param("[fd00::7]:9:9", "address [fd00::7]:9:9: too many colons in address", id="IPv6 and two ports"),
        pytest.param("[fd00::7", "address [fd00::7: missing ']' in address", id="half a bracket"),
        pytest.param("a]:9", "address a]:9: unexpected ']' in address", id="the other half"),
        pytest.param("a[:9", "address a[:9: unexpected '[' in address", id="a bracket inside"),
        pytest.param("a:grpc", "address a:grpc: wanted host:port", id="a name of a port"),
        pytest.param("a:65536", "address a:65536: wanted host:port", id="no such port"),
        pytest.param(":9", "address :9: wanted host:port", id="no host"),
        pytest.param("a b:9", "address a b:9: wanted host:port", id="a space"),
        pytest.param("a\r\nb:9", "address a\r\nb:9: wanted host:port", id="two lines"),
        pytest.param("a%0d%0ab:9", "address a%0d%0ab:9: wanted host:port", id="two lines to who decodes them"),
        pytest.param("user@a:9", "address user@a:9: wanted host:port", id="a user"),
        pytest.param("a/b:9", "address a/b:9: wanted host:port", id="a path"),
        pytest.param("a:٣", "address a:٣: wanted host:port", id="digits of another script"),
    ],
)
def test_no_address(text: str, want: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the text is what matters
        ServerAddress.parse(text)
    assert str(caught.value) == want
