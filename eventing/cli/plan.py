"""`olmf plan`: what installs and upgrades of a namespace would create, change and delete, before they do."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from eventing.cli.extension.files import manifests as manifests_in
from eventing.cli.extension.report import Report, as_markdown, as_text, as_value
from eventing.cli.failure import NEGATIVE, UNKNOWN, CliError
from eventing.cli.inputs.bundle import Source, opened
from eventing.cli.inputs.pulling import pulling
from eventing.cli.namespace_inputs import CatalogsOption, FromOption, Given, given
from eventing.cli.output import ReportOption, document
from eventing.cli.resolve import resolved
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.reference import Reference
from shared.api.manifest import name_of
from shared.api.views import CustomResourceDefinition
from shared.domain.authoring.bundles.images import related_images
from shared.domain.authoring.bundles.install import InstallStep, Target, install_steps, properties_annotation
from shared.domain.bundle.model import BadBundle
from shared.domain.bundle.reading import MANIFESTS, documents
from shared.domain.extension.outlook import Change, Effect, changes, identity_of, misfits
from shared.domain.extension.scopes import CLUSTER_KINDS, group_kind
from shared.domain.plan.crds import risk
from shared.domain.resolver.resolve import resolve
from shared.kinds import CLUSTER_SERVICE_VERSION, CUSTOM_RESOURCE_DEFINITION, KINDS, OPERATOR_GROUP, RBAC, Kind

if TYPE_CHECKING:
    from shared.domain.catalog.model import Bundle
    from shared.domain.resolver.model import Chosen
    from shared.ports import Cluster

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
    output: ReportOption = "text",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Say what the Subscriptions of a namespace would create, change and delete: on a cluster, a capture, or files.

    Definitions are judged as the plan would: stored versions and stored objects. Permissions and images are listed.

    Exit code 0: it would be done; 1: something blocks it; 3: it could not be found out.
    """
    looked = given(namespace, catalog, folder, (state, kubeconfig), is_whole=False)
    resolution = resolve(looked.inputs)
    rows, code = resolved(looked.inputs, resolution)
    if code == UNKNOWN:
        raise CliError("; ".join(str(row["why"]) for row in rows), UNKNOWN)
    refused = [f"{row['subscription']}: {row['why']}" for row in rows if not row["gets"]] if code else []
    reasons = tuple(f"{row['subscription']}: {row['has'] or 'nothing'} -> {row['gets']}" for row in rows if row["gets"])
    report = _report(looked, resolution.chosen, folder, reasons, refused)
    if output == "text":
        sys.stdout.write(as_text(report))
    elif output == "markdown":
        sys.stdout.write(as_markdown(report))
    else:
        document(as_value(report), output)
    if report.blockers:
        raise typer.Exit(NEGATIVE)


def _report(
    looked: Given, chosen: Sequence[Chosen], folder: Path | None, reasons: tuple[str, ...], refused: list[str]
) -> Report:
    place = looked.inputs.namespace
    wanted: list[Manifest] = []
    images: dict[str, None] = {}
    for one in chosen:
        objects, needed = _content(one, place)
        wanted += objects
        images |= dict.fromkeys(needed)
    cluster = looked.objects()
    files = list(manifests_in([str(folder)])) if cluster is None and folder else []
    present = [*_present(cluster, files, wanted)]
    replaced = [*_replaced(cluster, files, chosen, place)]
    stored = [*_stored(cluster, files, present, wanted)]
    return Report(
        reasons,
        (*changes(present, wanted), *(Change(Effect.REMOVE, one) for one in replaced)),
        tuple({"kind": one["kind"], "name": name_of(one), "rules": one.get("rules")} for one in _of(wanted, _RULES)),
        (*refused, *_risks(present, wanted), *misfits(present, wanted, stored)),
        (*_reached(cluster, place), *(f"image {image}" for image in images)),
    )


