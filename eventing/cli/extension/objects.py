"""The objects of a bundle as OLM v1 renders them, for the verbs that look at them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.inputs.bundle_files import files_of
from eventing.cli.names import checked_install_namespace
from shared.adapters.oci.reference import Reference
from shared.domain.extension.render.load import load
from shared.domain.extension.render.model import NotRenderedError
from shared.domain.extension.render.render import render
from shared.domain.extension.render.request import options_of
from shared.domain.go import yaml as goyaml
from shared.domain.shape import InvalidRequest

CertOption = Annotated[
    str, typer.Option("--cert-provider", help="none, cert-manager or openshift-service-ca: who makes certificates.")
]
ConfigOption = Annotated[str, typer.Option(metavar="FILE", help="spec.config.inline, as YAML or JSON.")]
InstallNamespaceOption = Annotated[
    str, typer.Option(callback=checked_install_namespace, help="Where the operator is installed.")
]


@dataclass(frozen=True, slots=True)
class Rendering:
    """A bundle and its objects."""

    package: str
    name: str
    """Of its ClusterServiceVersion."""
    annotations: Mapping[str, str]
    objects: tuple[dict[str, Any], ...]


def rendered(
    bundle: str | Reference, namespace: str, *, config: object, cert_provider: str, gates: Mapping[str, bool]
) -> Rendering:
    """The bundle that the user or a catalog names, rendered. CliError: not to be had (3), or gives no objects (1)."""
    request = {"installNamespace": namespace, "config": config, "certProvider": cert_provider, "gates": gates}
    try:
        options = options_of(request)
    except InvalidRequest as error:
        raise CliError(str(error), USAGE) from error
    files = files_of(bundle)
    try:
        loaded = load(files)
        made = tuple(map(dict, render(loaded, options)))
    except NotRenderedError as error:
        message = "; ".join(filter(None, (str(error), error.fix)))
        raise CliError(f"{bundle}: {message}", NEGATIVE) from error
    meta = loaded.csv.get("metadata") or {}
    return Rendering(loaded.package, str(meta.get("name") or ""), meta.get("annotations") or {}, made)


def config_of(file: str) -> object:
    """The configuration in a file; None without one. CliError."""
    if not file:
        return None

    try:
        found = goyaml.document(Path(file).read_bytes())
    except OSError as error:
        raise CliError(f"--config {file}: {error.strerror}", UNKNOWN) from error
    except goyaml.YamlError as error:
        raise CliError(f"--config {file}: {error}", USAGE) from error
    return {} if found is None else found
