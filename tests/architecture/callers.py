"""Finds what nothing of the programs uses: names of modules that cannot be reached from steps, verbs and programs."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from tests.architecture.parsed import modules, nodes, syntax

Name: TypeAlias = tuple[str, str]
"""A module, and a name that it defines; `*` stands for all of them."""
_DOTTED = re.compile(r"[a-z_0-9]+(?:\.\w+)+")
_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Tree:
    """The modules of a source tree, their definitions and imports."""

    def __init__(self, trees: Mapping[str, ast.Module]) -> None:
        self.modules = trees
        self._defined = {name: _defined(tree) for name, tree in trees.items()}
        self._imports = {name: self._imported(tree) for name, tree in trees.items()}

    def unused(self, roots: Iterator[Name]) -> list[str]:
        """`module.name` of whatever the roots do not reach, sorted; imports alone use nothing."""
        reached: set[Name] = set()
        waiting = list(roots)
        while waiting:
            if (one := waiting.pop()) not in reached:
                reached.add(one)
                waiting += self._uses(*one)
        names = {(module, name) for module, defined in self._defined.items() for name in defined}
        return sorted(".".join(one) for one in names - reached if one[1] not in _OF_THE_LANGUAGE)

    def _uses(self, module: str, name: str) -> Iterator[Name]:
        if module not in self.modules:
            return
        if not name:
            yield from self._when_imported(module)
            return
        yield module, ""
        if name == "*":
            yield from ((module, each) for each in self._defined[module])
        for node in self._defined[module].get(name, ()):
            yield from self._named_in(module, node)

    def _when_imported(self, module: str) -> Iterator[Name]:
        """What the import itself runs: statements and decorators; and the package that it is in."""
        for node in self.modules[module].body:
            run = node.decorator_list if isinstance(node, _DEFINITIONS) else [node]
            for each in run if not isinstance(node, ast.Assign | ast.AnnAssign) else ():
                yield from self._named_in(module, each)
        if (package := module.rpartition(".")[0]) in self.modules:
            yield package, ""

    def _named_in(self, module: str, node: ast.AST) -> Iterator[Name]:
        waiting = [node]
        while waiting:
            each = waiting.pop()
            if words := _words(each):
                yield from self._resolved(module, words)
            if words or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)):  # or documentation
                continue
            waiting += ast.iter_child_nodes(each)
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                for word in _DOTTED.findall(each.value):  # loaded by name
                    owner, _, name = word.rpartition(".")
                    yield from [(word, "*")] if word in self.modules else [(owner, name)]

    def _resolved(self, module: str, words: list[str]) -> Iterator[Name]:
        """What `name` or `module.name` means; a module that is passed on as a value is used whole."""
        name, *rest = words
        if name in self._defined[module]:
            yield module, name
        for imported in self._imports[module][name]:
            yield from self._imported_as(imported, rest, module)

    def _imported_as(self, what: str, rest: list[str], module: str) -> Iterator[Name]:
        while rest and f"{what}.{rest[0]}" in self.modules:
            what, *rest = f"{what}.{rest[0]}", *rest[1:]
        if what not in self.modules:
            owner, _, name = what.rpartition(".")
            yield from self._resolved(owner, [name]) if owner in self.modules and owner != module else ()
        elif rest:
            yield from self._resolved(what, rest[:1])
        else:
            yield what, "*"

    def _imported(self, tree: ast.Module) -> defaultdict[str, set[str]]:
        """Local names, and what they may stand for: a module, or `module.name`."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for node in nodes(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    found[alias.asname or alias.name].add(f"{node.module}.{alias.name}")
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    bound = alias.name if alias.asname else alias.name.partition(".")[0]
                    found[alias.asname or bound].add(bound)
        return found


def _words(node: ast.AST) -> list[str]:
    """`a.b.c` as a list; empty for anything else."""
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.insert(0, node.attr)
        node = node.value
    return [node.id, *words] if isinstance(node, ast.Name) else []


_OF_THE_LANGUAGE = {"__all__", "__getattr__", "_HOMES", "log"}


def _defined(tree: ast.Module) -> dict[str, list[ast.AST]]:
    """What a module defines at its top, by name."""
    found: defaultdict[str, list[ast.AST]] = defaultdict(list)
    for node in tree.body:
        if isinstance(node, _DEFINITIONS):
            found[node.name].append(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for each in (one for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)):
                found[each.id].append(node)
    return dict(found)


def trees(root: Path) -> dict[str, ast.Module]:
    """The modules below a folder, without generated ones."""
    return {name: syntax(path.read_text()) for name, path in modules(root, with_generated=False)}


def roots(trees: Mapping[str, ast.Module]) -> Iterator[Name]:
    """Steps, which the runner loads by name; verbs, which register themselves; programs."""
    for module, tree in trees.items():
        words = module.split(".")
        if words[0] == "functions" and len(words) == 3:
            yield module, words[2]
        if module.startswith("eventing.cli."):
            yield from ((module, name) for name in ("main", "app", "register"))
        if any(isinstance(node, ast.If) and "__main__" in ast.unparse(node.test) for node in tree.body):
            yield module, "*"
