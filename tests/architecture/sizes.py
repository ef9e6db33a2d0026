"""Measures modules and functions against the ceilings of the project."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.architecture.parsed import nodes, syntax

MODULE, FUNCTION, STEP, PARAMETERS = 300, 40, 80, 4


def excesses(path: Path, source: str) -> list[str]:
    """Sentences, one per ceiling that a module exceeds; a `# why:` in the line of a `def` excuses that function."""
    lines = source.splitlines()
    limit = STEP if path.parts[0] == "functions" and path.name != "__init__.py" else MODULE
    found = [f"{path}: {len(lines)} lines (at most {limit})"] if len(lines) > limit else []
    tree = syntax(source)
    if lines and not ast.get_docstring(tree):
        found.append(f"{path}: does not open with a sentence")
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "# why:" not in lines[node.lineno - 1]:
            found += _of_function(path, node)
    return found


def _of_function(path: Path, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    size = (node.end_lineno or node.lineno) - node.lineno + 1
    positional = [*node.args.posonlyargs, *node.args.args]
    own = [argument for argument in positional if argument.arg not in ("self", "cls")]
    is_step = path.parts[0] == "functions" and node.name == path.stem  # its parameters are its ports
    found = []
    if size > FUNCTION:
        found.append(f"{path}:{node.lineno} {node.name}: {size} lines (at most {FUNCTION})")
    if len(own) > PARAMETERS and not is_step:
        found.append(f"{path}:{node.lineno} {node.name}: {len(own)} positional parameters (at most {PARAMETERS})")
    return found
