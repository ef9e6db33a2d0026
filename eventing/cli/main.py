"""The command `olmf`: its verbs and where they live; a module is imported when one of its verbs is asked for."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from eventing.cli.commands import quoted
from eventing.cli.failure import USAGE, CliError, as_cli_error
from eventing.cli.group import Verbs
from eventing.cli.visible import VisibleText
from shared.domain.command import olmf


class _Olmf(Verbs):
    modules: ClassVar = {
        "eventing.cli.local": {
            "up": "Start everything on this machine: a sandbox API, or the functions for an existing cluster.",
            "down": (
                "Stop what `olmf up` started; what it stored stays in the state directory, and OLM can go on with the "
                "cluster."
            ),
            "status": (
                "Show addresses, the health of each process and errors of catalogs; exit 1 when a process is "
                "not healthy."
            ),
            "demo": "Install, upgrade and approve sample operators in a throw-away sandbox, and explain what happened.",
        },
        "eventing.cli.packages": {
            "install": "Install a package: make its OperatorGroup and Subscription, and wait until it works.",
            "uninstall": (
                "Delete every Subscription and ClusterServiceVersion of a package; definitions and their objects stay."
            ),
            "upgrade": "Approve what waits and follow the package to its newest version.",
            "approve": "Approve an InstallPlan that waits.",
            "hold": "Keep the installed version of a package until it is released.",
            "list": "List what is installed, or what the catalogs offer.",
        },
        "eventing.cli.resolve": {
            "resolve": "Show what the Subscriptions of a namespace would get: on a cluster, or from files.",
        },
        "eventing.cli.plan": {
            "plan": (
                "Show what the Subscriptions of a namespace would create, change and delete: on a cluster, a capture, "
                "or files."
            ),
        },
        "eventing.cli.explain": {
            "explain": "Say why each Subscription and ClusterExtension gets its version, "
            "or why it gets none and what would help.",
        },
        "eventing.cli.upgrades": {
            "upgrades": "Say which way a package goes from a version, hop by hop, and why no further.",
            "versions": "List the versions of a package, newest first, with the channels that offer them.",
        },
        "eventing.cli.debug": {
            "why": (
                "Tell why an object is as it is (write, run, causes, events) and what it waits for; exit 1: "
                "nothing known."
            ),
            "capture": (
                "Write what was seen, asked, decided and written, and the present objects, to a tar without "
                "Secret data."
            ),
        },
        "eventing.cli.doctor": {
            "doctor": (
                "Look for what hurts: broken catalogs, stuck or waiting packages, two OLMs, missing rights, dead "
                "webhooks, jobs."
            ),
        },
        "eventing.cli.leftovers": {
            "leftovers": (
                "List what classic OLM left: pods, accounts, roles and policies of catalogs, its programs; `--apply` "
                "removes it."
            ),
        },
        "eventing.cli.replay": {
            "replay": (
                "Decide a capture again with today's steps: exit 0 same Outcomes, 1 at the first that differs, "
                "with a diff."
            ),
        },
        "eventing.cli.graph": {
            "graph": (
                "Draw the update graph of a package: who replaces or skips whom in each channel, and what is "
                "never installed."
            ),
        },
        "eventing.cli.catalog.verbs": {
            "catalog": "File-based catalogs: check, compare, list, serve; ClusterCatalogs of a cluster: ls, refresh.",
        },
        "eventing.cli.bundle.verbs": {
            "bundle": "Bundles: check, render, unpack, build.",
        },
        "eventing.cli.extension.verbs": {
            "extension": "What ClusterExtensions of OLM v1 run, and what would be done with one.",
        },
        "eventing.cli.crd": {
            "crd": "CustomResourceDefinitions and what may change in them.",
        },
        "eventing.cli.semver": {
            "semver": "Versions and version ranges, exactly as OLM reads them.",
        },
        "eventing.cli.events": {
            "events": "Received events and finished runs in the journal.",
        },
        "eventing.cli.queue": {
            "queue": "The work queue: what waits, runs, is delayed or dead.",
        },
        "eventing.cli.top": {
            "top": (
                "Show what the pipeline is busy with: queue, workers, waiting namespaces, slowest steps; until Ctrl-C."
            ),
        },
        "eventing.cli.manifests": {
            "crds": "The CustomResourceDefinitions, made from the models in `shared/api`.",
            "manifests": "RBAC, the base and Knative objects, made from the routes and steps.",
        },
        "eventing.cli.run": {
            "run": "Run one program until SIGTERM.",
            "unpack": "Read a bundle image and write it into a ConfigMap: the program of an unpack Job.",
        },
    }

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The verb and its words. CliError where an option of the verb stands before it."""
        first, equals, _ = args[0].partition("=") if args else ("", "", "")
        for index in (index for index, word in enumerate(args) if word in self.list_commands(ctx)):
            command = self.get_command(ctx, args[index])
            found = [param for param in command.get_params(ctx) if first in param.opts] if command else []
            if found and (index > 1 or equals or found[0].is_flag):  # else that word is the value of the option
                line = quoted(olmf(args[index], *args[index + 1 :], *args[:index]))
                raise CliError(f"{first} is an option of the verb, and stands behind it: {line}", USAGE)
        return super().parse_args(ctx, args)


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
        failure = error if isinstance(error, CliError) else as_cli_error(error)
        if failure is None:
            raise
        if isinstance(error, OSError) and not error.filename:
            _drop_answer()

        sys.stderr.write(f"olmf: {failure}\n")
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
