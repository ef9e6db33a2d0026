"""`olmf plan`: what installs and upgrades of a namespace would create, change and delete, before they do."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventing.cli.commands import quoted
from eventing.cli.extension.report import Needed, Report, as_markdown, as_text, as_value
from eventing.cli.failure import NEGATIVE, UNKNOWN, CliError
from eventing.cli.inputs.pulling import pulling
from eventing.cli.namespace_inputs import CatalogsOption, FromOption, NamespaceInputs, read_inputs
from eventing.cli.output import ReportOption, as_yaml, document
from eventing.cli.resolve import resolved
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption
from eventing.cli.upcoming import Step, begun, later_steps, upcoming
from eventing.diagnosis.doctor.bundle_kinds import allowed_kinds
from eventing.diagnosis.forecast.account import is_known
from eventing.diagnosis.forecast.forecast import Forecast, forecast, lacking_of_versions
from eventing.diagnosis.forecast.grants import grants
from eventing.diagnosis.status.chain import originals
from eventing.diagnosis.status.decider import SETTLED
from eventing.wiring.environment import settings
from shared.api.views import Csv
from shared.domain.bundle.platform import NotInspected
from shared.domain.command import Command, olmf
from shared.domain.csv.lacking import lacking as lacking_of
from shared.domain.objects.denials import plain
from shared.domain.resolver.explain.fixes import explain
from shared.domain.resolver.resolve import resolve
from shared.domain.resolver.sat import GaveUp

if TYPE_CHECKING:
    from eventing.diagnosis.forecast.checks import Grade
    from eventing.diagnosis.forecast.present_objects import PresentObjects
    from shared.domain.resolver.model import Inputs, Resolution
    from shared.policy import Policy

_MOST_NAMED = 5
_TEXTS = {"text": as_text, "markdown": as_markdown}


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(pulling(plan))


def plan(
    namespace: NamespaceOption = "",
    catalog: CatalogsOption = None,
    folder: FromOption = None,
    *,
    check_images: Annotated[
        bool, typer.Option("--check-images", help="Ask registries, as this machine may, whether each image is there.")
    ] = False,
    only_grants: Annotated[
        bool,
        typer.Option(
            "--grants", help="Print only roles and bindings: what the group's account lacks, up to the last versions."
        ),
    ] = False,
    output: ReportOption = "text",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Show what the Subscriptions of a namespace would create, change and delete: on a cluster, a capture, or files.

    What exists is compared field by field, and what goes with a replaced version is listed. Stored objects, kinds, the
    OperatorGroup, the rights of its account and the API server are judged as the plan and the installation would.

    Exit code 0: it would be done, or grants are printed; 1: something blocks it; 3: something that may block it, or all
    that is lacking, could not be found out.
    """
    source = read_inputs(namespace, catalog, folder, (state, kubeconfig), is_whole=False)
    report = _report(source, check_images=check_images, only_grants=only_grants)
    granted = report.needed.grants if only_grants else ()
    if only_grants:
        _write_grants(granted, output)
        sys.stderr.write(_about_grants(report))
    else:
        _write(report, output)
    if report.blockers and not granted:
        raise typer.Exit(NEGATIVE)
    if report.needed.unread if granted else report.unknown:
        raise typer.Exit(UNKNOWN)


def _write(report: Report, output: str) -> None:
    if output in _TEXTS:
        sys.stdout.write(_TEXTS[output](report))
    else:
        document(as_value(report), output)


def _write_grants(grants: Sequence[Mapping[str, Any]], output: str) -> None:
    """As kubectl applies them: a List in JSON, else a stream of YAML."""
    if output == "json":
        document({"apiVersion": "v1", "kind": "List", "items": grants}, output)
    else:
        sys.stdout.write(as_yaml(grants))


def _about_grants(report: Report) -> str:
    """What the grants are for, or what is in their way; and what is not known."""
    needed, unknown = report.needed, [f"not known: {one}" for one in report.unknown]
    found = [f"for {_listed(needed.versions)}"] if needed.grants else [f"blocked: {one}" for one in report.blockers]
    lines = [*found, *unknown] or ["nothing is lacking"]
    return "".join(f"# {line}\n" for one in lines for line in one.splitlines())