def _content(chosen: Chosen, namespace: str) -> tuple[list[Manifest], list[str]]:
    """The objects of a bundle as its plan would write them, and the images that it needs. CliError."""
    if not chosen.bundle.image:
        what = f"the manifests of {chosen.bundle.name} are in its catalog, where this verb does not look yet"
        raise CliError(what, UNKNOWN)
    with _pulled(chosen.bundle) as source:
        files, csv = source.files(), source.parsed().csv
    target = Target(namespace, chosen.replaces, properties_annotation(chosen.bundle.properties))
    found = install_steps(documents(files, MANIFESTS), target, chosen.bundle.name)
    if isinstance(found, BadBundle):
        raise CliError(found.message, NEGATIVE)
    images = [str(one["image"]) for one in related_images(csv, chosen.bundle.image)]
    return [*(_manifest(step, namespace) for step in found.steps), *map(_manifest, found.served)], images


def _pulled(bundle: Bundle) -> AbstractContextManager[Source]:
    """The image of a bundle, from a registry: a catalog must not choose files of this machine. CliError."""
    try:
        return opened(str(Reference.parse(bundle.image)))
    except OciError as error:
        raise CliError(f"{bundle.name}: {error}", UNKNOWN) from error


def _manifest(step: InstallStep, namespace: str = "") -> Manifest:
    """The object of a step, in that namespace or the one that it states."""
    manifest: Manifest = {
        "apiVersion": f"{step.group}/{step.version}".lstrip("/"), "kind": step.kind, **json.loads(step.manifest),
    }  # fmt: skip
    meta = {key: value for key, value in manifest["metadata"].items() if key not in ("namespace", "ownerReferences")}
    stated = namespace or manifest["metadata"].get("namespace", "")
    place = {} if group_kind(manifest) in CLUSTER_KINDS else {"namespace": stated}
    return {**manifest, "metadata": {**meta, **place}}


def _present(cluster: Cluster | None, files: Sequence[Manifest], wanted: Sequence[Manifest]) -> Iterator[Manifest]:
    """The objects that are there already."""
    ours = set(map(identity_of, wanted))
    yield from (one for one in files if identity_of(one) in ours)
    known = {(kind.api_version, kind.kind): kind for kind in KINDS}
    for one in wanted if cluster else ():
        kind = known.get((one["apiVersion"], one["kind"]))
        if kind and cluster and (found := cluster.get(kind.ref(name_of(one), one["metadata"].get("namespace", "")))):
            yield found


def _replaced(
    cluster: Cluster | None, files: Sequence[Manifest], chosen: Sequence[Chosen], namespace: str
) -> Iterator[Manifest]:
    """The versions that are deleted once their successors work."""
    names = {one.replaces for one in chosen if one.replaces}
    here = cluster.list(CLUSTER_SERVICE_VERSION, namespace) if cluster else _of(files, (CLUSTER_SERVICE_VERSION.kind,))
    yield from (dict(one) for one in here if name_of(one) in names)


def _stored(
    cluster: Cluster | None, files: Sequence[Manifest], present: Sequence[Manifest], wanted: Sequence[Manifest]
) -> Iterator[Manifest]:
    """The objects of the definitions that would change."""
    ours = set(map(identity_of, _of(wanted, (CUSTOM_RESOURCE_DEFINITION.kind,))))
    yield from files
    for one in present if cluster else ():
        definition = CustomResourceDefinition(one)
        if cluster and identity_of(one) in ours and definition.served:
            version, spec = f"{definition.group}/{definition.served[0]}", one["spec"]
            is_namespaced = spec.get("scope") == "Namespaced"
            kind = Kind(version, definition.resource_kind, str(spec["names"]["plural"]), is_namespaced)
            yield from ({"apiVersion": version, "kind": kind.kind, **each} for each in cluster.list(kind))


def _risks(present: Sequence[Manifest], wanted: Sequence[Manifest]) -> Iterator[str]:
    old = {identity_of(one): one for one in present}
    for one in _of(wanted, (CUSTOM_RESOURCE_DEFINITION.kind,)):
        if identity_of(one) in old and (why := risk(one, old[identity_of(one)])):
            yield why


def _reached(cluster: Cluster | None, namespace: str) -> Iterator[str]:
    """Which namespaces the operators would watch."""
    for one in cluster.list(OPERATOR_GROUP, namespace) if cluster else ():
        names = (one.get("status") or {}).get("namespaces") or ()
        yield f"reaches {', '.join(name or 'all namespaces' for name in names) or 'no namespace'}"


def _of(objects: Sequence[Manifest], kinds: Sequence[str]) -> list[Manifest]:
    return [one for one in objects if one.get("kind") in kinds]
