"""Shows advised commands with the options that lead to the cluster or capture of this verb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any

from shared.domain.command import Command, Fix

Options = Mapping[str, Sequence[str]]
"""The words to append, by program or by program and verb."""
_OPTIONS: ContextVar[Options] = ContextVar("options", default=MappingProxyType({}))  # why: read-only
_ON_CAPTURE = ("olmf resolve", "olmf explain", "olmf why")
"""The verbs that answer from a capture, too."""


def lead_to_cluster(olmf: Sequence[str] = (), kubectl: Sequence[str] = ()) -> None:
    """From now on commands are for the cluster that these options lead to; none where they find it without."""
    _OPTIONS.set({"olmf": tuple(olmf), "kubectl": tuple(kubectl)})


def lead_to_capture(path: str) -> None:
    """From now on commands are for this capture; those that need a cluster are left as they are."""
    _OPTIONS.set(dict.fromkeys(_ON_CAPTURE, ("--from", path)))


def shown(command: Command | str) -> str:
    """The text of a command with these options; an edit in words as it is."""
    return command.text(_OPTIONS.get()) if isinstance(command, Command) else command


def quoted(command: Command) -> str:
    """The same between backticks, for a sentence."""
    return f"`{shown(command)}`"


def fix_text(fix: Fix) -> str:
    """A fix in a sentence."""
    return f"{fix.what}: {quoted(fix.command)}" if fix.command else fix.what


def fix_value(fix: Fix) -> dict[str, str]:
    """A fix as JSON; `do` is empty where it is no command."""
    return {"what": fix.what, "do": shown(fix.command) if fix.command else ""}


def values(value: Any) -> Any:
    """A value made of dataclasses as JSON has them, with its commands shown."""
    match value:
        case Command():
            return shown(value)
        case Mapping():
            return {key: values(each) for key, each in value.items()}
        case list() | tuple():
            return [values(each) for each in value]
    if is_dataclass(value):
        return {field.name: values(getattr(value, field.name)) for field in fields(value)}
    return value
