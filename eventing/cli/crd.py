"""Whether a new edition of a CustomResourceDefinition is safe: `crd diff`."""

from __future__ import annotations

import enum
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError

if TYPE_CHECKING:
    from shared.domain.extension.crd_safety.upgrade import Problem


class Form(enum.StrEnum):
    """How findings are told."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


def register(app: typer.Typer) -> None:
    """Add the group of verbs."""
    group = typer.Typer(name="crd", help="CustomResourceDefinitions and what may change in them.", no_args_is_help=True)
    group.command()(diff)
    group.callback()(lambda: None)
    app.add_typer(group)


def diff(
    old: Annotated[str | None, typer.Argument(help="A file or folder of manifests, as they are now.")] = None,
    new: Annotated[str | None, typer.Argument(help="The same, as they shall be.")] = None,
    *,
    form: Annotated[Form, typer.Option("--output", "-o", help="Text, JSON, or SARIF for code review.")] = Form.TEXT,
    waive: Annotated[
        list[str] | None, typer.Option(help="A check that shall not count, e.g. enum; repeatable.")
    ] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="Read questions from stdin, one JSON object a line; answer in their order.")
    ] = False,
) -> None:
    """Say what stored objects and clients would suffer from new CustomResourceDefinitions.

    Exit code 0: nothing; 1: something. With --batch a line is {"id", "old", "new"}, its answer {"id", "safe",
    "checks": [[version or "a -> b", path, check]…], "messages": […]}.
    """
    from shared.domain.extension.crd_safety.question import answered

    if batch:
        from eventing.cli.lines import answer_lines

        answer_lines(answered)
        return
    if old is None or new is None:
        raise CliError("crd diff: give OLD NEW, or --batch and questions on stdin", USAGE)
    found = _compared(_definitions(old), _definitions(new), frozenset(waive or ()))
    _tell(found, form)
    if any(problems for problems in found.values()):
        raise typer.Exit(NEGATIVE)


def _compared(
    old: dict[str, dict[str, Any]], new: dict[str, dict[str, Any]], waived: frozenset[str]
) -> dict[str, list[Problem]]:
    """The problems of each definition that both sides have."""
    from shared.domain.extension.crd_safety.upgrade import problems

    return {
        name: [one for one in problems(old[name], new[name]) if one.finding.check not in waived]
        for name in sorted(old.keys() & new.keys())
    }


def _definitions(path: str) -> dict[str, dict[str, Any]]:
    """Every CustomResourceDefinition below a path, by name."""
    from shared.domain.gostream import parts

    found: dict[str, dict[str, Any]] = {}
    try:
        for file in _files(Path(path)):
            for part in parts(file.read_bytes()):
                if part.error:
                    raise CliError(f"{file}, document {part.number}: {part.error}", UNKNOWN)
                if isinstance(part.value, dict) and part.value.get("kind") == "CustomResourceDefinition":
                    found[str((part.value.get("metadata") or {}).get("name"))] = part.value
    except OSError as error:
        raise CliError(f"{path} cannot be read: {error}", UNKNOWN) from error
    if not found:
        raise CliError(f"{path} holds no CustomResourceDefinition", UNKNOWN)
    return found


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(one for one in path.rglob("*") if one.suffix in (".yaml", ".yml", ".json"))
    return [path]


def _tell(found: dict[str, list[Problem]], form: Form) -> None:
    from shared.domain.extension.crd_safety import report

    told = {Form.TEXT: report.as_text, Form.JSON: report.as_json, Form.SARIF: report.as_sarif}
    sys.stdout.write(told[form](found))
