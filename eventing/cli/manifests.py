"""What `k8s/` holds, generated from code: `crds`, `manifests`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from eventing.deploy.manifests import render_manifests

OutOption = Annotated[Path | None, typer.Option("--out", help="Folder to write to; without it: stdout.")]


def register(app: typer.Typer) -> None:
    """Add the generators."""
    app.command()(crds)
    app.command()(manifests)


def crds(out: OutOption = None) -> None:
    """The CustomResourceDefinitions, made from the models in `shared/api`."""
    from eventing.deploy.crds import render_crds

    _put(render_crds(), out)


def manifests(
    out: OutOption = None,
    *,
    api_port: Annotated[
        list[int] | None,
        typer.Option(help="Port of the API server behind its Service, for NetworkPolicies; without it: any port."),
    ] = None,
) -> None:
    """RBAC, the base and Knative objects, made from the routes and steps."""
    _put(render_manifests(api_port or ()), out)


def _put(files: Mapping[str, str], out: Path | None) -> None:
    if out is None:
        sys.stdout.write("---\n".join(files.values()))
        return
    for name, text in files.items():
        place = out / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
