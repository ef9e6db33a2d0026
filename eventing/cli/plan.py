"""`olmf plan`: what installs and upgrades of a namespace would create, change and delete, before they do."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventing.cli.commands import quoted
from eventing.cli.extension.report import Report, as_markdown, as_text, as_value
from eventing.cli.failure import NEGATIVE, UNKNOWN, CliError
from eventing.cli.inputs.bundle_files import files_of, image_of
from eventing.cli.inputs.pulling import pulling
from eventing.cli.namespace_inputs import CatalogsOption, FromOption, NamespaceInputs, read_inputs
from eventing.cli.output import ReportOption, as_yaml, document
from eventing.cli.resolve import resolved
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption
from eventing.diagnosis.doctor.bundle_kinds import allowed_kinds
from eventing.diagnosis.forecast.forecast import Forecast, Upcoming, forecast, lacking_of_versions
from eventing.diagnosis.forecast.grants import grants
from eventing.diagnosis.forecast.present_objects import placed
from eventing.diagnosis.status.chain import originals
from eventing.diagnosis.status.decider import SETTLED
from eventing.diagnosis.status.rules import TO_APPROVE
from eventing.wiring.environment import settings
from shared.api.views import Csv, Subscription
from shared.domain.authoring.bundles.images import related_images
from shared.domain.authoring.bundles.install import InstallStep, Target, install_steps, properties_annotation
from shared.domain.bundle.model import BadBundle, Files
from shared.domain.bundle.parse import parse
from shared.domain.bundle.platform import NotInspected
from shared.domain.bundle.reading import MANIFESTS, documents
from shared.domain.command import Command, olmf
from shared.domain.csv.lacking import lacking as lacking_of
from shared.domain.plan.dependencies import subscription
from shared.domain.resolver.explain.fixes import explain
from shared.domain.resolver.model import Chosen
from shared.domain.resolver.reasons import Code
from shared.domain.resolver.resolve import resolve
from shared.domain.resolver.sat import GaveUp
from shared.domain.serving.registry_api import NotServable, content_of
from shared.domain.subscription.conditions import PLAN_PENDING
from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION

if TYPE_CHECKING:
    from eventing.diagnosis.forecast.checks import Grade
    from eventing.diagnosis.forecast.present_objects import PresentObjects
    from shared.api.views import OperatorGroup
    from shared.domain.resolver.model import Inputs, Resolution
    from shared.policy import Policy

    Manifest = dict[str, Any]


_OPEN = (Code.CATALOG_UNREADABLE, Code.GAVE_UP, Code.PREVENTED)
"""What prevented a decision that may be had later, as it is; everything else takes an edit."""


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
        typer.Option("--grants", help="Print only the roles and bindings with what the group's account lacks."),
    ] = False,
    output: ReportOption = "text",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Show what the Subscriptions of a namespace would create, change and delete: on a cluster, a capture, or files.

    What exists is compared field by field, and what goes with a replaced version is listed. Stored objects, kinds, the
    OperatorGroup, the rights of its account and the API server are judged as the plan and the installation would.

    Exit code 0: it would be done; 1: something blocks it; 3: something that may block it could not be found out.
    """
    source = read_inputs(namespace, catalog, folder, (state, kubeconfig), is_whole=False)
    report = _report(source, check_images=check_images)
    if only_grants:
        _write_grants(report.grants, output)
    if only_grants and report.grants:
        return
    if only_grants:
        sys.stderr.write(_without_grants(report))
    elif output == "text":
        sys.stdout.write(as_text(report))
    elif output == "markdown":
        sys.stdout.write(as_markdown(report))
    else:
        document(as_value(report), output)
    if report.blockers or report.unknown:
        raise typer.Exit(NEGATIVE if report.blockers else UNKNOWN)


def _write_grants(grants: Sequence[Mapping[str, Any]], output: str) -> None:
    """As kubectl applies them: a List in JSON, else a stream of YAML."""
    if output == "json":
        document({"apiVersion": "v1", "kind": "List", "items": grants}, output)
    else:
        sys.stdout.write(as_yaml(grants))


