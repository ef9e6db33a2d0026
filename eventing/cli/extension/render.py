"""`olmf extension render`: the plain objects that OLM v1 makes of a bundle."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventing.cli.extension.files import GatesOption, gates_of
from eventing.cli.extension.objects import (
    CertOption,
    ConfigOption,
    InstallNamespaceOption,
    config_of,
    rendered,
)
from eventing.cli.failure import USAGE, CliError
from eventing.cli.inputs.bundle import read
from eventing.cli.lines import answer_requests
from eventing.cli.output import as_yaml
from shared.domain.extension.render.request import Loading, options_of, response_to

if TYPE_CHECKING:
    from shared.domain.bundle.model import Files


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(render)


def render(
    bundle: Annotated[
        str, typer.Argument(metavar="DIR|IMAGE", help="Folder with manifests/ and metadata/, or image.")
    ] = "",
    *,
    install_namespace: InstallNamespaceOption = "",
    config: ConfigOption = "",
    cert_provider: CertOption = "none",
    feature_gates: GatesOption = "",
    output: Annotated[str, typer.Option("-o", "--output", help="yaml or json.")] = "yaml",
    batch: Annotated[
        bool, typer.Option("--batch", help="Read requests from stdin, one JSON object a line; answer in their order.")
    ] = False,
) -> None:
    """Print the objects of a registry+v1 bundle, in the order in which OLM v1 makes them.

    With --batch a line is {"id", "dir": PATH or "files": {path: text}, "installNamespace", "config": null or object,
    "certProvider", "gates": {…}}, its answer {"id", "objects": [{"apiVersion", "kind", "namespace", "name",
    "manifest"}…]} or {"id", "error", "terminal"}.
    """
    if batch:
        _answer_all()
        return
    if not bundle or not install_namespace:
        raise CliError("extension render: name a bundle and --install-namespace, or give --batch", USAGE)
    if output not in ("yaml", "json"):
        raise CliError(f"-o {output}: wanted yaml or json", USAGE)
    gates = gates_of(feature_gates)
    made = rendered(bundle, install_namespace, config=config_of(config), cert_provider=cert_provider, gates=gates)
    if output == "json":
        sys.stdout.write(json.dumps(made.objects, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(as_yaml(made.objects))


def _answer_all() -> None:
    loadings = {True: Loading(is_in_memory=True), False: Loading()}

    def answer(request: dict[str, Any]) -> Mapping[str, Any]:
        return response_to(_files(request), options_of(request), loadings[isinstance(request.get("files"), dict)])

    answer_requests(answer)


def _files(request: Mapping[str, Any]) -> Files:
    files = request.get("files")
    if isinstance(files, dict):
        wrong = [path for path, text in files.items() if not isinstance(text, str)]
        if wrong:
            raise ValueError(f"files: {wrong[0]} is no text")
        return {path: text.encode("utf-8", "surrogatepass") for path, text in files.items()}
    folder = request.get("dir")
    if not isinstance(folder, str) or not folder:
        raise ValueError('a request needs "dir" or "files"')
    if not Path(folder).is_dir():
        raise ValueError(f"{folder}: no such folder")

    try:
        return read(Path(folder), folder)
    except CliError as error:
        raise ValueError(str(error)) from error
