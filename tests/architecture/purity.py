"""Finds what import rules cannot see in `shared/domain`: imports off an allow-list, calls that read the world."""

from __future__ import annotations

import ast

ALLOWED = {
    "__future__", "base64", "binascii", "bisect", "cel_expr_python", "collections", "copy",
    "dataclasses", "datetime", "decimal", "difflib", "enum", "fractions",
    "functools", "gzip", "hashlib", "heapq", "io", "ipaddress", "itertools", "json", "math", "msgspec", "operator",
    "orjson", "pydantic", "pysat", "re", "semver", "shared", "string", "struct", "textwrap",
    "types", "typing", "unicodedata", "yaml", "zlib",
}  # fmt: skip
"""Top-level packages that the domain may import."""

IMPURE_CALLS = {
    "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "open", "input", "print", "uuid.uuid4",
    "time.time", "exec", "eval", "breakpoint",
}  # fmt: skip


def impurities(source: str) -> list[str]:
    """Sentences, one per offence, in line order."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=aliases):
                modules = [alias.name for alias in aliases]
            case ast.ImportFrom(module=str(module), level=0):
                modules = [module]
            case ast.Call(func=function) if (called := ast.unparse(function)) in IMPURE_CALLS:
                found.append((node.lineno, f"line {node.lineno}: calls {called}()"))
                continue
            case _:
                continue
        outside = [module for module in modules if module.partition(".")[0] not in ALLOWED]
        found += [(node.lineno, f"line {node.lineno}: imports {module}") for module in outside]
    return [sentence for _, sentence in sorted(found)]
