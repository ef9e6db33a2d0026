"""`olmf leftovers`: what classic OLM left in a cluster that we manage now, and its removal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.commands import quoted
from eventing.cli.failure import NEGATIVE, CliError
from eventing.cli.output import OutputOption, print_lines, show
from eventing.cli.target import KubeconfigOption, StateOption, choose
from eventing.diagnosis.leftovers import Leftover, leftovers, running
from shared.adapters.kube import ApiError
from shared.domain.command import kubectl

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

COLUMNS = ("kind", "object", "madeFor", "becomes")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(name="leftovers")(list_leftovers)


def list_leftovers(
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Remove them, each only as it was listed.")] = False,
    output: OutputOption = "table",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """List what classic OLM left: pods, accounts, roles and policies of catalogs, its programs; `--apply` removes it.

    Exit code 0: listed, or removed; 1: OLM runs, or something could not be removed.
    """
    cluster = choose(state, kubeconfig).cluster()
    found = leftovers(cluster)
    if not apply:
        show([_row(one, one.kept or "removed by --apply") for one in found], output, columns=COLUMNS)
        return
    if programs := running(cluster):
        words = [("scale", f"deployment/{one.name}", "--replicas=0") for one in programs]
        commands = [quoted(kubectl(*each, namespace=one.namespace)) for each, one in zip(words, programs, strict=True)]
        raise CliError(f"classic OLM runs, and would make it again; stop it first: {'; '.join(commands)}", NEGATIVE)
    rows = list(_removed(cluster, found))
    show([_row(one, became) for one, became, _ in rows], output, columns=COLUMNS)
    if any(is_refused for _, _, is_refused in rows):
        raise typer.Exit(NEGATIVE)
    if output == "table" and any(one.ref.kind == "ClusterServiceVersion" for one in found):
        print_lines("OLM's package server goes with its version; ours serves PackageManifests where it runs")


def _removed(cluster: KubeClient, found: Sequence[Leftover]) -> Iterator[tuple[Leftover, str, bool]]:
    """Each with what became of it, and whether that was refused; another object of its name is left alone.

    The rights of OLM, which are cluster-scoped, stay while something is refused: by them its namespaces are known.
    """
    refused = False
    for one in found:
        if one.kept or (refused and not one.ref.namespace):
            yield one, one.kept or "left until the rest is removed", False
            continue
        try:
            cluster.delete(one.ref, uid=one.uid)
        except ApiError as error:
            if error.is_unreachable:
                raise
            refused |= not error.is_not_found
            yield (one, "gone already", False) if error.is_not_found else (one, f"refused: {error.message}", True)
        else:
            yield one, "removed", False


def _row(one: Leftover, becomes: str) -> dict[str, object]:
    place = f"{one.ref.namespace}/" if one.ref.namespace else ""
    return {"kind": one.ref.kind, "object": f"{place}{one.ref.name}", "madeFor": one.made_for, "becomes": becomes}
