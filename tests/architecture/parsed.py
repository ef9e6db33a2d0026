"""The modules of a tree and their syntax, parsed once for all checks: nobody changes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TOPS = ("functions", "shared", "eventing")


@cache
def syntax(source: str) -> ast.Module:
    """What a module says."""
    return ast.parse(source)


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All of it, as `ast.walk` goes through it: to go that way takes longer than to parse."""
    return tuple(ast.walk(tree))


def modules(root: Path, *, with_generated: bool = True) -> Iterator[tuple[str, Path]]:
    """The modules below a folder by their dotted names, a package by its own."""
    for top in TOPS:
        for path in sorted((root / top).rglob("*.py")):
            if with_generated or not path.stem.endswith("_pb2"):
                yield ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"), path
