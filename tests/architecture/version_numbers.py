"""Finds resourceVersions that are made numbers of: `int(…)`, `.isdecimal()` and the like of what may be one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.architecture.parsed import nodes, syntax

NAMED = re.compile("resource_?version", re.IGNORECASE)
AMONG = re.compile("version|change", re.IGNORECASE)
"""What may be a resourceVersion in a module that deals with them."""
DEALERS = frozenset(("resource_version_of", "resource_versions", "change_of", "is_newer", "newer", "order_of"))
"""What such a module imports."""
TESTS = ("isdecimal", "isdigit", "isnumeric")


def version_numbers(source: str) -> Iterator[int]:
    """The lines of a module in which a resourceVersion is used as a number."""
    tree = syntax(source)
    imported = {alias.name for node in nodes(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    suspect = AMONG if imported & DEALERS else NAMED
    for node in nodes(tree):
        match node:
            case ast.Call(func=ast.Name(id="int" | "float"), args=[asked, *_]):
                pass
            case ast.Call(func=ast.Attribute(attr=test, value=asked)) if test in TESTS:
                pass
            case _:
                continue
        if suspect.search(ast.unparse(asked)):
            yield node.lineno
