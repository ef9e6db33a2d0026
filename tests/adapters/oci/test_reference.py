from __future__ import annotations

import pytest

from shared.adapters.oci.errors import OciError
from shared.adapters.oci.reference import Reference

_DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("text", "desired"),
    [
        pytest.param("busybox", Reference("docker.io", "library/busybox", "latest"), id="a short name"),
        pytest.param("coreos/etcd:v1", Reference("docker.io", "coreos/etcd", "v1"), id="a name at Docker's registry"),
        pytest.param("quay.io/a/b/c", Reference("quay.io", "a/b/c", "latest"), id="no tag"),
        pytest.param("localhost/a:1", Reference("localhost", "a", "1"), id="this machine by name"),
        pytest.param("127.0.0.1:5000/a/b:1.0_x", Reference("127.0.0.1:5000", "a/b", "1.0_x"), id="a port and a tag"),
        pytest.param(f"quay.io/a@{_DIGEST}", Reference("quay.io", "a", "", _DIGEST), id="a digest"),
        pytest.param(f"quay.io/a:1@{_DIGEST}", Reference("quay.io", "a", "1", _DIGEST), id="a tag and a digest"),
        pytest.param("[::1]:5000/a", Reference("[::1]:5000", "a", "latest"), id="an IPv6 address"),
    ],
)
def test_a_reference_has_four_parts(text: str, desired: Reference) -> None:
    assert Reference.parse(text) == desired
    assert Reference.parse(str(desired)) == desired


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("", "invalid reference format", id="nothing"),
        pytest.param("quay.io/A/b", "repository name must be lowercase", id="upper case"),
        pytest.param("quay.io/a:b:c", "invalid reference format", id="two tags"),
        pytest.param(f"quay.io/a@md5:{'a' * 32}", "unsupported digest algorithm", id="an algorithm we do not verify"),
        pytest.param(f"quay.io/a@{_DIGEST[:-1]}", "invalid checksum digest length", id="a short digest"),
        pytest.param("quay.io/../a", "invalid reference format", id="a path that climbs"),
        pytest.param("user@evil:1/a", "invalid reference format", id="a user name"),
        pytest.param("a_b.c/d", "its first part is no host", id="a name that no host has"),
    ],
)
def test_what_is_no_reference_states_why(text: str, words: str) -> None:
    with pytest.raises(OciError) as caught:
        Reference.parse(text)
    assert caught.value.reason == "Malformed"
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("registry", "is_loopback"),
    [("127.0.0.1:5000", True), ("localhost", True), ("[::1]:1", True), ("quay.io", False), ("10.0.0.1:80", False)],
)
def test_plain_http_is_spoken_on_this_machine_only(registry: str, is_loopback: bool) -> None:
    assert Reference(registry, "a", "1").is_loopback is is_loopback


def test_docker_s_registry_has_another_host() -> None:
    assert Reference.parse("busybox").host == "registry-1.docker.io"
