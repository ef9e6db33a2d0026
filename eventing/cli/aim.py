"""Adds to the commands that a verb prints for which cluster or capture they are, as far as its user said so."""

from __future__ import annotations

import re
from contextvars import ContextVar
from dataclasses import dataclass

_ABOUT_A_CLUSTER = (
    "install", "uninstall", "upgrade", "approve", "hold", "list", "status", "resolve", "explain", "upgrades",
    "versions", "why", "capture", r"queue \w+", r"events \w+",
)  # fmt: skip
_OLMF = re.compile(rf"\bolmf (?:{'|'.join(_ABOUT_A_CLUSTER)})\b(?! --(?:state|kubeconfig)\b)")
_ON_CAPTURE = re.compile(r"\bolmf (?:resolve|explain|why)\b(?! --from\b)")
_KUBECTL = re.compile(r"\bkubectl(?= [a-z-])(?! --kubeconfig\b)")


@dataclass(frozen=True, slots=True)
class Aim:
    """The options that lead to the cluster or capture of this verb; empty where a command finds it without them."""

    olmf: str = ""
    kubectl: str = ""
    capture: str = ""
    """The option that leads to the capture of this verb; commands for a cluster are left as they are."""


_AIM: ContextVar[Aim] = ContextVar("aim", default=Aim())  # noqa: B039  # why: frozen


def take(aim: Aim) -> None:
    """From now on commands are for this cluster or capture."""
    _AIM.set(aim)


def aimed(text: str) -> str:
    """The text, its commands with their cluster; a command that has one keeps it."""
    aim = _AIM.get()
    for command, options in ((_OLMF, aim.olmf), (_KUBECTL, aim.kubectl), (_ON_CAPTURE, aim.capture)):
        plain = options.replace("\\", r"\\")
        text = command.sub(rf"\g<0> {plain}", text) if options else text
    return text


def aimed_in(value: object) -> object:
    """A value as JSON has them, with each of its texts aimed."""
    match value:
        case str():
            return aimed(value)
        case dict():
            return {key: aimed_in(each) for key, each in value.items()}
        case list() | tuple():
            return [aimed_in(each) for each in value]
    return value
