"""Prints an answer as a table, JSON or YAML, and objects as manifests, as the option `-o` says."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from eventing.cli.failure import USAGE, CliError
from eventing.cli.visible import visible

_GAP = "   "
_SHORTEST_LAST = 20
"""A last column that is cut keeps at least so many characters."""
_WIDEST = 100
"""No column is padded to more characters: one object with a name without end must not blow up every line."""


def _one_of(*forms: str) -> Callable[[str], str]:
    """A callback of `-o`, which is asked before the verb does anything."""

    def checked(form: str) -> str:
        if form not in forms:
            raise CliError(f"-o {form}: wanted {', '.join(forms[:-1])} or {forms[-1]}", USAGE)
        return form

    return checked


OutputOption = Annotated[
    str, typer.Option("-o", "--output", callback=_one_of("table", "json", "yaml"), help="table, json or yaml.")
]
TextOption = Annotated[
    str, typer.Option("-o", "--output", callback=_one_of("text", "json", "yaml"), help="text, json or yaml.")
]
ReportOption = Annotated[
    str,
    typer.Option(
        "-o", "--output", callback=_one_of("text", "json", "yaml", "markdown"), help="text, json, yaml or markdown."
    ),
]

CaptureOption = Annotated[
    Path | None, typer.Option("--from", metavar="CAPTURE", help="What `olmf capture` wrote, instead of a cluster.")
]


def print_lines(*lines: str) -> None:
    """Write lines to stdout at once."""
    sys.stdout.write("".join(f"{visible(line)}\n" for line in lines))
    sys.stdout.flush()


def show(rows: Sequence[dict[str, object]], output: str, *, columns: Sequence[str]) -> None:
    """Write rows to stdout; the columns are the keys that a table shows, in order."""
    if output == "table":
        table(rows, columns)
    else:
        document(list(rows), output)


def document(value: object, output: str) -> None:
    """Write one value as JSON, or else as YAML."""
    if output == "json":
        sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")
    else:
        yaml.safe_dump(json.loads(json.dumps(value, default=str)), sys.stdout, sort_keys=False)


def table(rows: Sequence[dict[str, object]], columns: Sequence[str], *, screen: int | None = None) -> None:
    """Write aligned columns with a heading, as kubectl does.

    On a terminal (of `screen` columns) the last column is cut to what is left, and others to what is sensible; for
    anybody else nothing is.
    """
    lines = [[heading(column) for column in columns]]
    lines += [[visible(" ".join(str(row.get(column, "")).split())) for column in columns] for row in rows]
    widths = [min(max(len(line[index]) for line in lines), _WIDEST) for index in range(len(columns) - 1)]
    screen = screen or _screen()
    taken = sum(widths) + len(_GAP) * len(widths)
    last = max(screen - taken, _SHORTEST_LAST)
    for *cells, message in lines:
        fitting = [*map(_cut, cells, widths), _cut(message, last)] if screen else [*cells, message]
        padded = [cell.ljust(width) for cell, width in zip(fitting, [*widths, 0], strict=True)]
        sys.stdout.write(_GAP.join(padded).rstrip() + "\n")


def heading(column: str) -> str:
    """The heading of a column, as kubectl writes it: `nextTry` becomes `NEXT TRY`."""
    return "".join(f" {letter}" if letter.isupper() else letter.upper() for letter in column)


def fitted(line: str) -> str:
    """A line that comes by, cut to the terminal; for anybody else it is left whole."""
    shown = visible(line)
    return _cut(shown, screen) if (screen := _screen()) else shown


def _screen() -> int:
    """Columns of the terminal; 0 when stdout is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def manifests_as(objects: Sequence[Mapping[str, Any]], output: str) -> str:
    """Objects as a stream of YAML documents, or as one List in JSON. CliError for another format."""
    if output == "json":
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=2) + "\n"
    if output != "yaml":
        raise CliError(f"-o {output}: wanted yaml or json", USAGE)
    return as_yaml(objects)


def as_yaml(objects: Iterable[Mapping[str, Any]]) -> str:
    """Objects as a stream of YAML documents."""

    class Plain(yaml.CSafeDumper):
        """Repeats a value instead of writing an alias."""

        def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
            return True

    dumped = (yaml.dump(dict(one), Dumper=Plain, sort_keys=False, allow_unicode=True) for one in objects)
    return "".join(f"---\n{text}" for text in dumped)
