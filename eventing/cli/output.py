"""Prints an answer as a table, JSON or YAML."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from eventing.cli.failure import USAGE, CliError

LONGEST_CELL = 120
"""Characters of a cell in a table; JSON and YAML have all."""


def show(rows: Sequence[dict[str, object]], output: str, *, columns: Sequence[str]) -> None:
    """Write rows to stdout; the columns are the keys that a table shows, in order."""
    if output == "table":
        table(rows, columns)
    else:
        document(list(rows), output)


def document(value: object, output: str) -> None:
    """Write one value as JSON or YAML. CliError for another format."""
    if output == "json":
        sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")
    elif output == "yaml":
        import yaml

        yaml.safe_dump(json.loads(json.dumps(value, default=str)), sys.stdout, sort_keys=False)
    else:
        raise CliError(f"-o {output}: wanted table, json or yaml", USAGE)


def table(rows: Sequence[dict[str, object]], columns: Sequence[str]) -> None:
    """Write aligned columns with a heading, as kubectl does."""
    lines = [[column.upper() for column in columns]]
    lines += [[_cell(row.get(column, "")) for column in columns] for row in rows]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    for line in lines:
        sys.stdout.write(
            "   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n"
        )


def _cell(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"
