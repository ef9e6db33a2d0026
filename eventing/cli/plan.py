"""`olmf plan`: what installs and upgrades of a namespace would create, change and delete, before they do."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventing.cli.extension.report import Report, as_markdown, as_text, as_value
from eventing.cli.failure import NEGATIVE, UNKNOWN, CliError
from eventing.cli.inputs.bundle import opened
from eventing.cli.inputs.pulling import pulling
from eventing.cli.namespace_inputs import CatalogsOption, FromOption, NamespaceInputs, read_inputs
from eventing.cli.output import ReportOption, document
from eventing.cli.present_objects import PresentObjects, definitions, placed
from eventing.cli.resolve import resolved
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.reference import Reference
from shared.api.manifest import name_of
from shared.api.views import Csv
from shared.domain.authoring.bundles.images import related_images
from shared.domain.authoring.bundles.install import InstallStep, Target, install_steps, properties_annotation
from shared.domain.bundle.model import BadBundle, Files
from shared.domain.bundle.parse import parse
from shared.domain.bundle.platform import NotInspected
from shared.domain.bundle.reading import MANIFESTS, documents
from shared.domain.endpoints.outline import converted
from shared.domain.extension.outlook import Change, Effect, changes, identity_of, misfits
from shared.domain.plan.crds import risk
from shared.domain.resolver.model import Chosen
from shared.domain.resolver.resolve import resolve
from shared.domain.serving.registry_api import NotServable, content_of
from shared.kinds import CLUSTER_SERVICE_VERSION, CUSTOM_RESOURCE_DEFINITION, RBAC

if TYPE_CHECKING:
    from shared.domain.resolver.model import Inputs

    Manifest = dict[str, Any]

_RULES = tuple(kind.kind for kind in RBAC if not kind.kind.endswith("Binding"))


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
    output: ReportOption = "text",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Show what the Subscriptions of a namespace would create, change and delete: on a cluster, a capture, or files.

    Definitions are judged as the plan would: stored versions and stored objects. Permissions and images are listed.

    Exit code 0: it would be done; 1: something blocks it; 3: it could not be found out.
    """
    source = read_inputs(namespace, catalog, folder, (state, kubeconfig), is_whole=False)
    resolution = resolve(source.inputs)
    rows, code = resolved(source.inputs, resolution)
    if code == UNKNOWN:
        raise CliError("; ".join(str(row["why"]) for row in rows), UNKNOWN)
    refused = [f"{row['subscription']}: {row['why']}" for row in rows if not row["gets"]] if code else []
    reasons = tuple(f"{row['subscription']}: {row['has'] or 'nothing'} -> {row['gets']}" for row in rows if row["gets"])
    begun = [*_begun(source.inputs)]
    reasons += tuple(f"{one.subscribers[0]}: {one.bundle.name} is planned already, and {why}" for one, why in begun)
    report, images = _report(source, [*(one for one, _ in begun), *resolution.chosen], reasons, refused)
    missing, unknown = _judged(images) if check_images else ([], [])
    remarks = (*report.remarks, *unknown, *(f"image {image}" for image in images))
    report = replace(report, blockers=(*report.blockers, *missing), remarks=remarks)
    if output == "text":
        sys.stdout.write(as_text(report))
    elif output == "markdown":
        sys.stdout.write(as_markdown(report))
    else:
        document(as_value(report), output)
    if report.blockers or unknown:
        raise typer.Exit(NEGATIVE if report.blockers else UNKNOWN)


def _begun(inputs: Inputs) -> Iterator[tuple[Chosen, str]]:
    """The versions of plans that are not ended, and what each waits for: nothing else is resolved before."""
    for one in inputs.subscribers:
        package = inputs.package(one.catalog, one.package) if one.waits else None
        bundle = package.bundles.get(one.planned_csv) if package else None
        if package and bundle:
            entries = (entry for each in package.channels for entry in each.entries if one.follows(each.name))
            former = next((entry.replaces for entry in entries if entry.name == bundle.name), "")
            catalog, replaced = inputs.catalogs[one.catalog], one.installed_csv or former
            yield Chosen(bundle, one.package, one.channel, catalog, replaced, (one.name,)), one.waits


