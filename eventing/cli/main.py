"""The command `olmf`: its verbs and where they live; each imports what it needs when it runs."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from eventing.cli.failure import CliError, told
from eventing.cli.group import Verbs
from eventing.cli.visible import VisibleText


class _Olmf(Verbs):
    modules: ClassVar = {
        "eventing.cli.local": ("up", "down", "status", "demo"),
        "eventing.cli.packages": ("install", "uninstall", "upgrade", "approve", "hold", "list"),
        "eventing.cli.resolve": ("resolve",),
        "eventing.cli.explain": ("explain",),
        "eventing.cli.upgrades": ("upgrades", "versions"),
        "eventing.cli.debug": ("why", "capture", "replay"),
        "eventing.cli.graph": ("graph",),
        "eventing.cli.catalog.verbs": ("catalog",),
        "eventing.cli.bundle.verbs": ("bundle",),
        "eventing.cli.extension.verbs": ("extension",),
        "eventing.cli.crd": ("crd",),
        "eventing.cli.semver": ("semver",),
        "eventing.cli.events": ("events",),
        "eventing.cli.queue": ("queue",),
        "eventing.cli.manifests": ("crds", "manifests"),
        "eventing.cli.run": ("run", "unpack"),
    }


app = typer.Typer(
    name="olmf",
    cls=_Olmf,
    help="Operator Lifecycle Manager as small functions: install operators, and explain every decision.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
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


def main() -> None:
    """Run one verb; errors become one sentence on stderr and the exit code 1, 2 or 3."""
    _open_streams()
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, where it can be told that there is no room for the answer
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # who read the answer has enough
        _drop_answer()
        sys.exit(1)
    except Exception as error:
        failure = error if isinstance(error, CliError) else told(error)
        if failure is None:
            raise
        if isinstance(error, OSError) and not error.filename:
            _drop_answer()
        from eventing.cli.aim import aimed

        sys.stderr.write(f"olmf: {aimed(str(failure))}\n")
        sys.exit(failure.code)


def _open_streams() -> None:
    """A stream that the caller closed is empty; what a terminal does not have, or would obey, is written as codes."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115  # why: until the process ends
    for name in ("stdout", "stderr"):
        if type(stream := getattr(sys, name)) is io.TextIOWrapper:  # not that of a test, which looks at it later
            setattr(sys, name, VisibleText.of(stream))


def _drop_answer() -> None:
    """Let the interpreter not try again, when it ends, to write what could not be written."""
    with contextlib.suppress(OSError):  # a stdout that is no file is not written again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
