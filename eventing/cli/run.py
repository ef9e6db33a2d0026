"""The programs: `olmf run watch|worker|endpoint|…`, in pods and in local mode; and `olmf unpack`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eventing.cli.failure import CliError
from eventing.local.tie import tie_to_supervisor
from shared.config import Settings

StatePathOption = Annotated[Path | None, typer.Option("--state", help="Where it keeps its data.")]


def register(app: typer.Typer) -> None:
    """Add the programs."""
    group = typer.Typer(name="run", help="Run one program until SIGTERM.", no_args_is_help=True)
    group.callback()(tie_to_supervisor)
    for program in (watch, worker, endpoint, scheduler, content, kubelet, api, redis):
        group.command()(program)
    app.add_typer(group)


def _settings() -> Settings:
    from eventing import wiring
    from shared.config import SettingError
    from shared.telemetry import configure_logging

    try:
        values = wiring.settings()
    except SettingError as error:
        raise CliError(str(error), 2) from error
    configure_logging(values.log_level, as_json=values.log_json)
    return values
