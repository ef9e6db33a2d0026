"""Finds texts that are made of parts with nothing but a separator between them: lists, keys, selectors, paths."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.architecture.parsed import nodes, syntax

SEPARATOR = re.compile(r"[^\w\s(){}\[\]'\"`]{1,2}|\x00|\n")
"""What may stand between the parts of a list or a key. Sentences have blanks."""


def lists(source: str) -> Iterator[int]:
    """The lines of a module in which a list is made that has a comma, or the like, between its items."""
    for node in nodes(syntax(source)):
        match node:
            case ast.Call(func=ast.Attribute(attr="join", value=ast.Constant(value="," | ";" | "|" | "\0"))):
                yield node.lineno


def joins(source: str) -> Iterator[int]:
    """The lines of a module in which parts are joined by a separator alone."""
    for node in nodes(syntax(source)):
        match node:
            case ast.Call(func=ast.Attribute(attr="join", value=ast.Constant(value=str() | bytes() as between))):
                text = between if isinstance(between, str) else between.decode()
                is_found = bool(SEPARATOR.fullmatch(text))
            case ast.JoinedStr(values=parts):
                texts = [str(one.value) for one in parts if isinstance(one, ast.Constant)]
                is_found = len(parts) - len(texts) > 1 and bool(texts) and all(map(SEPARATOR.fullmatch, texts))
            case _:
                continue
        if is_found:
            yield node.lineno
