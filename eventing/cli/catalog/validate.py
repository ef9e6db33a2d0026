"""`olmf catalog validate`: whether catalogs follow the rules, and where they do not."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from eventing.cli.catalog.source import check_form
from eventing.cli.commands import quoted
from eventing.cli.failure import NEGATIVE, UNKNOWN
from eventing.cli.inputs.pulling import pulling
from shared.adapters.judging import judge
from shared.adapters.oci.errors import OciError
from shared.domain.authoring.writing.write_yaml import to_yaml
from shared.domain.catalog.validation_result import Finding, Place, ValidationResult
from shared.domain.command import olmf

_ABOUT, _NO_SCHEMA = "metadata/annotations.yaml", "is missing root schema field"
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
    verdicts = [(path, *_judged(path)) for path in paths]
    _FORMS[output]([(path, verdict) for path, verdict, _ in verdicts])
    if code := max(code for _, _, code in verdicts):
        raise typer.Exit(code)


def _judged(path: str) -> tuple[ValidationResult, int]:
    """The judgement of one catalog, and the exit code that it asks for."""
    try:
        verdict = judge(path)
    except OciError as error:
        return ValidationResult((Finding(str(error), Place(path)),)), UNKNOWN
    return verdict, 0 if verdict.is_valid else NEGATIVE


def _as_json(verdicts: Sequence[tuple[str, ValidationResult]]) -> None:
    _print([{"path": path, "ok": verdict.is_valid, "errors": _rows(verdict)} for path, verdict in verdicts])


def _as_opm(verdicts: Sequence[tuple[str, ValidationResult]]) -> None:
    for _, verdict in verdicts:
        _print(_result(verdict))


def _as_yaml(verdicts: Sequence[tuple[str, ValidationResult]]) -> None:
    written = (to_yaml(dict(sorted(_result(verdict).items()))) + "\n" for _, verdict in verdicts)
    sys.stdout.write("---\n".join(written))


def _result(verdict: ValidationResult) -> dict[str, object]:
    """What `opm` tells of a catalog, and every finding with its place."""
    if verdict.is_valid:
        return {"passed": True}
    return {"passed": False, "error": {"message": verdict.text(with_places=False), "findings": _rows(verdict)}}


def _rows(verdict: ValidationResult) -> list[dict[str, object]]:
    return [
        {
            "message": one.message,
            "file": one.place.file,
            "document": one.place.document,
            "line": one.place.line,
            "path": list(one.path),
        }
        for one in verdict.findings
    ]


def _print(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _as_text(verdicts: Sequence[tuple[str, ValidationResult]]) -> None:
    for path, verdict in verdicts:
        if not verdict.is_valid:
            heading = f"{path}:\n" if len(verdicts) > 1 else ""
            sys.stderr.write(f"{heading}{_of_bundles(path, verdict) or verdict.text()}\n")


def _of_bundles(path: str, verdict: ValidationResult) -> str:
    """One hint for a folder of bundles, of which every file would be told to be no part of a catalog; else empty."""
    folders = [one.place.file.removesuffix(_ABOUT) for one in verdict.findings if one.place.file.endswith(_ABOUT)]
    if not folders or not all(one.message.endswith(_NO_SCHEMA) for one in verdict.findings):
        return ""
    first = quoted(olmf("bundle", "validate", f"{path.rstrip('/')}/{folders[0]}".rstrip("/")))
    whole = quoted(olmf("up", "--bundles", path))
    return f"{path} holds {len(folders)} bundles and no catalog: {first} judges one of them, {whole} serves all"


_FORMS = {"json": _as_json, "yaml": _as_yaml, "opm": _as_opm, "text": _as_text}
