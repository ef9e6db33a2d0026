"""`olmf bundle validate`: whether bundles are sound, and where they are not."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.inputs.bundle import opened
from eventing.cli.inputs.pulling import pulling
from eventing.cli.output import document
from shared.domain.authoring.validation import (
    MULTIARCH,
    OPTIONAL,
    Options,
    Subject,
    errors_in_one_line,
    inspected_images,
)
from shared.domain.authoring.validation import validate as judge

if TYPE_CHECKING:
    from shared.adapters.image_platforms import Inspector
    from shared.domain.authoring.validation import Finding

_FORMS = ("text", "json", "yaml")
_NO_TOOL = "none"
_CONTAINER_TOOLS = ("docker", "podman", _NO_TOOL)
"""As operator-sdk takes them; we ask the registry ourselves where it would run such a tool."""
_CATEGORIES = "OPERATOR_BUNDLE_CATEGORIES"


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(validate))


def validate(
    bundles: Annotated[
        list[str] | None, typer.Argument(metavar="[DIR|IMAGE]...", help="Folders or images of bundles.")
    ] = None,
    tag: Annotated[str, typer.Option("-t", "--tag", help="One more image, as opm names it.")] = "",
    output: Annotated[
        str, typer.Option("-o", "--output", help="text, json or yaml; or validators, as opm takes them here.")
    ] = "text",
    *,
    optional: Annotated[
        str, typer.Option("--optional-validators", help="More validators, separated by commas; `all` are all.")
    ] = "",
    kubernetes: Annotated[str, typer.Option("--k8s-version", help="The Kubernetes that the bundle is for.")] = "",
    index_path: Annotated[Path | None, typer.Option(help="Dockerfile, for the validator `community`.")] = None,
    container_tools: Annotated[
        str,
        typer.Option(help="none: the validator `multiarch` asks no registry; docker, podman: it does, without them."),
    ] = "docker",
    image_builder: Annotated[str, typer.Option("-b", "--image-builder", hidden=True)] = "none",
) -> None:
    """Judge bundles one by one; the exit code is 0 when none has an error."""
    del image_builder  # images are read without a container engine
    references = [*(bundles or ()), *filter(None, [tag])]
    if not references:
        raise CliError("name a folder or an image to validate", USAGE)
    form, chosen = _chosen(output, optional)
    options, inspector = _options(kubernetes, index_path), _inspector(chosen, container_tools)
    judged = [(reference, _judged(reference, chosen, options, inspector)) for reference in references]
    if form == "text":
        _print(judged)
    else:
        document([_row(reference, findings) for reference, findings in judged], form)
    if any(one.is_error for _, findings in judged for one in findings):
        raise typer.Exit(NEGATIVE)


def _chosen(output: str, optional: str) -> tuple[str, frozenset[str]]:
    """The form of the answer, and the validators; `-o` is a form to us and a list of validators to opm.

    In that list, names that are not known are passed over, as by opm; in ours they are refused.
    """
    if unknown := sorted({name.strip() for name in optional.split(",")} - {"", "all", *OPTIONAL}):
        desired = f"wanted all, or some of {', '.join(OPTIONAL)}"
        raise CliError(f"--optional-validators {','.join(unknown)}: {desired}", USAGE)

    form, names = (output, optional) if output in _FORMS else ("text", f"{output},{optional}")
    chosen = {name.strip() for name in names.split(",") if name.strip()}
    if output not in _FORMS and not chosen & set(OPTIONAL):
        raise CliError(f"-o {output}: wanted {', '.join(_FORMS)}, or one of {', '.join(OPTIONAL)}", USAGE)
    return form, frozenset(OPTIONAL) if "all" in chosen else frozenset(chosen)


def _options(kubernetes: str, index_path: Path | None) -> Options:
    try:
        dockerfile = index_path.read_text("utf-8", "replace") if index_path else None
    except OSError as error:
        raise CliError(f"--index-path {index_path}: {error.strerror}", UNKNOWN) from error
    return Options(kubernetes, _categories(os.environ.get(_CATEGORIES, "")), dockerfile)


def _categories(path: str) -> tuple[str, ...]:
    """The categories in a file of `{"categories": […]}`."""
    try:
        found = orjson.loads(Path(path).read_bytes())["categories"] if path else []
        return tuple(map(str, found))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CliError(f"could not extract custom categories from categories {path}: {error}", UNKNOWN) from error


def _inspector(chosen: frozenset[str], container_tools: str) -> Inspector | None:
    """What asks registries, or None when no validator needs it, or the user wants none to be asked."""
    if container_tools not in _CONTAINER_TOOLS:
        raise CliError(f"--container-tools {container_tools}: wanted {', '.join(_CONTAINER_TOOLS)}", USAGE)
    if MULTIARCH not in chosen or container_tools == _NO_TOOL:
        return None
    from shared.adapters.image_platforms import Inspector

    return Inspector()


def _judged(
    reference: str, chosen: frozenset[str], options: Options, inspector: Inspector | None
) -> tuple[Finding, ...]:
    with opened(reference) as source:
        subject = Subject(source.files(), source.name, options)
        if inspector:
            known = inspector.inspected(inspected_images(subject))
            subject = replace(subject, options=replace(options, platforms=known))
        return judge(subject, chosen)


def _print(judged: Sequence[tuple[str, tuple[Finding, ...]]]) -> None:
    for reference, findings in judged:
        heading = f"{reference}: " if len(judged) > 1 else ""
        if line := errors_in_one_line(findings):
            sys.stderr.write(f"{heading}{line}\n")
        for one in sorted(findings, key=lambda one: not one.is_error):
            place = f"{one.path}: " if one.path not in one.detail else ""
            sys.stderr.write(f"  {one.level.lower()}: {heading}{place}{one.detail}\n")


def _row(reference: str, findings: tuple[Finding, ...]) -> dict[str, object]:
    cli_errors = [(one.is_error, {"message": str(one), "file": one.path, "field": one.field}) for one in findings]
    return {
        "path": reference,
        "ok": not any(is_error for is_error, _ in cli_errors),
        "errors": [row for is_error, row in cli_errors if is_error],
        "warnings": [row for is_error, row in cli_errors if not is_error],
    }