def _without_grants(report: Report) -> str:
    """What there is to say where no right is lacking, or what the account lacks cannot be told."""
    stops = [*(f"blocked: {one}" for one in report.blockers), *(f"not known: {one}" for one in report.unknown)]
    return "".join(f"# {line}\n" for one in stops or ["nothing is lacking"] for line in one.splitlines())


def _report(source: NamespaceInputs, *, check_images: bool) -> Report:
    """What would happen. CliError when it cannot be found out."""
    resolution, present = resolve(source.inputs), source.present_objects()
    rows, _ = resolved(source.inputs, resolution)
    refused, undecided = _refused(source.inputs, resolution)
    reasons = tuple(f"{row['subscription']}: {row['has'] or 'nothing'} -> {row['gets']}" for row in rows if row["gets"])
    begun = [*_begun(source.inputs, present)]
    reasons += tuple(f"{one.subscribers[0]}: {one.bundle.name} is planned already, and {why}" for one, why in begun)
    versions = [_upcoming(source, one, present.group()) for one in (*(one for one, _ in begun), *resolution.chosen)]
    images = list(dict.fromkeys(image for _, needed in versions for image in needed))
    missing, unseen = _judged(images) if check_images else ([], [])
    found = forecast([version for version, _ in versions], present, _policy(present))
    under_way = tuple(_under_way(present))
    of_versions = lacking_of_versions(under_way, present, _policy(present))
    lacking = grants((*(one.lacking for one in found.findings if one.lacking), *of_versions))
    grant = quoted(olmf("plan", "--grants", namespace=source.inputs.namespace))
    hints = [f"{grant} prints roles and bindings that give the account what it lacks"] if lacking else []
    return Report(
        reasons, found.changes, found.permissions,
        (*refused, *_graded(found, "blocks"), *missing),
        (*hints, *_graded(found, "remark"), *(f"image {image}" for image in images)),
        (*undecided, *_graded(found, "unknown"), *unseen),
        tuple(map(_stands, under_way)), tuple(lacking),
    )  # fmt: skip


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
            is_open = refusal.is_prevented and refusal.code in _OPEN
            for name in component.subscribers:
                advised = [f"fix: {one.what}: {_do(one.do)}" for one in fixes.get(name, ())[:1]]
                (undecided if is_open else blocked).append("; ".join((f"{name}: {resolution.reasons[name]}", *advised)))
    return sorted(blocked), sorted(undecided)


def _do(what: Command | str) -> str:
    return quoted(what) if isinstance(what, Command) else what


def _to_approve(present: PresentObjects) -> dict[str, str]:
    """The Subscriptions whose plans wait for approval, and what approves each."""
    found = Subscription.each(present.all_of(SUBSCRIPTION, present.namespace))
    return {one.name: _approved_by(one) for one in found if one.condition(PLAN_PENDING).reason == TO_APPROVE}


def _approved_by(subscription: Subscription) -> str:
    approve = quoted(olmf("approve", subscription.plan, namespace=subscription.namespace))
    return f"InstallPlan {subscription.plan} waits for approval; {approve} approves it"


def _under_way(present: PresentObjects) -> Iterator[Csv]:
    """The versions that are there and do not work yet, or not any more."""
    return (one for one in originals(Csv.each(present.csvs())) if one.phase and one.phase not in SETTLED)


def _stands(csv: Csv) -> str:
    """Where a version stands, and what it waits for."""
    return ": ".join(filter(None, (f"{csv.name} is {csv.phase}", lacking_of(csv))))


def _policy(present: PresentObjects) -> Policy:
    """Our settings, and what those of a cluster let bundles hold."""
    policy = settings().policy
    allowed = allowed_kinds(present.cluster) if present.cluster else ()
    return replace(policy, bundle_kinds=(*policy.bundle_kinds, *allowed))


def _graded(found: Forecast, grade: Grade) -> list[str]:
    return [one.text for one in found.findings if one.grade == grade]


