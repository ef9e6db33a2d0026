"""Whether a new edition of a CustomResourceDefinition is safe: `crd diff`."""

from __future__ import annotations

import enum
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from eventing.cli.extension.files import WaiveOption, waivers_of
from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.inputs.manifests import located, manifests
from eventing.cli.lines import answer_requests
from eventing.cli.output import document
from shared.domain.bundle.shape import name_in
from shared.domain.crd_safety import report
from shared.domain.crd_safety.judgement import judged
from shared.domain.crd_safety.report import Definition
from shared.domain.crd_safety.request import response_to
from shared.domain.shape import InvalidRequest

if TYPE_CHECKING:
    from shared.domain.crd_safety.judgement import Waiver


class Form(enum.StrEnum):
    """The output format of findings."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"
    SARIF = "sarif"


def register(app: typer.Typer) -> None:
    """Add the group of verbs."""
    group = typer.Typer(name="crd", help="CustomResourceDefinitions and what may change in them.", no_args_is_help=True)
    group.command()(diff)
    group.callback()(lambda: None)
    app.add_typer(group)


def diff(
    old: Annotated[
        str | None, typer.Argument(metavar="OLD", help="A file or folder of manifests, as they are now.")
    ] = None,
    new: Annotated[str | None, typer.Argument(metavar="NEW", help="The same, as they shall be.")] = None,
    *,
    form: Annotated[
        Form, typer.Option("--output", "-o", help="text, json, yaml, or sarif for code review.")
    ] = Form.TEXT,
    objects: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE|DIR", help="Stored objects, which shall fit what they will be read as; repeatable."),
    ] = None,
    waive: WaiveOption = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="Read requests from stdin, one JSON object a line; answer in their order.")
    ] = False,
) -> None:
    """Say what stored objects and clients would suffer from new CustomResourceDefinitions.

    Exit code 0: nothing; 1: something. With --batch a line is {"id", "old", "new", "objects"?, "waive"?}, its answer
    {"id", "safe", "checks": [[version or "a -> b", path, check]…], "messages": […], "findings": […]}: what OLM v1 says,
    then all findings as in -o json. Versions and definitions that are gone are found by us only.
    """
    if batch:
        answer_requests(response_to, arguments=(old, new))
        return
    if old is None or new is None:
        raise CliError("crd diff: give OLD NEW, or --batch and requests on stdin", USAGE)
    waivers = waivers_of(waive)
    found = _compared(_pairs(old, new), list(manifests(objects or ())), waivers)
    _print_findings(found, form)
    if not all(one.is_safe for one in found):
        raise typer.Exit(NEGATIVE)


_Located = Mapping[str, tuple[str, dict[str, Any]]]
"""By name: the file of a definition, and the definition."""
_Pairs = Mapping[str, tuple[dict[str, Any], str, dict[str, Any] | None]]
"""By name: the old edition; the file of the new one, and the new one, unless there is none any more."""


def _pairs(old: str, new: str) -> _Pairs:
    """What the old side has. CliError when the new one has nothing of it."""
    before, after = _definitions(old), _definitions(new)
    for name in sorted(before.keys() ^ after.keys()):
        sys.stderr.write(f"# {name} is only in {old if name in before else new}\n")
    if before.keys().isdisjoint(after):
        raise CliError(f"{old} and {new} have no CustomResourceDefinition in common", USAGE)
    return {name: (one, *after.get(name, (file, None))) for name, (file, one) in sorted(before.items())}


def _compared(pairs: _Pairs, objects: Sequence[Mapping[str, Any]], waivers: Sequence[Waiver]) -> list[Definition]:
    found = []
    for name, (before, file, after) in pairs.items():
        try:
            found.append(Definition(name, quote(file), judged(before, after, objects, waivers)))
        except InvalidRequest as error:
            raise CliError(f"the definition {name} cannot be compared: {error}", UNKNOWN) from error
    return found


def _definitions(path: str) -> _Located:
    """Every CustomResourceDefinition below a path. CliError when there is none."""
    found = {
        name_in(one): (file, one) for file, one in located([path]) if one.get("kind") == "CustomResourceDefinition"
    }
    if not found:
        raise CliError(f"{path} holds no CustomResourceDefinition", USAGE)
    return found


def _print_findings(found: Sequence[Definition], form: Form) -> None:
    if form in (Form.JSON, Form.YAML):
        document(report.as_values(found), form)
    else:
        sys.stdout.write(report.as_sarif(found) if form == Form.SARIF else report.as_text(found))
