"""Checks addresses of web pages and of people, with the messages of Go (fbc.md §11.6, OperatorHubV2)."""

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
    """Why a text is neither a URL nor a path; empty when it is one."""
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
_ATOM: Final = rf"{_LETTER}++(?:\.{_LETTER}++)*(?!{_LETTER}|\.)"
_QUOTED: Final = r'"(?:[^"\\\r\n]|\\.)*"'
_ADDRESS: Final = re.compile(rf"(?:{_ATOM}|{_QUOTED})@[ \t]*(?:{_ATOM}|\[[^\]\[\\\s]*\])")
_PHRASE: Final = re.compile(rf"(?:(?:{_QUOTED}|{_LETTER}++|\.)[ \t]*+)+")
_GROUP: Final = re.compile(rf"{_PHRASE.pattern}:")
"""The name of a group of addresses; a group of one address is taken for that address."""
_COMMENTS: Final = re.compile(r"(?:[ \t]|\([^()]*\))*")


def why_no_email(text: str) -> str:
    """Why a text is not the address of one person, with or without a name; empty when it is one."""
    text = text.lstrip(" \t")
    if _ADDRESS.match(text) is None and (group := _GROUP.match(text)):
        problem, rest = _mailbox(text[group.end() :].lstrip(" \t"))
        return problem or ("" if rest == ";" else "mail: expected comma")
    problem, rest = _mailbox(text)
    return problem or (f"mail: expected single address, got {quoted(rest)}" if rest else "")


def _mailbox(text: str) -> tuple[str, str]:
    """Why a text does not begin with the address of one person; and what follows the address."""
    if not text:
        return "mail: no address", ""
    if found := _ADDRESS.match(text):
        return "", _COMMENTS.sub("", text[found.end() :], count=1)
    phrase = _PHRASE.match(text)
    if phrase is None and not text.startswith("<"):
        return "mail: missing word in phrase: mail: invalid string", ""
    rest = text[phrase.end() if phrase else 0 :]
    if phrase and not rest.startswith("<"):
        is_word = _WORD.fullmatch(phrase[0].rstrip(" \t"))
        return "mail: missing '@' or angle-addr" if is_word else "mail: no angle-addr", ""
    found = _ADDRESS.match(rest, 1)
    if found is None:
        return "mail: missing @ in addr-spec", ""
    if not rest.startswith(">", found.end()):
        return "mail: unclosed angle-addr", ""
    return "", _COMMENTS.sub("", rest[found.end() + 1 :], count=1)
