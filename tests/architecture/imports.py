"""The graph of imports: who imports whom, folder by folder, and every circle. `python -m tests.architecture.imports`
prints it."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.architecture.parsed import modules, nodes, syntax

Graph = Mapping[str, frozenset[str]]
"""Of the modules and packages of one folder: a name to the names that it imports."""


def graphs(root: Path) -> dict[str, Graph]:
    """The graph of each folder. Imports inside functions count: they hide a circle, they do not end it."""
    paths = dict(modules(root))
    found: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for module, path in paths.items():
        for imported in _imported(path, paths):
            here, there = _place(module, paths), _place(imported, paths)
            if here != there:
                depth = next(at for at, (one, other) in enumerate(zip(here, there, strict=False)) if one != other)
                found[".".join(here[:depth])][here[depth]].add(there[depth])
    return {folder: {name: frozenset(names) for name, names in graph.items()} for folder, graph in found.items()}


def circles(graph: Graph) -> list[tuple[str, ...]]:
    """Names that reach each other, sorted; none in a graph without circles."""
    reached = {name: _reached(graph, name) for name in graph}
    groups = {frozenset(other for other in reached[name] if name in reached.get(other, ())) for name in graph}
    return sorted(tuple(sorted(group)) for group in groups if group)


def _reached(graph: Graph, start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph.get(waiting.pop(), frozenset()) - found
        found |= new
        waiting += new
    return found


def _imported(path: Path, paths: Mapping[str, Path]) -> Iterator[str]:
    for node in nodes(syntax(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in paths else node.module for name in inside]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name for name in names if name in paths)


def _place(module: str, paths: Mapping[str, Path]) -> tuple[str, ...]:
    """Its folders and its name; the code of a package stands beside its modules."""
    return (*module.split("."), *(["__init__"] if paths[module].name == "__init__.py" else []), "")


def printed(graph: Mapping[str, Graph]) -> str:
    """A folder with its modules and packages, each with what it imports of them."""
    lines = []
    for folder, names in sorted(graph.items()):
        lines.append(f"{folder or 'the tree'}:")
        lines += [f"  {name} → {', '.join(sorted(imported))}" for name, imported in sorted(names.items())]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(printed(graphs(Path(__file__).parents[2])) + "\n")
