"""`olmf extension why`: `olmf why` about a ClusterExtension."""

from __future__ import annotations

from typing import Annotated

import typer

from eventing.cli import debug
from eventing.cli.output import CaptureOption, OutputOption
from eventing.cli.target import KubeconfigOption, StateOption
from shared.kinds import CLUSTER_EXTENSION


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(why)


def why(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The ClusterExtension.")],
    source: CaptureOption = None,
    *,
    output: OutputOption = "table",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Tell what an extension waits for, which rule removed which bundle, and what helps.

    The same as `olmf why ClusterExtension/NAME`.
    """
    target = f"{CLUSTER_EXTENSION.kind}/{name.rpartition('/')[2]}"
    debug.why(target, source=source, output=output, state=state, kubeconfig=kubeconfig)
