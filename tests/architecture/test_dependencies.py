"""What the project declares it needs is what its programs import, and nothing that only developers install."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.parsed import nodes, syntax

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OURS = ("functions", "shared", "eventing")
BROUGHT = {"multidict": "aiohttp", "starlette": "functions-framework", "uvicorn": "functions-framework"}
"""Imported, and a part of what the dependency offers."""
OF_GOOGLE = {"googleapis-common-protos"}
"""What the extra `otel` brings into the package of protobuf. All of OpenTelemetry is in one package, too, so that an
import of it names every distribution."""


def declared(requirements: list[str]) -> set[str]:
    """The names of the distributions that this Python needs."""
    read = map(Requirement, requirements)
    return {canonicalize_name(one.name) for one in read if one.marker is None or one.marker.evaluate()}


def imported(root: Path) -> set[str]:
    """The distributions that the code below a folder imports, wherever it does."""
    providers = packages_distributions()
    names = {name for path in root.rglob("*.py") for name in _modules(syntax(path.read_text()))}
    return {canonicalize_name(one) for name in names for one in providers.get(name.partition(".")[0], ())}


def _modules(tree: ast.Module) -> Iterator[str]:
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_what_the_project_needs_is_installed() -> None:
    """After a change of `requirements.lock`, `make setup` installs what is new."""
    there = {canonicalize_name(one) for found in packages_distributions().values() for one in found}
    assert sorted(declared(PROJECT["dependencies"]) - there) == [], "make setup"


def test_every_dependency_is_imported_and_every_import_is_a_dependency() -> None:
    found = set.union(*(imported(ROOT / name) for name in OURS)) - {"olm-functions"}
    optional = {one for one in found if one.startswith("opentelemetry-") or one in OF_GOOGLE}
    assert found - set(BROUGHT) - optional == declared(PROJECT["dependencies"])
    assert optional >= declared(PROJECT["optional-dependencies"]["otel"])


def test_the_check_bites(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    from prometheus_client.parser import x\n    import yaml._yaml\n")
    assert imported(tmp_path) >= {"pyyaml"}
    assert declared(["Py_YAML>=1", "a; python_version < '3'"]) == {"py-yaml"}
