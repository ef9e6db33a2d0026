from __future__ import annotations

import pytest

from shared.domain.catalog.image_reference import (
    ImageName,
    is_digest,
    parsed,
    why_not,
    why_not_canonical,
    without_login,
)
from tests.kit.waiting import costing_at_most

HEX = "0123456789abcdef" * 4
INVALID = "invalid reference format"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("busybox", id="a short name"),
        pytest.param(f"repo@sha256:{HEX}", id="a digest"),
        pytest.param(f"repo:tag@sha256:{HEX}", id="tag and digest"),
        pytest.param(f"quay.io/a/b:v1.0_x-y@sha256:{HEX}", id="all of it"),
        pytest.param("localhost/x:1", id="this machine"),
        pytest.param("localhost:5000/x", id="a port"),
        pytest.param("HOST:5000/a/b__c--d.e:T", id="a registry in upper case, and all separators"),
        pytest.param("index.docker.io/a__b", id="the other name of the default registry"),
        pytest.param(f"x@sha512:{HEX}{HEX}", id="a longer digest"),
        pytest.param("a." + "b" * 250 + "/c", id="255 characters"),
        pytest.param("x:5000", id="a tag that looks like a port"),
        pytest.param("a_b.c/x", id="a first part that no host has"),
    ],
)
def test_references(text: str) -> None:
    assert why_not(text) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param(HEX, f"invalid repository name ({HEX}), cannot specify 64-byte hexadecimal strings", id="an id"),
        pytest.param("quay.io/A/b:c", f"{INVALID}: repository name must be lowercase", id="upper case"),
        pytest.param(":x", INVALID, id="no name"),
        pytest.param("a//b", INVALID, id="an empty part"),
        pytest.param("a___b", INVALID, id="three underscores"),
        pytest.param("a-.b", INVALID, id="two separators"),
        pytest.param("a b", INVALID, id="a blank"),
        pytest.param("[::1]:5000/a", INVALID, id="an IPv6 address"),
        pytest.param("a\n", INVALID, id="a line break"),
        pytest.param(f"a:{'x' * 129}", INVALID, id="a long tag"),
        pytest.param(
            "a." + "b" * 251 + "/cd", "repository name must not be more than 255 characters", id="a long name"
        ),
        pytest.param(f"a@md5:{HEX[:32]}", "unsupported digest algorithm", id="an algorithm that is not supported"),
        pytest.param(f"a@sha256:{HEX[:-1]}", "invalid checksum digest length", id="a short digest"),
        pytest.param(f"a@sha256:{HEX.upper()}", "invalid checksum digest format", id="a digest in upper case"),
        pytest.param("a@sha256:abc", INVALID, id="hardly a digest"),
        pytest.param("-" * 50 + "a" * 5000 + "!", INVALID, id="a long text is refused in a moment"),
    ],
)
def test_fbc_md_6_3_texts_that_are_no_references(text: str, why: str) -> None:
    assert why_not(text) == why


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(
            "busybox", ImageName("docker.io", "library/busybox", "", ""), id="what is left out is spelled out"
        ),
        pytest.param("[::1]:5000/a:1", ImageName("[::1]:5000", "a", "1", ""), id="an IPv6 address"),
        pytest.param(f"quay.io/a/b:1@sha256:{HEX}", ImageName("quay.io", "a/b", "1", f"sha256:{HEX}"), id="all parts"),
        pytest.param("a_b.c/x", ImageName("", "a_b.c/x", "", ""), id="a first part that no host has"),
    ],
)
def test_a_reference_is_taken_apart(text: str, want: ImageName) -> None:
    assert parsed(text) == want


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("quay.io/a:1", "", id="a registry"),
        pytest.param("docker.io/library/a", "", id="the default registry, spelled out"),
        pytest.param("a:1", "repository name must be canonical", id="fbc.md R245: no registry"),
        pytest.param("docker.io/a", "repository name must be canonical", id="a short name at the default registry"),
        pytest.param("index.docker.io/b/a", "repository name must be canonical", id="its other name"),
        pytest.param("quay.io/A", f"{INVALID}: repository name must be lowercase", id="no reference"),
    ],
)
def test_a_reference_names_its_registry(text: str, why: str) -> None:
    assert why_not_canonical(text) == why


@pytest.mark.parametrize(
    ("text", "want"),
    [(f"sha256:{HEX}", True), (f"sha384:{HEX}{HEX[:32]}", True), (f"sha256:{HEX}0", False), (f"md5:{HEX[:32]}", False)],
)
def test_a_digest_is_of_a_known_algorithm(text: str, *, want: bool) -> None:
    assert is_digest(text) is want


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("me:s3cret@quay.io/a:1", "***@quay.io/a:1", id="a password before the host"),
        pytest.param("https://me:s3/cr@et@quay.io/a", "https://***@quay.io/a", id="one with marks in it"),
        pytest.param(f"quay.io/a@sha256:{'a' * 64}", f"quay.io/a@sha256:{'a' * 64}", id="a digest is none"),
        pytest.param("quay.io/a:1", "quay.io/a:1", id="no password"),
    ],
)
def test_a_password_in_a_reference_is_not_repeated(text: str, shown: str) -> None:
    assert without_login(text) == shown


def test_blanks_in_front_of_a_reference_take_no_time() -> None:
    text = " " * 200_000 + "X"
    with costing_at_most(5, "each blank as a beginning takes minutes"):
        assert without_login(text) == text
