"""Finds private words in the names of modules, classes, functions, arguments and variables."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.architecture.parsed import nodes, syntax

DENIED: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("ring", "rings", "rang", "rung", "nudge", "nudged", "poke", "bell", "hopeful"), "enqueue, notify, retry"
    ),
    **dict.fromkeys(("scene", "sight", "standing"), "snapshot, inputs, status"),
    **dict.fromkeys(("verdict", "verdicts"), "result, report, summary"),
    **dict.fromkeys(
        ("told", "untold", "tell", "tells", "say", "says", "said", "spoken", "spelled"), "message, summary, log"
    ),
    **dict.fromkeys(("shelf", "shelves", "market"), "catalog, cache"),
    **dict.fromkeys(("pose", "posed", "ill", "question", "questions"), "request, constraints"),
    **dict.fromkeys(("census", "pulse", "excuse"), "metrics, health"),
    **dict.fromkeys(("remedy", "remedies", "wayout"), "fix"),
    **dict.fromkeys(("wish", "wishes", "wanted", "stated", "given"), "request, options, arguments; what the value is"),
    **dict.fromkeys(("promise", "promised"), "expected"),
    **dict.fromkeys(
        ("barred", "expelled", "unsuited", "outgrown", "astray", "carefree", "doomed"),
        "not admitted, outdated, to delete",
    ),
    **dict.fromkeys(("held",), "owned, stored, kept; `hold` is what a user asks for"),
    **dict.fromkeys(("crowded", "gathering", "settling", "news"), "high cardinality, debounce, absent, notifications"),
    **dict.fromkeys(("lifeline", "likeness", "captured"), "parent watch, similarity, capture"),
    **dict.fromkeys(("rights", "heir", "heirs", "rival", "rivals"), "permissions, successors, conflicting"),
    **dict.fromkeys(("home", "homes", "beside"), "namespace, origin, siblings"),
    "dice": "random",
}
"""A word of ours that Kubernetes, OLM, CloudEvents and RQ do not know, to the words that they have for it."""

LEGITIMATE: Final = frozenset(
    {
        "given_up", "is_given_up",  # as OLM gives up a resolution or a plan
        "why_held", "held",  # the condition `Held` and the annotation olmf.io/hold of users
        "wanted_replicas",  # of a Deployment, beside the ready ones
    }
)  # fmt: skip
"""Names with such a word that mean what everybody means by it, without `_` before them, in small letters."""
LEGITIMATE_IN: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("eventing/", "shared/adapters/"), frozenset({"home", "tell"})),  # a user's; the position in a file
}
"""The same in one folder alone."""


def private_words(source: str, path: str) -> Iterator[tuple[int, str]]:
    """Line and name of each identifier with a denied word; the module's own name is at line 0."""
    known = LEGITIMATE.union(*(names for folder, names in LEGITIMATE_IN.items() if path.startswith(folder)))
    module = path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2]
    for line, name in ((0, module), *_identifiers(syntax(source))):
        if name.strip("_").lower() not in known and not DENIED.keys().isdisjoint(words_of(name)):
            yield line, name


def words_of(name: str) -> list[str]:
    """`is_wayOut_HELD` → is, way, out, held."""
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return [word.lower() for word in parted.split("_") if word]


def _identifiers(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in nodes(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                yield node.lineno, name
            case ast.alias(asname=str(name)):
                yield node.lineno, name


def modules(root: Path, folders: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Path and source of every module of these folders."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            if not path.name.endswith("_pb2.py"):
                yield path.relative_to(root).as_posix(), path.read_text()
