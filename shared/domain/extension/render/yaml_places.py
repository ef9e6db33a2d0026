"""Where YAML cannot be read, in the words of the library that OLM v1 reads it with."""

from __future__ import annotations

import re
from typing import Final

import yaml

from shared.domain.go import stream as gostream
from shared.domain.go import yaml as goyaml

_SEPARATOR: Final = re.compile(rb"^---[^\n]*\n?", re.MULTILINE)


def told(error: goyaml.YamlError) -> str:
    """A refusal with its line.

    The library counts from 0 where the grammar is broken and from 1 where a character is, and never names line 0.
    """
    cause = error.__cause__
    if not isinstance(cause, yaml.MarkedYAMLError):
        return error.told
    if cause.problem_mark is not None and cause.problem_mark.line:
        line = cause.problem_mark.line + isinstance(cause, yaml.scanner.ScannerError)
    else:
        line = cause.context_mark.line if cause.context_mark is not None else 0
    return error.told.replace("yaml: ", f"yaml: line {line}: ", 1) if line else error.told


def told_with_line(content: bytes, part: gostream.Part) -> str:
    """Why a document of a file cannot be read, with the line inside the document."""
    # A separator that begins the file counts as a line of its first document.
    starts = [match.end() for match in _SEPARATOR.finditer(content, 1) if match.end() <= part.offset]
    start = starts[-1] if starts else 0
    end = _SEPARATOR.search(content, start + 1)
    try:
        goyaml.document(content[start : end.start() if end else len(content)])
    except goyaml.YamlError as error:
        return part.error.replace(error.told, told(error))
    return part.error
