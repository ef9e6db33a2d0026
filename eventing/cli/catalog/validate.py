"""`olmf catalog validate`: whether catalogs follow the rules, and where they do not."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.failure import NEGATIVE, USAGE, CliError

if TYPE_CHECKING:
    from shared.domain.catalog.verdict import Verdict

PathsArgument = Annotated[list[str], typer.Argument(metavar="PATH…", help="Folders, files, images, or - for stdin.")]
FormatOption = Annotated[str, typer.Option("-o", "--output", help="text or json.")]


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(validate)


def validate(paths: PathsArgument, output: FormatOption = "text") -> None:
    """Judge catalogs one by one; the exit code is 0 when all of them are valid."""
    from shared.adapters.files import judge

    if output not in _FORMS:
        raise CliError(f"-o {output}: wanted text or json", USAGE)
    verdicts = [(path, judge(path)) for path in paths]
    _FORMS[output](verdicts)
    if not all(verdict.ok for _, verdict in verdicts):
        raise typer.Exit(NEGATIVE)


def _as_json(verdicts: Sequence[tuple[str, Verdict]]) -> None:
    import orjson

    rows = [
        {
            "path": path,
            "ok": verdict.ok,
            "errors": [
                {
                    "message": one.message,
                    "file": one.place.file,
                    "document": one.place.document,
                    "line": one.place.line,
                    "path": list(one.path),
                }
                for one in verdict.findings
            ],
        }
        for path, verdict in verdicts
    ]
    sys.stdout.write(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode() + "\n")


def _as_text(verdicts: Sequence[tuple[str, Verdict]]) -> None:
    for path, verdict in verdicts:
        if not verdict.ok:
            heading = f"{path}:\n" if len(verdicts) > 1 else ""
            sys.stderr.write(f"{heading}{verdict.text()}\n")


_FORMS = {"text": _as_text, "json": _as_json}
