"""Addresses of pages and people, judged as Go judges them (fbc.md 11.6, OperatorHubV2)."""

from __future__ import annotations

import pytest

from shared.domain.authoring.validation.addresses import why_no_email, why_no_url


@pytest.mark.parametrize(
    "text",
    [
        "http://tea.io", "/tea", "//x y/z", "*", "mailto:a@tea.io", "http://tea.io/a b?%zz", "http://u:p@tea.io:80/",
        "http://[::1]:80", "https://é.io", "http://tea.io:", "http:/tea", "http://",
    ],
)  # fmt: skip
def test_fbc_md_11_6_links_that_are_right(text: str) -> None:
    assert why_no_url(text) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("tea", "invalid URI for request"),
        (" https://tea.io", "invalid URI for request"),
        ("?tea", "invalid URI for request"),
        ("://", "missing protocol scheme"),
        ("http://a b/c", 'invalid character " " in host name'),
        ("http://tea.io/%zz", 'invalid URL escape "%zz"'),
        ("/%a", 'invalid URL escape "%a"'),
        ("http://%41", 'invalid URL escape "%41"'),
        ("http://u%z@tea.io", 'invalid URL escape "%z"'),
        ("http://[::1", "missing ']' in host"),
        ("http://[::1]a", 'invalid port "a" after host'),
        ("http://a:b", 'invalid port ":b" after host'),
        ("http://u^@h", "net/url: invalid userinfo"),
    ],
)
def test_fbc_md_11_6_links_that_are_wrong(text: str, why: str) -> None:
    assert why_no_url(text) == f'parse "{text}": {why}'


def test_fbc_md_11_6_a_link_with_a_line_break() -> None:
    assert why_no_url("http://a\n") == 'parse "http://a\\n": net/url: invalid control character in URL'


@pytest.mark.parametrize(
    "text",
    [
        "a@b", " a@b.c ", "Tea Team <a@b.c>", '"Tea, Inc" <a@b.c>', "<a@b>", '"a b"@c', "a@[1.2.3.4]", "a@b (Tea)",
        "é@b", "Team: a@b.c;",
    ],
)  # fmt: skip
def test_fbc_md_11_6_maintainers_that_can_be_written_to(text: str) -> None:
    assert why_no_email(text) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (" ", "no address"),
        ("tea", "missing '@' or angle-addr"),
        ("a.@b", "missing '@' or angle-addr"),
        ("https://tea.io", "missing '@' or angle-addr"),
        ("a b@c", "no angle-addr"),
        ("@b", "missing word in phrase: mail: invalid string"),
        ("mailto:a@b.c", "expected comma"),
        ("a:b:c@d", "missing '@' or angle-addr"),
        ("a:" * 2000, "missing '@' or angle-addr"),
        ("a@b@c", 'expected single address, got "@c"'),
        ("a@b.c, d@e.f", 'expected single address, got ", d@e.f"'),
        ("Tea <a@b.c", "unclosed angle-addr"),
        ("Tea <tea>", "missing @ in addr-spec"),
    ],
)
def test_fbc_md_11_6_maintainers_that_cannot(text: str, why: str) -> None:
    assert why_no_email(text) == f"mail: {why}"
