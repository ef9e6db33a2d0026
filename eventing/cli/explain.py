"""Why a namespace gets what it gets, and what would help: `explain`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.aim import aimed_in
from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.given import CatalogsOption, FromOption, inputs_of
from eventing.cli.output import document, say
from eventing.cli.resolve import Isolation, check
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption

if TYPE_CHECKING:
    from shared.domain.resolver.explain.choices import Choice
    from shared.domain.resolver.explain.findings import Finding
    from shared.domain.resolver.model import Inputs

_NEWEST = 5
"""Newer versions that are told as text; JSON has all."""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(explain)


def explain(
    subscription: Annotated[str, typer.Argument(help="Only this Subscription.")] = "",
    namespace: NamespaceOption = "",
    catalog: CatalogsOption = None,
    folder: FromOption = None,
    *,
    isolation: Annotated[
        Isolation, typer.Option(help="A conflict stops its component, or the namespace as in OLM.")
    ] = Isolation.COMPONENT,
    output: Annotated[str, typer.Option("-o", "--output", help="text, json or yaml.")] = "text",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Say why each Subscription gets its version, or why it gets none and what would help.

    Every fix was tried: with it applied there is an answer. Exit code 0: explained; 1: something is unsatisfiable.
    """
    if output not in ("text", "json", "yaml"):
        raise CliError(f"-o {output}: wanted text, json or yaml", USAGE)
    is_whole = isolation is Isolation.NAMESPACE
    inputs = inputs_of(namespace, catalog, folder, (state, kubeconfig), is_whole=is_whole)
    check(inputs, (state, kubeconfig), is_given=bool(catalog or folder))
    findings, found = explained(inputs, subscription)
    if subscription and not findings and not found:
        raise CliError(f"{subscription}: no such Subscription in namespace {inputs.namespace}", NEGATIVE)
    if output == "text":
        say(*told(findings, found))
    else:
        from dataclasses import asdict

        from shared.domain.resolver.explain.findings import as_json

        document({"refused": aimed_in(as_json(findings)), "decided": [asdict(one) for one in found]}, output)
    if findings:
        raise typer.Exit(NEGATIVE)


def explained(inputs: Inputs, subscription: str = "") -> tuple[list[Finding], list[Choice]]:
    """The refusals and the decisions, of all Subscriptions or of one. CliError when it takes too long."""
    from shared.domain.resolver.explain.choices import choices
    from shared.domain.resolver.explain.fixes import explain as refusals
    from shared.domain.resolver.resolve import resolve
    from shared.domain.resolver.sat import GaveUp

    resolution = resolve(inputs)
    try:
        findings, found = refusals(inputs, resolution), choices(inputs, resolution)
    except GaveUp as error:
        raise CliError(f"{error}; ask for one Subscription at a time", UNKNOWN) from error
    return (
        [one for one in findings if subscription in ("", *one.subscribers)],
        [one for one in found if subscription in ("", one.subscriber)],
    )


def told(findings: list[Finding], found: list[Choice]) -> Iterator[str]:
    """The explanation as text, in short and then in full."""
    for finding in findings:
        yield from finding.summary
        yield from ("", "in full:", *(f"  {line}" for line in finding.details), "")
    for one in found:
        yield f"{one.subscriber}: {one.reason}"
        yield from (f"  not {each.name}: {each.code}: {each.sentence}" for each in one.newer[:_NEWEST])
        if len(one.newer) > _NEWEST:
            yield f"  and {len(one.newer) - _NEWEST} more newer versions; -o json has all"
    if not findings and not found:
        yield "there is no Subscription that waits for an answer"
