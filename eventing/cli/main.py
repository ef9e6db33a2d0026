"""The command `olmf`: assembles the verbs; each verb module imports what it needs when it runs."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from eventing.cli import (
    bundle,
    catalog,
    crd,
    debug,
    events,
    explain,
    extension,
    local,
    manifests,
    packages,
    queue,
    resolve,
    run,
    semver,
    upgrades,
)
from eventing.cli.failure import CliError, told

app = typer.Typer(
    name="olmf",
    help="Operator Lifecycle Manager as small functions: install operators, and explain every decision.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def options(
    *,
    version: Annotated[bool, typer.Option("--version", is_eager=True, help="Print the version and end.")] = False,
) -> None:
    """Operator Lifecycle Manager as small functions: install operators, and explain every decision."""
    if version:
        from importlib.metadata import version as version_of

        sys.stdout.write(f"olmf {version_of('olm-functions')}\n")
        raise typer.Exit


for module in (
    local, packages, catalog, bundle, crd, debug, events, explain, extension, queue, manifests, resolve, run, semver,
    upgrades,
):  # fmt: skip
    module.register(app)


def main() -> None:
    """Run one verb; errors become one sentence on stderr and the exit code 1, 2 or 3."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        failure = error if isinstance(error, CliError) else told(error)
        if failure is None:
            raise
        sys.stderr.write(f"olmf: {failure}\n")
        sys.exit(failure.code)


if __name__ == "__main__":
    main()
