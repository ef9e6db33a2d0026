"""Versions and ranges as OLM reads them: `semver match`, `semver compare`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from eventing.cli.failure import NEGATIVE, USAGE, CliError
from eventing.cli.lines import answer_requests
from shared.domain.semver import parse_tolerant, parse_version
from shared.domain.semver.blang import InvalidRange
from shared.domain.semver.comparison import Dialect, Order, compared, members, read
from shared.domain.semver.version import InvalidVersion

BatchOption = Annotated[
    bool, typer.Option("--batch", help="Read requests from stdin, one JSON object a line; answer in their order.")
]
TolerantOption = Annotated[
    bool, typer.Option("--tolerant", help="Forgive a leading v, blanks, leading zeroes and missing parts.")
]
_IN_WORDS = {-1: "is lower than", 0: "is as high as", 1: "is higher than"}


def register(app: typer.Typer) -> None:
    """Add the group of verbs."""
    group = typer.Typer(
        name="semver", help="Versions and version ranges, exactly as OLM reads them.", no_args_is_help=True
    )
    group.command()(match)
    group.command()(compare)
    app.add_typer(group)


def match(
    range_text: Annotated[str | None, typer.Argument(metavar="RANGE", help="E.g. '>=1.0.0 <2.0.0'.")] = None,
    versions: Annotated[
        list[str] | None, typer.Argument(metavar="VERSION…", help="The versions to look for, e.g. 1.2.0.")
    ] = None,
    *,
    dialect: Annotated[Dialect, typer.Option(help="How the range is written.")] = Dialect.BLANG,
    batch: BatchOption = False,
) -> None:
    """Say which versions lie in a range: `skipRange` of OLM v0 (blang), `version` of OLM v1 (masterminds).

    Exit code 0: all lie in it; 1: some do not; 2: one of them is no version. With --batch a line is
    {"range": R, "versions": [V…]}, its answer {"range": R, "in": {V: true|false…}} or {"range": R, "error": why};
    there, a text that is no version lies in no range.
    """
    if batch:
        answer_requests(lambda request: _membership(dialect, request), echo=["range"], arguments=(range_text, versions))
        return
    if range_text is None or not versions:
        raise CliError("semver match: give RANGE VERSION…, or --batch and requests on stdin", USAGE)
    try:
        found = members(dialect, range_text, versions)
    except InvalidRange as error:
        raise CliError(f"{range_text!r} is not a version range ({dialect}): {error}", USAGE) from error
    for version in versions:
        try:
            read(dialect, version)
        except InvalidVersion as error:
            raise CliError(f"{version!r} is not a version ({dialect}): {error}", USAGE) from error
    for version, is_in in found.items():
        sys.stdout.write(f"{version} is {'in' if is_in else 'not in'} {range_text}\n")
    if not all(found.values()):
        raise typer.Exit(NEGATIVE)


def compare(
    first: Annotated[str | None, typer.Argument(metavar="A", help="A version, e.g. 1.2.0.")] = None,
    second: Annotated[str | None, typer.Argument(metavar="B", help="Another one.")] = None,
    *,
    order: Annotated[Order, typer.Option(help="What orders versions that differ in build metadata only.")] = (
        Order.PRECEDENCE
    ),
    tolerant: TolerantOption = False,
    batch: BatchOption = False,
) -> None:
    """Say which of two versions is higher.

    Exit code 0: they are equal; 1: they are not. With --batch a line is {"a": A, "b": B}, its answer {"cmp": -1|0|1}
    or {"error": why}.
    """
    read = parse_tolerant if tolerant else parse_version
    if batch:
        answer_requests(
            lambda request: {"cmp": compared(*_texts(request, "a", "b"), order=order, read=read)},
            echo=[],
            arguments=(first, second),
        )
        return
    if first is None or second is None:
        raise CliError("semver compare: give A B, or --batch and requests on stdin", USAGE)
    try:
        sign = compared(first, second, order=order, read=read)
    except ValueError as error:
        raise CliError(f"{first!r} and {second!r} cannot be compared: {error}", USAGE) from error
    sys.stdout.write(f"{first} {_IN_WORDS[sign]} {second}\n")
    if sign:
        raise typer.Exit(NEGATIVE)


def _membership(dialect: Dialect, request: dict[str, object]) -> dict[str, object]:
    (range_text,) = _texts(request, "range")
    versions = request.get("versions")
    if not isinstance(versions, list) or not all(isinstance(version, str) for version in versions):
        raise ValueError('"versions" wants a list of texts')
    return {"range": range_text, "in": members(dialect, range_text, versions)}


def _texts(request: dict[str, object], *keys: str) -> list[str]:
    values = [request.get(key) for key in keys]
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) != len(keys):
        raise ValueError(f"a request needs {'texts' if len(keys) > 1 else 'a text'} for {' and '.join(keys)}")
    return texts