def _report(
    source: NamespaceInputs, chosen: Sequence[Chosen], reasons: tuple[str, ...], refused: list[str]
) -> tuple[Report, Sequence[str]]:
    """What would happen, and the images that it needs."""
    place = source.inputs.namespace
    desired: list[Manifest] = []
    images: dict[str, None] = {}
    for one in chosen:
        objects, needed = _content(source, one, place)
        desired += objects
        images |= dict.fromkeys(needed)
    present_objects = source.present_objects()
    names = {one.replaces for one in chosen if one.replaces}
    present = [*present_objects.leading_to(names), *present_objects.present(desired)]
    found = changes(present, desired)
    changed = {identity_of(one.manifest) for one in found if one.effect is not Effect.KEEP}
    stored = [*present_objects.stored([one for one in definitions(present) if identity_of(one) in changed])]
    replaced = [Change(Effect.REMOVE, one) for one in present_objects.csvs() if name_of(one) in names]
    report = Report(
        reasons,
        (*found, *replaced),
        tuple({"kind": one["kind"], "name": name_of(one), "rules": one.get("rules")} for one in _of(desired, _RULES)),
        (*refused, *_risks(present, desired), *misfits(present, desired, stored)),
        (*_reached(present_objects), *present_objects.unknown(desired)),
    )
    return report, tuple(images)


def _content(source: NamespaceInputs, chosen: Chosen, namespace: str) -> tuple[list[Manifest], list[str]]:
    """The objects of a bundle as its plan would write them, and the images that it needs. CliError."""
    files, image = _files(source, chosen)
    bundle = parse(files, chosen.bundle.name, is_complete=True) if image else None
    if isinstance(bundle, BadBundle):
        raise CliError(bundle.message, NEGATIVE)
    properties, group = properties_annotation(chosen.bundle.properties), source.present_objects().group()
    target = Target(namespace, chosen.replaces, properties, group)
    found = install_steps(documents(files, MANIFESTS), target, chosen.bundle.name)
    if isinstance(found, BadBundle):
        raise CliError(found.message, NEGATIVE)
    steps = [_manifest(step, namespace) for step in found.steps]
    objects = [*_converted(steps), *(_manifest(step, namespace, is_placed=True) for step in found.served)]
    csvs = [bundle.csv] if bundle else _of(objects, (CLUSTER_SERVICE_VERSION.kind,))
    return objects, [str(one["image"]) for csv in csvs for one in related_images(csv, image)]


def _converted(objects: Sequence[Manifest]) -> Iterator[Manifest]:
    """The objects, definitions with the conversion that the version gives them once it is installed."""
    csvs = [Csv(one) for one in _of(objects, (CLUSTER_SERVICE_VERSION.kind,))]
    for one in objects:
        yield converted(csvs[0], one) if csvs and one["kind"] == CUSTOM_RESOURCE_DEFINITION.kind else one


def _files(source: NamespaceInputs, chosen: Chosen) -> tuple[Files, str]:
    """The files of a bundle and its image: of an image only, as a catalog must not choose files of this machine."""
    name, image = chosen.bundle.name, chosen.bundle.image
    try:
        if image:
            with opened(str(Reference.parse(image))) as opened_bundle:
                return opened_bundle.files(), opened_bundle.image
        texts = content_of(source.document(chosen) or {}, "", {}).objects
    except OciError as error:
        raise CliError(f"{name}: {error}", UNKNOWN) from error
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


def _risks(present: Sequence[Manifest], desired: Sequence[Manifest]) -> Iterator[str]:
    old = {identity_of(one): one for one in present}
    for one in definitions(desired):
        if identity_of(one) in old and (why := risk(one, old[identity_of(one)])):
            yield why


def _reached(present_objects: PresentObjects) -> Iterator[str]:
    """Which namespaces the operators would watch."""
    for one in present_objects.groups():
        if "namespaces" in (status := one.get("status") or {}):
            yield f"reaches {', '.join(name or 'all namespaces' for name in status['namespaces']) or 'no namespace'}"


def _of(objects: Sequence[Manifest], kinds: Sequence[str]) -> list[Manifest]:
    return [one for one in objects if one.get("kind") in kinds]
