"""Finds what import rules cannot see in pure code: imports off an allow-list, calls that read the world."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from tests.architecture.parsed import syntax

ALLOWED = {
    "__future__", "base64", "binascii", "bisect", "cel_expr_python", "collections", "copy",
    "dataclasses", "datetime", "decimal", "difflib", "enum", "fractions",
    "functools", "gzip", "hashlib", "heapq", "io", "ipaddress", "itertools", "json", "math", "msgspec", "operator",
    "orjson", "pydantic", "pysat", "re", "semver", "shared", "string", "struct", "textwrap",
    "types", "typing", "unicodedata", "yaml", "zlib",
}  # fmt: skip
"""Packages that the domain may import."""
ALLOWED_TO_DECIDE = frozenset(ALLOWED - {"shared"}) | {
    "eventing.diagnosis.status", "shared.api", "shared.domain", "shared.kinds", "shared.names",
}  # fmt: skip
"""Packages that the decider of `olmf list` may import."""

IMPURE_CALLS = {
    "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "open", "input", "print", "uuid.uuid4",
    "time.time", "exec", "eval", "breakpoint",
}  # fmt: skip


def impurities(source: str, allowed: Collection[str] = ALLOWED) -> list[str]:
    """Sentences, one per offence, in line order; what only the type checker imports does not count."""
    found = []
    for node in _running(syntax(source)):
        match node:
            case ast.Import(names=aliases):
                modules = [alias.name for alias in aliases]
            case ast.ImportFrom(module="shared", names=aliases, level=0):
                modules = [f"shared.{alias.name}" for alias in aliases]
            case ast.ImportFrom(module=str(module), level=0):
                modules = [module]
            case ast.Call(func=function) if (called := ast.unparse(function)) in IMPURE_CALLS:
                found.append((node.lineno, f"line {node.lineno}: calls {called}()"))
                continue
            case _:
                continue
        outside = [module for module in modules if not any(f"{module}.".startswith(f"{one}.") for one in allowed)]
        found += [(node.lineno, f"line {node.lineno}: imports {module}") for module in outside]
    return [sentence for _, sentence in sorted(found)]


def _running(tree: ast.Module) -> Iterator[ast.AST]:
    """Every node but those that run for the type checker only."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            waiting += ast.iter_child_nodes(node)
