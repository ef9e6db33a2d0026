"""Shows advised commands with the options that lead to the cluster, the capture or the files of this verb."""

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
_ON_FILES = ("olmf resolve", "olmf explain", "olmf plan")
"""The verbs that answer from files with catalogs, too."""
_ON_CAPTURE = (*_ON_FILES, "olmf why")
"""Those that answer from a capture, too."""
_STDIN = "-"


def lead_to_cluster(olmf: Sequence[str] = (), kubectl: Sequence[str] = ()) -> None:
    """From now on commands are for the cluster that these options lead to; none where they find it without."""
    _OPTIONS.set({"olmf": tuple(olmf), "kubectl": tuple(kubectl)})


def lead_to_files(path: str, catalogs: Sequence[str] = (), *, is_capture: bool = False) -> None:
    """From now on commands are for these objects and catalogs; those that need a cluster are left as they are."""
    objects = ("--from", "FILE" if path == _STDIN else path)  # what was piped in once has to be named
    words = (*objects, *(word for one in catalogs for word in ("--catalog", one)))
    verbs = _ON_CAPTURE if is_capture else _ON_FILES
    _OPTIONS.set({verb: words if verb in _ON_FILES else objects for verb in verbs})


def shown(command: Command | str) -> str:
    """The text of a command with these options; an edit in words as it is."""
    return command.text(_OPTIONS.get()) if isinstance(command, Command) else command


def quoted(command: Command) -> str:
    """The same between backticks, for a sentence."""
    return f"`{shown(command)}`"


def marked(what: Command | str) -> str:
    """What to do, in a sentence: a command between backticks, an edit in words as it is."""
    return quoted(what) if isinstance(what, Command) else what


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
