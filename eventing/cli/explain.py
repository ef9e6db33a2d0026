"""Why a namespace gets what it gets, and what would help: `explain`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.commands import marked, quoted, shown, values
from eventing.cli.explain_extension import Explained, explained_extensions, is_extension
from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.names import similar
from eventing.cli.namespace_inputs import CatalogsOption, FromOption, Where, read_inputs
from eventing.cli.objects import subscription_meant
from eventing.cli.output import TextOption, document, print_lines
from eventing.cli.resolve import Isolation
from eventing.cli.status_text import is_failing, row_of, stands
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption, choose
from eventing.diagnosis.status.package_status import PackageStatus
from eventing.diagnosis.status.reader import Sources, package_statuses
from shared.domain.command import olmf
from shared.domain.resolver.explain.choices import choices
from shared.domain.resolver.explain.findings import as_json
from shared.domain.resolver.explain.fixes import explain as refusals
from shared.domain.resolver.resolve import resolve
from shared.domain.resolver.sat import GaveUp
from shared.domain.subscription.conditions import RESOLUTION_FAILED
from shared.kinds import SUBSCRIPTION

if TYPE_CHECKING:
    from eventing.workqueue import Listed
    from shared.domain.resolver.explain.choices import Choice
    from shared.domain.resolver.explain.findings import Finding
    from shared.domain.resolver.model import Inputs
    from shared.ports import Cluster

_NEWEST = 5
"""How many newer versions the text lists; JSON has all."""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(explain)


def explain(
    subscription: Annotated[
        str, typer.Argument(metavar="[SUBSCRIPTION]", help="Only this one, or its package, or ClusterExtension/NAME.")
    ] = "",
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
    """Say why each Subscription and ClusterExtension gets its version, or why it gets none and what would help.

    Every fix was tried: with it applied there is an answer. Exit code 0: every Subscription has, or will get, its
    version; 1: something is unsatisfiable, failed, lacks what only a person gives, or leads nowhere; 3: not known yet.
    """
    extensions, are_all = _extensions(subscription, namespace, (catalog, folder), (state, kubeconfig))
    if are_all:
        _show_extensions(extensions, output)
        return
    is_whole = isolation is Isolation.NAMESPACE
    looked_at = read_inputs(namespace, catalog, folder, (state, kubeconfig), is_whole=is_whole, quiet=True)
    inputs = looked_at.inputs
    subscription = subscription_meant(subscription, {one.name: one.package for one in inputs.subscribers})
    findings, found = explained(inputs, subscription)
    objects = looked_at.objects()
    packages = statuses(objects, inputs.namespace, subscription, looked_at.jobs()) if objects else []
    if subscription and not (findings or found or packages):
        raise _unknown(subscription, inputs)
    if output == "text":
        print_lines(*lines(findings, found, packages), *(line for one in extensions for line in one.lines()))
    else:
        document(_value(findings, found, packages, extensions), output)
    every = [*packages, *(one.answer.status for one in extensions)]
    if code := _exit_code(findings, found, every):
        raise typer.Exit(code)


def _unknown(subscription: str, inputs: Inputs) -> CliError:
    hint = similar(subscription, (one.name for one in inputs.subscribers))
    return CliError(f"{subscription}: no such Subscription in namespace {inputs.namespace}{hint}", NEGATIVE)


def _exit_code(findings: list[Finding], found: list[Choice], statuses: Sequence[PackageStatus]) -> int:
    if any(not one.is_open for one in findings) or any(one.dead_end for one in found) or any(map(is_failing, statuses)):
        return NEGATIVE
    return UNKNOWN if findings else 0


def _value(
    findings: list[Finding], found: list[Choice], packages: list[PackageStatus], extensions: Sequence[Explained]
) -> Mapping[str, object]:
    value = {"refused": as_json(findings, shown), "decided": values(found), "packages": list(map(row_of, packages))}
    return {**value, **({"extensions": [one.json() for one in extensions]} if extensions else {})}


def _extensions(
    words: str, namespace: str, files: tuple[object, object], cluster: Where
) -> tuple[Sequence[Explained], bool]:
    """Those that install into the namespace, or the one that is named; none where files are looked at. CliError.

    And whether they are all there is to tell: there is no Subscription, or nobody asks for one.
    """
    if any(files):
        if is_extension(words):
            verbs = " and ".join(
                map(quoted, (olmf("extension", "resolve", "-f", "FILE"), olmf("why", "--from", "CAPTURE")))
            )
            raise CliError(f"{words}: extensions are not read from files and captures here; {verbs} read them", USAGE)
        return (), False
    target = choose(*cluster)
    if is_extension(words):
        return explained_extensions(target, name=words), True
    place = namespace or target.namespace
    found = () if words else explained_extensions(target, namespace=place)
    return found, bool(found) and not target.cluster().list(SUBSCRIPTION, place)


def _show_extensions(found: Sequence[Explained], output: str) -> None:
    if output == "text":
        print_lines(*(line for one in found for line in one.lines()))
    else:
        document({"extensions": [one.json() for one in found]}, output)
    if any(is_failing(one.answer.status) for one in found):
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


def statuses(
    objects: Cluster, namespace: str, subscription: str = "", jobs: Sequence[Listed] = ()
) -> list[PackageStatus]:
    """The Subscriptions of a namespace, or one of them; without what a new resolution knows better."""
    found = package_statuses(Sources(objects, tuple(jobs)), namespace)
    named = [one for one in found if one.subscription and subscription in ("", one.subscription)]
    return [one for one in named if one.phase != RESOLUTION_FAILED]


def lines(findings: list[Finding], found: list[Choice], packages: list[PackageStatus]) -> Iterator[str]:
    """The explanation as text; a version that does not work is not said to be installed."""
    for finding in findings:
        yield from (*finding.details(marked), "")
    refused = {name for one in findings for name in one.subscribers}
    at = {one.subscription: one for one in packages if one.subscription not in refused or not one.is_well}
    for one in found:
        status = at.pop(one.subscriber, None)
        is_well = status is None or status.is_well
        if is_well or one.gets:
            yield f"{one.subscriber}: {one.reason}"
        if status and not is_well:
            yield f"{one.subscriber}: {stands(status)}"
        elif status and status.deprecated:
            yield f"{one.subscriber}: deprecated: {status.deprecated}"
        yield from (f"  not {each.name}: {each.code}: {each.sentence}" for each in one.newer[:_NEWEST])
        if len(one.newer) > _NEWEST:
            yield f"  and {len(one.newer) - _NEWEST} more newer versions; -o json has all"
    yield from (f"{name}: {stands(status)}" for name, status in at.items())
    if not (findings or found or packages):
        yield "there is no Subscription that waits for an answer"
