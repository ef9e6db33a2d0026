"""What libyaml tells of a text: its events, and the line of an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml
from yaml._yaml import CParser


def events(text: str) -> Iterator[Any]:
    """The events of a text, and None for ever after the last."""
    parser = CParser(text)
    while True:
        yield parser.get_event()


def go_line(error: yaml.MarkedYAMLError) -> int:
    """The line in a message of Go, counted from 0 where the grammar is broken, from 1 where a character is; 0: none."""
    if error.problem_mark is not None and error.problem_mark.line:
        return error.problem_mark.line + isinstance(error, yaml.scanner.ScannerError)
    return error.context_mark.line if error.context_mark is not None else 0
