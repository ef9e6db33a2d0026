"""`olmf extension get`: one ClusterExtension with its conditions, its bundle, its revisions and their objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer

from eventing.cli.extension.answer import object_value, states_of
from eventing.cli.extension.cluster import extension_of
from eventing.cli.output import OutputOption, document, print_lines, table
from eventing.cli.status_text import row_of, stands
from eventing.cli.target import KubeconfigOption, StateOption, choose
from eventing.diagnosis.revision_objects import ObjectState
from eventing.diagnosis.status.extension import ExtensionRead, decide_extension
from eventing.diagnosis.status.extension_reader import read
from eventing.diagnosis.status.reader import Sources
from shared import names
from shared.api.views import ClusterObjectSet, Object
from shared.domain.extension.report import AVAILABLE, PROGRESSING
from shared.domain.extension.revisions import bundle_of

_CONDITIONS = ("type", "status", "reason", "message")
_REVISIONS = ("revision", "state", "bundle", "progressing", "available", "image")
_OBJECTS = ("revision", "object", "state", "message")


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(get)


def get(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The ClusterExtension.")],
    output: OutputOption = "table",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Show one ClusterExtension: its conditions, bundle and revisions, and the objects of each."""
    target = choose(state, kubeconfig)
    cluster = target.cluster()
    found = read(Sources(cluster, target.jobs()), extension_of(cluster, name))
    objects = [one for revision in found.revisions.active for one in states_of(revision, cluster, cluster)]
    if output == "table":
        _show(found, objects)
    else:
        document(value_of(found, objects), output)


def value_of(found: ExtensionRead, objects: Sequence[ObjectState]) -> Mapping[str, Any]:
    """The whole answer as JSON."""
    return {
        **row_of(decide_extension(found)),
        "conditions": [dict(one.raw) for one in found.extension.conditions],
        "revisions": list(map(_revision, found.revisions.all)),
        "objects": list(map(object_value, objects)),
    }


def _show(found: ExtensionRead, objects: Sequence[ObjectState]) -> None:
    status = decide_extension(found)
    print_lines(
        f"ClusterExtension {status.extension}: package {status.package} in namespace {status.namespace}",
        f"status: {stands(status)}", "",
    )  # fmt: skip
    table(list(_conditions(found.extension)), _CONDITIONS)
    if found.revisions.all:
        print_lines("")
        table(list(map(_revision, found.revisions.all)), _REVISIONS)
    if objects:
        print_lines("")
        table(list(map(object_value, objects)), _OBJECTS)


def _conditions(extension: Object) -> Iterator[dict[str, object]]:
    for one in extension.conditions:
        is_old = one.observed_generation != extension.generation
        about = f" (of generation {one.observed_generation}, not yet {extension.generation})" if is_old else ""
        row = {"type": one.type, "status": one.status, "reason": one.reason}
        yield {**row, "message": f"{one.message}{about}"}


def _revision(one: ClusterObjectSet) -> dict[str, object]:
    state = "deleted" if one.is_deleted else "archived" if one.is_archived else "active"
    return {
        "revision": one.name, "state": state, "bundle": bundle_of(one).name, "version": bundle_of(one).version,
        "progressing": one.condition(PROGRESSING).reason, "available": one.condition(AVAILABLE).reason,
        "image": one.annotation(names.V1_BUNDLE_REFERENCE) or "",
    }  # fmt: skip
