"""Why an address of a web page, or of a person, is none: the answers of Go (fbc.md §11.6, OperatorHubV2)."""

from __future__ import annotations

import re
from typing import Final

from shared.domain.go.text import quoted

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)?:")
_PORT: Final = re.compile(r"(?::[0-9]*)?")
_USER: Final = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")
_NOT_IN_HOST: Final = re.compile(r"[\x00-\x7f](?<![A-Za-z0-9_.~!$&'()*+,;=:\[\]<>\"%-])")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}")
_BAD_HOST_ESCAPE: Final = re.compile(rf"{_BAD_ESCAPE.pattern}|%(?!25)[0-7].")


def why_no_url(text: str) -> str:
    """Why a text is no URL of a page, or a path; empty when it is one."""
    problem = _url_problem(text)
    return f"parse {quoted(text)}: {problem}" if problem else ""


def _url_problem(text: str) -> str:
    if _CONTROL.search(text):
        return "net/url: invalid control character in URL"
    scheme = _SCHEME.match(text)
    if scheme and not scheme[1]:
        return "missing protocol scheme"
    rest = text[scheme.end() if scheme else 0 :].partition("?")[0]
    if not rest.startswith("/"):
        return "" if scheme or text == "*" else "invalid URI for request"
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        return _authority_problem(authority) or _escape_problem(_BAD_ESCAPE, slash + path)
    return _escape_problem(_BAD_ESCAPE, rest)


def _authority_problem(authority: str) -> str:
    user, _, host = authority.rpartition("@")
    if problem := _host_problem(host):
        return problem
    return _escape_problem(_BAD_ESCAPE, user) if _USER.fullmatch(user) else "net/url: invalid userinfo"


def _host_problem(host: str) -> str:
    name, bracket, port = host.rpartition("]") if host.startswith("[") else host.rpartition(":")
    if host.startswith("[") and not bracket:
        return "missing ']' in host"
    port = f":{port}" if bracket == ":" else port if bracket else ""
    if not _PORT.fullmatch(port):
        return f"invalid port {quoted(port)} after host"
    if problem := _escape_problem(_BAD_HOST_ESCAPE, name or host):
        return problem
    wrong = _NOT_IN_HOST.search(host)
    return f"invalid character {quoted(wrong[0])} in host name" if wrong else ""


def _escape_problem(bad: re.Pattern[str], text: str) -> str:
    found = bad.search(text)
    return f"invalid URL escape {quoted(found[0])}" if found else ""


_LETTER: Final = r"[^\x00-\x20()<>\[\]:;@\\,.\"\x7f]"
_WORD: Final = re.compile(rf"(?:{_LETTER}|\.)+")
_ATOM: Final = rf"{_LETTER}+(?:\.{_LETTER}+)*(?!{_WORD.pattern})"
_QUOTED: Final = r'"(?:[^"\\\r\n]|\\.)*"'
_ADDRESS: Final = re.compile(rf"(?:{_ATOM}|{_QUOTED})@[ \t]*(?:{_ATOM}|\[[^\]\[\\\s]*\])")
_PHRASE: Final = re.compile(rf"(?:(?:{_QUOTED}|{_WORD.pattern})[ \t]*)+")
_COMMENTS: Final = re.compile(r"(?:[ \t]|\([^()]*\))*")


def why_no_email(text: str) -> str:
    """Why a text is no address of one person, with or without a name; empty when it is one."""
    rest = text.lstrip(" \t")
    if not rest:
        return "mail: no address"
    if found := _ADDRESS.match(rest):
        return _why_not_one(rest[found.end() :])
    phrase = _PHRASE.match(rest)
    if phrase is None and not rest.startswith("<"):
        return "mail: missing word in phrase: mail: invalid string"
    rest = rest[phrase.end() if phrase else 0 :]
    if rest.startswith(":"):
        return why_no_email(rest[1:]) or "mail: expected comma"
    if phrase and not rest.startswith("<"):
        is_word = _WORD.fullmatch(phrase[0].rstrip(" \t"))
        return "mail: missing '@' or angle-addr" if is_word else "mail: no angle-addr"
    found = _ADDRESS.match(rest, 1)
    if found is None:
        return "mail: missing @ in addr-spec"
    return _why_not_one(rest[found.end() + 1 :]) if rest[found.end() :][:1] == ">" else "mail: unclosed angle-addr"


def _why_not_one(rest: str) -> str:
    more = _COMMENTS.sub("", rest, count=1)
    return f"mail: expected single address, got {quoted(more)}" if more else ""