def _report(source: NamespaceInputs, *, check_images: bool, only_grants: bool) -> Report:
    """What would happen. CliError when it cannot be found out."""
    resolution, present = resolve(source.inputs), source.present_objects()
    rows, _ = resolved(source.inputs, resolution)
    refused, undecided = _refused(source.inputs, resolution)
    reasons = tuple(f"{row['subscription']}: {row['has'] or 'nothing'} -> {row['gets']}" for row in rows if row["gets"])
    planned = [*begun(source.inputs, present)]
    reasons += tuple(f"{one.subscribers[0]}: {one.bundle.name} is planned already, and {why}" for one, why in planned)
    chosen, policy = (*(one for one, _ in planned), *resolution.chosen), _policy(present)
    versions = [upcoming(source, one, present.group()) for one in chosen]
    images = list(dict.fromkeys(image for _, needed in versions for image in needed))
    missing, unseen = _judged(images) if check_images else ([], [])
    found = forecast([version for version, _ in versions], present, policy)
    under_way = tuple(_under_way(present))
    needed = _needed(source, Step(chosen, present, found), under_way, policy, is_asked=only_grants)
    print_them = quoted(olmf("plan", "--grants", namespace=source.inputs.namespace))
    hint = f"{print_them} prints roles and bindings with what the account lacks for {_listed(needed.versions)}"
    remarks = (*_staying(source.inputs, resolution), *([hint] if needed.grants else ()), *_graded(found, "remark"))
    return Report(
        reasons, found.changes, found.permissions,
        (*refused, *_graded(found, "blocks"), *missing),
        (*remarks, *(f"image {image}" for image in images)),
        (*undecided, *_graded(found, "unknown"), *unseen, *filter(None, [needed.unread])),
        tuple(map(_stands, under_way)), needed,
    )  # fmt: skip


def _staying(inputs: Inputs, resolution: Resolution) -> Iterator[str]:
    """What is offered and not taken."""
    for name, why in sorted(resolution.stays.items()):
        command = quoted(olmf("explain", name, namespace=inputs.namespace))
        yield f"{name} stays: {why.message}; {command} shows more"


def _needed(source: NamespaceInputs, step: Step, under_way: Sequence[Csv], policy: Policy, *, is_asked: bool) -> Needed:
    """What the account lacks for all versions up to the last ones, if it lacks any of it now, or `is_asked`."""
    present, names, unread = step.present, [*step.names, *(one.name for one in under_way)], ""
    lacking = [*step.found.lacking, *lacking_of_versions(under_way, present, policy)]
    group = present.group() if is_asked else None
    try:
        for each in later_steps(source, step, policy) if lacking or (group and is_known(group, present)) else ():
            lacking += each.found.lacking
            names += each.names
    except CliError as error:
        unread = f"what the versions after {_listed(names)} need: {error}"
    return Needed(tuple(grants(lacking)), tuple(dict.fromkeys(names)), unread)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


def _refused(inputs: Inputs, resolution: Resolution) -> tuple[list[str], list[str]]:
    """Sentences about what gets nothing, each with a fix, and about what cannot be decided yet."""
    try:
        fixes = {name: each.advised for each in explain(inputs, resolution) for name in each.subscribers}
    except GaveUp:  # what is refused is known without
        fixes = {}
    blocked: list[str] = []
    undecided: list[str] = []
    for component in resolution.components:
        if refusal := component.refusal:
            for name in component.subscribers:
                advised = [f"fix: {one.what}: {_do(one.do)}" for one in fixes.get(name, ())[:1]]
                (undecided if refusal.is_open else blocked).append(
                    "; ".join((f"{name}: {resolution.reasons[name]}", *advised))
                )
    return sorted(blocked), sorted(undecided)


def _do(what: Command | str) -> str:
    return quoted(what) if isinstance(what, Command) else what


def _under_way(present: PresentObjects) -> Iterator[Csv]:
    """The versions that are there and do not work yet, or not any more."""
    return (one for one in originals(Csv.each(present.csvs())) if one.phase and one.phase not in SETTLED)


def _stands(csv: Csv) -> str:
    """Where a version stands, and what it waits for."""
    return ": ".join(filter(None, (f"{csv.name} is {csv.phase}", plain(lacking_of(csv)))))


def _policy(present: PresentObjects) -> Policy:
    """Our settings, and what those of a cluster let bundles hold."""
    policy = settings().policy
    allowed = allowed_kinds(present.cluster) if present.cluster else ()
    return replace(policy, bundle_kinds=(*policy.bundle_kinds, *allowed))


def _graded(found: Forecast, grade: Grade) -> list[str]:
    return list(dict.fromkeys(one.text for one in found.findings if one.grade == grade))


def _judged(images: Sequence[str]) -> tuple[list[str], list[str]]:
    """Sentences about images that do not exist, and about those of which it could not be found out."""
    from shared.adapters.image_platforms import Inspector

    found = Inspector().inspected(images)
    failed = {image: one for image in images if isinstance(one := found[image], NotInspected)}
    missing = [f"image {image} cannot be pulled: {one.why}" for image, one in failed.items() if one.is_missing]
    return missing, [f"image {image}: {one.why}" for image, one in failed.items() if not one.is_missing]
