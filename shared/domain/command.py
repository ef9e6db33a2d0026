"""A command line that is advised, as a value: one place shows it, with the options that lead to a cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
"""Words that a shell takes as they are."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line; its text without options is for the cluster that the reader's shell knows."""

    words: tuple[str, ...]
    """The program first."""
    stdin: str = ""
    """What is piped into it."""

    def text(self, options: Mapping[str, Sequence[str]] | None = None) -> str:
        """The line, quoted for a shell; `options` are words to append, by program or by program and verb."""
        more = options or {}
        found = more.get(" ".join(self.words[:2]), more.get(self.words[0], ()))
        line = " ".join(map(_quoted, (*self.words, *found)))
        return f"echo {_quoted(self.stdin)} | {line}" if self.stdin else line

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True, slots=True)
class Fix:
    """Something to change, and the command that changes it, where there is one."""

    what: str
    command: Command | None = None


def olmf(*words: str, namespace: str = "") -> Command:
    """A verb of our command line about a cluster."""
    return Command(("olmf", *words, *(("-n", namespace) if namespace else ())))


def kubectl(*words: str, namespace: str = "", stdin: str = "") -> Command:
    """A command of kubectl."""
    return Command(("kubectl", *(("-n", namespace) if namespace else ()), *words), stdin)


def _quoted(word: str) -> str:
    return word if _PLAIN.fullmatch(word) else "'" + word.replace("'", "'\"'\"'") + "'"
