"""Why a namespace gets what it gets, and what would help: `explain`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.aim import aimed_in
from eventing.cli.failure import NEGATIVE, UNKNOWN, CliError
from eventing.cli.given import CatalogsOption, FromOption, given
from eventing.cli.output import TextOption, document, say
from eventing.cli.resolve import Isolation
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption
from eventing.diagnosis.status.listing import installed
from shared.domain.resolver.explain.choices import choices
from shared.domain.resolver.explain.findings import as_json
from shared.domain.resolver.explain.fixes import explain as refusals
from shared.domain.resolver.resolve import resolve
from shared.domain.resolver.sat import GaveUp
from shared.domain.unpack.report import REFUSED

if TYPE_CHECKING:
    from eventing.cli.namespace import Row
    from eventing.workqueue import Listed
    from shared.domain.resolver.explain.choices import Choice
    from shared.domain.resolver.explain.findings import Finding
    from shared.domain.resolver.model import Inputs
    from shared.ports import Cluster

_UNDER_WAY = ("Resolving", "BundleUnpacking", "InstallPlanPending")
"""Where a package stands before there is a version that could fail."""
_NEWEST = 5
"""Newer versions that are told as text; JSON has all."""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(explain)


def explain(
    subscription: Annotated[str, typer.Argument(metavar="[SUBSCRIPTION]", help="Only this Subscription.")] = "",
    namespace: NamespaceOption = "",
    catalog: CatalogsOption = None,
    folder: FromOption = None,
    *,
    isolation: Annotated[
        Isolation, typer.Option(help="A conflict stops its component, or the namespace as in OLM.")
    ] = Isolation.COMPONENT,
    output: TextOption = "text",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Say why each Subscription gets its version, or why it gets none and what would help.

    Every fix was tried: with it applied there is an answer. Exit code 0: every Subscription has, or will get, its
    version; 1: something is unsatisfiable, does not work (yet), or leads nowhere.
    """
    is_whole = isolation is Isolation.NAMESPACE
    looked_at = given(namespace, catalog, folder, (state, kubeconfig), is_whole=is_whole)
    inputs = looked_at.inputs
    findings, found = explained(inputs, subscription)
    objects = looked_at.objects()
    rows = standings(objects, inputs.namespace, subscription, looked_at.jobs()) if objects else []
    if subscription and not (findings or found or rows):
        raise CliError(f"{subscription}: no such Subscription in namespace {inputs.namespace}", NEGATIVE)
    if output == "text":
        say(*told(findings, found, rows))
    else:
        decided = [asdict(one) for one in found]
        document({"refused": aimed_in(as_json(findings)), "decided": decided, "stands": aimed_in(rows)}, output)
    if findings or any(one.dead_end for one in found) or any(map(is_failing, rows)):
        raise typer.Exit(NEGATIVE)


def explained(inputs: Inputs, subscription: str = "") -> tuple[list[Finding], list[Choice]]:
    """The refusals and the decisions, of all Subscriptions or of one. CliError when it takes too long."""
    resolution = resolve(inputs)
    try:
        findings, found = refusals(inputs, resolution), choices(inputs, resolution)
    except GaveUp as error:
        raise CliError(f"{error}; ask for one Subscription at a time", UNKNOWN) from error
    return (
        [one for one in findings if subscription in ("", *one.subscribers)],
        [one for one in found if subscription in ("", one.subscriber)],
    )


def standings(objects: Cluster, namespace: str, subscription: str = "", jobs: Sequence[Listed] = ()) -> list[Row]:
    """Where the Subscriptions of a namespace stand, or one of them; without what a new resolution knows better."""
    rows = [row for row in installed(objects, namespace, jobs) if row["phase"] != "ResolutionFailed"]
    return [row for row in rows if row["subscription"] and subscription in ("", row["subscription"])]


def is_failing(row: Row) -> bool:
    """Whether a package neither works nor is on its way: refused by the API server, or its run fails, it is not."""
    if row["phase"] in _UNDER_WAY:
        return row.get("reason") == REFUSED or bool(row.get("nextTry"))
    return row["phase"] != "Succeeded"


def told(findings: list[Finding], found: list[Choice], rows: list[Row]) -> Iterator[str]:
    """The explanation as text; a version that does not work is not said to be installed."""
    for finding in findings:
        yield from (*finding.details, "")
    refused = {name for one in findings for name in one.subscribers}
    at = {str(row["subscription"]): row for row in rows}
    at = {name: row for name, row in at.items() if name not in refused or row["phase"] != "Succeeded"}
    for one in found:
        row = at.pop(one.subscriber, None)
        is_well = row is None or row["phase"] == "Succeeded"
        if is_well or one.gets:
            yield f"{one.subscriber}: {one.reason}"
        if row and not is_well:
            yield f"{one.subscriber}: {_stands(row)}"
        yield from (f"  not {each.name}: {each.code}: {each.sentence}" for each in one.newer[:_NEWEST])
        if len(one.newer) > _NEWEST:
            yield f"  and {len(one.newer) - _NEWEST} more newer versions; -o json has all"
    yield from (f"{name}: {_stands(row)}" for name, row in at.items())
    if not (findings or found or rows):
        yield "there is no Subscription that waits for an answer"


def _stands(row: Row) -> str:
    """Where a package stands and why; the reason of a condition may be its name."""
    phase, says = str(row["phase"]), str(row["says"])
    what = " is ".join(filter(None, (str(row["version"]), phase)))
    return ": ".join(filter(None, (what, says.removeprefix(f"{phase}: "))))