def _begun(inputs: Inputs, present: PresentObjects) -> Iterator[tuple[Chosen, str]]:
    """The versions of plans that are not ended, and what each waits for: nothing else is resolved before."""
    to_approve = _to_approve(present)
    # The version of such a plan may be there: it counts as installed then, and says itself what it replaces.
    replaced_by = {csv.name: csv.replaces for csv in Csv.each(present.csvs())}
    for one in inputs.subscribers:
        package = inputs.package(one.catalog, one.package) if one.waits else None
        bundle = package.bundles.get(one.planned_csv) if package else None
        if package and bundle:
            entries = (entry for each in package.channels for entry in each.entries if one.follows(each.name))
            former = next((entry.replaces for entry in entries if entry.name == bundle.name), "")
            catalog, replaced = inputs.catalogs[one.catalog], replaced_by.get(bundle.name, one.installed_csv or former)
            yield (
                Chosen(bundle, one.package, one.channel, catalog, replaced, (one.name,)),
                to_approve.get(one.name, one.waits),
            )


def _upcoming(source: NamespaceInputs, chosen: Chosen, group: OperatorGroup | None) -> tuple[Upcoming, list[str]]:
    """A bundle as its plan would write it, and the images that it needs. CliError."""
    namespace = source.inputs.namespace
    files, image = _files(source, chosen)
    bundle = parse(files, chosen.bundle.name, is_complete=True) if image else None
    if isinstance(bundle, BadBundle):
        raise CliError(bundle.message, NEGATIVE)
    target = Target(namespace, chosen.replaces, properties_annotation(chosen.bundle.properties), group)
    found = install_steps(documents(files, MANIFESTS), target, chosen.bundle.name)
    if isinstance(found, BadBundle):
        raise CliError(found.message, NEGATIVE)
    steps = [_manifest(step, namespace) for step in found.steps]
    asked = [] if chosen.subscribers else [subscription(chosen, namespace)]
    served = [_manifest(step, namespace, is_placed=True) for step in found.served]
    csvs = [bundle.csv] if bundle else [one for one in steps if one["kind"] == CLUSTER_SERVICE_VERSION.kind]
    images = [str(one["image"]) for csv in csvs for one in related_images(csv, image)]
    return Upcoming([*asked, *steps], served, chosen.replaces, tuple(chosen.subscribers)), images


def _files(source: NamespaceInputs, chosen: Chosen) -> tuple[Files, str]:
    """The files of a bundle, and its image where it has one."""
    name = chosen.bundle.name
    if chosen.bundle.image:
        image = image_of(chosen.bundle.image, name)
        return files_of(image), str(image)
    try:
        texts = content_of(source.document(chosen) or {}, "", {}).objects
    except NotServable as error:
        raise CliError(f"{name}: {error}", NEGATIVE) from error
    if not texts:
        raise CliError(f"{name} has neither an image nor manifests in its catalog", UNKNOWN)
    return {f"{MANIFESTS}/{number:04}.json": text.encode() for number, text in enumerate(texts)}, ""


def _judged(images: Sequence[str]) -> tuple[list[str], list[str]]:
    """Sentences about images that do not exist, and about those of which it could not be found out."""
    from shared.adapters.image_platforms import Inspector

    found = Inspector().inspected(images)
    failed = {image: one for image in images if isinstance(one := found[image], NotInspected)}
    missing = [f"image {image} cannot be pulled: {one.why}" for image, one in failed.items() if one.is_missing]
    return missing, [f"image {image}: {one.why}" for image, one in failed.items() if not one.is_missing]


def _manifest(step: InstallStep, namespace: str, *, is_placed: bool = False) -> Manifest:
    """The object of a step in the namespace; one that `is_placed` is where it says."""
    manifest: Manifest = {
        "apiVersion": f"{step.group}/{step.version}".lstrip("/"), "kind": step.kind, **json.loads(step.manifest),
    }  # fmt: skip
    left_out = ("ownerReferences",) if is_placed else ("namespace", "ownerReferences")
    meta = {key: value for key, value in manifest["metadata"].items() if key not in left_out}
    return placed({**manifest, "metadata": meta}, namespace)
