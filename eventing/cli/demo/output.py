"""Shows progress live on a terminal, and as plain lines elsewhere."""

from __future__ import annotations

import sys
from collections import deque
from typing import TYPE_CHECKING, Protocol, TextIO, cast

from eventing.cli.visible import Own

if TYPE_CHECKING:
    from rich.console import RenderableType

Row = dict[str, object]


class DemoOutput(Protocol):
    """The output of the demo."""

    def print_line(self, line: str) -> None:
        """Print a line."""
        ...

    def show_packages(self, rows: list[Row]) -> None:
        """Show the installed packages."""
        ...

    def close(self) -> None:
        """End the live display."""
        ...


class PlainOutput:
    """Prints lines on stdout, and of the installed packages only those that changed."""

    def __init__(self) -> None:
        self._last: dict[object, Row] = {}

    def print_line(self, line: str) -> None:
        """Print it."""
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def show_packages(self, rows: list[Row]) -> None:
        """Print the rows that changed."""
        for row in rows:
            if self._last.get(row["package"]) != row:
                self._last[row["package"]] = row
                self.print_line(
                    f"   {row['package']:<8} {row['version'] or '-':<14} {row['phase']:<12} {row['message']}"
                )

    def close(self) -> None:
        """Nothing to end."""


class LiveOutput:
    """A table that changes in place, below the lines said so far."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._lines: deque[str] = deque(maxlen=12)
        self._rows: list[Row] = []
        console = Console(file=cast("TextIO", Own(sys.stdout)))
        self._live = Live(self._picture(), console=console, refresh_per_second=12, transient=False)
        self._live.start()

    def print_line(self, line: str) -> None:
        """Add it above the table."""
        self._lines.append(line)
        self._live.update(self._picture())

    def show_packages(self, rows: list[Row]) -> None:
        """Redraw the table."""
        self._rows = rows
        self._live.update(self._picture())

    def close(self) -> None:
        """Leave the last picture on the terminal."""
        self._live.stop()

    def _picture(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table("package", "version", "phase", "message", expand=False)
        for row in self._rows:
            style = "green" if row["phase"] == "Succeeded" else "yellow"
            table.add_row(*(str(row[key]) for key in ("package", "version", "phase", "message")), style=style)
        return Group(*(Text(line) for line in self._lines), table)


def demo_output() -> DemoOutput:
    """Live on a terminal, plain elsewhere."""
    return LiveOutput() if sys.stdout.isatty() else PlainOutput()
