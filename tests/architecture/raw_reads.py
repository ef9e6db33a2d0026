"""Finds fields of objects that are read without a view: `.get("…")` with the name of a field."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.parsed import nodes, syntax


def raw_reads(source: str) -> Iterator[int]:
    """The lines of a module in which a dictionary is asked for a key that is spelled out."""
    for node in nodes(syntax(source)):
        match node:
            case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str()), *_]):
                yield node.lineno
