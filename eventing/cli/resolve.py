"""What a namespace would get: `resolve`."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.lines import answer_requests
from eventing.cli.locking import LockedOption, LockOption, Read, answered
from eventing.cli.namespace_inputs import CatalogsOption, FromOption
from eventing.cli.output import OutputOption, show
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption
from eventing.diagnosis.resolution import answering

if TYPE_CHECKING:
    from shared.domain.resolver.model import Inputs, Resolution

COLUMNS = ("subscription", "has", "gets", "why")
DIFF = ("-", "+", "subscription", "why")


class Isolation(enum.StrEnum):
    """How far a conflict reaches."""

    COMPONENT = "component"
    NAMESPACE = "namespace"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(resolve)


def resolve(
    namespace: NamespaceOption = "",
    catalog: CatalogsOption = None,
    folder: FromOption = None,
    *,
    isolation: Annotated[
        Isolation, typer.Option(help="A conflict stops its component, or the namespace as in OLM.")
    ] = Isolation.COMPONENT,
    diff: Annotated[
        bool, typer.Option("--diff", help="Only what changes against what is there, and what is refused.")
    ] = False,
    batch: Annotated[
        bool, typer.Option("--batch", help="Read requests from stdin, one JSON object a line; answer in their order.")
    ] = False,
    lock: LockOption = None,
    locked: LockedOption = None,
    output: OutputOption = "table",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Show what the Subscriptions of a namespace would get: on a cluster, or from files.

    Exit code 0: something, or nothing to do; 1: unsatisfiable, or an edit has to come first; 3: not known yet.

    With --batch a line is {"id", "namespace", "globalNamespace", "catalogs": [{"name", "namespace", "priority",
    "fbc": [blobs…] or "path": DIR}…], "subscriptions": […], "csvs": […]}, its answer {"id", "operators": […],
    "unsatisfiable", "error", "conflict": […], "fixes": […]}.
    """
    is_whole, cluster = isolation is Isolation.NAMESPACE, (state, kubeconfig)
    if (lock and locked) or (batch and (lock or locked or namespace or catalog or folder or diff)):
        raise CliError("resolve: --lock and --locked exclude each other, and --batch all but --isolation", USAGE)
    if batch:
        _answer_lines(is_whole=is_whole)
        return
    inputs, resolution = answered(Read(namespace, catalog, folder, is_whole), cluster, lock=lock, locked=locked)
    rows, code = resolved(inputs, resolution, is_brief=diff)
    show(rows, output, columns=DIFF if diff else COLUMNS)
    if code:
        raise typer.Exit(code)


def _answer_lines(*, is_whole: bool) -> None:
    answer_requests(answering(is_whole=is_whole))


def resolved(inputs: Inputs, resolution: Resolution, *, is_brief: bool = False) -> tuple[list[dict[str, object]], int]:
    """A row for each Subscription and each dependency, and the exit code; in brief without those that stay."""
    refused = {name for one in resolution.components if one.refusal for name in one.subscribers}
    installed = {one.name: one.installed_csv for one in inputs.subscribers}
    there = {one.name for one in inputs.installed}
    gets = {name: one for one in resolution.chosen for name in one.subscribers}
    rows: list[dict[str, object]] = []
    for name, why in sorted(resolution.reasons.items()):
        new = gets[name].bundle.name if name in gets else ""
        row: dict[str, object] = {"subscription": name, "has": installed[name], "gets": new, "why": why}
        rows += [row] if new or name in refused or not is_brief else []
    for one in (one for one in resolution.chosen if not one.subscribers):
        why = f"needed; from channel {one.channel} of catalog {one.catalog.key}"
        has = one.replaces if one.replaces in there else ""
        rows.append({"subscription": "(dependency)", "has": has, "gets": one.bundle.name, "why": why})
    if is_brief:
        rows = [{"-": one.pop("has"), "+": one.pop("gets"), **one} for one in rows]
    refusals = [one.refusal for one in resolution.components if one.refusal]
    if any(not one.is_open for one in refusals):
        return rows, NEGATIVE
    return rows, UNKNOWN if refusals else 0
