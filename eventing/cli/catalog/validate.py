"""`olmf catalog validate`: whether catalogs follow the rules, and where they do not."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from eventing.cli.catalog.source import check_form
from eventing.cli.failure import NEGATIVE, UNKNOWN
from eventing.cli.inputs.bundle_folders import bundles_only
from eventing.cli.inputs.pulling import pulling
from shared.adapters.judging import judge
from shared.adapters.oci.errors import OciError
from shared.domain.authoring.writing.write_yaml import to_yaml
from shared.domain.catalog.validation_result import Finding, Place, ValidationResult

PathsArgument = Annotated[list[str], typer.Argument(metavar="PATH…", help="Folders, files, images, or - for stdin.")]
FormatOption = Annotated[
    str, typer.Option("-o", "--output", help="text; json: a list with every finding; opm or yaml: what opm prints.")
]


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(validate))


def validate(paths: PathsArgument, output: FormatOption = "text") -> None:
    """Judge catalogs one by one; the exit code is 0 when all of them are valid."""
    check_form(output, tuple(_FORMS))
    results = [(path, *_judged(path)) for path in paths]
    _FORMS[output]([(path, result) for path, result, _ in results])
    if code := max(code for _, _, code in results):
        raise typer.Exit(code)


def _judged(path: str) -> tuple[ValidationResult, int]:
    """The judgement of one catalog, and the exit code that it asks for."""
    try:
        result = judge(path)
    except OciError as error:
        return ValidationResult((Finding(str(error), Place(path)),)), UNKNOWN
    return result, 0 if result.is_valid else NEGATIVE


def _as_json(results: Sequence[tuple[str, ValidationResult]]) -> None:
    _print([{"path": path, "ok": result.is_valid, "errors": _rows(result)} for path, result in results])


def _as_opm(results: Sequence[tuple[str, ValidationResult]]) -> None:
    for _, result in results:
        _print(_result(result))


def _as_yaml(results: Sequence[tuple[str, ValidationResult]]) -> None:
    written = (to_yaml(dict(sorted(_result(result).items()))) + "\n" for _, result in results)
    sys.stdout.write("---\n".join(written))


def _result(result: ValidationResult) -> dict[str, object]:
    """What `opm` tells of a catalog, and every finding with its place."""
    if result.is_valid:
        return {"passed": True}
    return {"passed": False, "error": {"message": result.text(with_places=False), "findings": _rows(result)}}


def _rows(result: ValidationResult) -> list[dict[str, object]]:
    return [
        {
            "message": one.message,
            "file": one.place.file,
            "document": one.place.document,
            "line": one.place.line,
            "path": list(one.path),
        }
        for one in result.findings
    ]


def _print(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _as_text(results: Sequence[tuple[str, ValidationResult]]) -> None:
    for path, result in results:
        if not result.is_valid:
            heading = f"{path}:\n" if len(results) > 1 else ""
            sys.stderr.write(f"{heading}{bundles_only(path) or result.text()}\n")


_FORMS = {"json": _as_json, "yaml": _as_yaml, "opm": _as_opm, "text": _as_text}
