"""`olmf extension plan`: what OLM v1 would do for a ClusterExtension, and what stands in the way of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventing.cli.extension.files import (
    CatalogOption,
    ExtensionFiles,
    FileOption,
    GatesOption,
    InstalledOption,
    WaiveOption,
    gates_of,
    installed_of,
    read_files,
    shaped,
    waivers_of,
)
from eventing.cli.extension.live_plan import planned_on
from eventing.cli.extension.objects import CertOption, Rendering, rendered
from eventing.cli.extension.report import Report, as_text, as_value
from eventing.cli.extension.resolve import resolved
from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.inputs.bundle_files import image_of
from eventing.cli.inputs.manifests import at, manifests
from eventing.cli.inputs.pulling import pulling
from eventing.cli.output import TextOption, document
from eventing.cli.target import KubeconfigOption, StateOption, choose
from shared import names
from shared.adapters.oci.reference import Reference
from shared.domain.bundle.shape import name_in
from shared.domain.extension.openshift import Published, blockers
from shared.domain.extension.outlook import changes, losses, misfits, obstacles, present, waived
from shared.domain.extension.permissions import Installer, least
from shared.domain.semver import InvalidVersion

if TYPE_CHECKING:
    from shared.domain.crd_safety.judgement import Waiver


_ExistingOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE|DIR", help="Objects as the cluster has them, stored ones of its definitions, too; repeatable."
    ),
]


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(plan))


def plan(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="A ClusterExtension of a cluster, with its catalogs and objects.")
    ] = "",
    *,
    file: FileOption = None,
    catalog: CatalogOption = None,
    installed: InstalledOption = "",
    bundle: Annotated[
        str,
        typer.Option(metavar="DIR|IMAGE", help="The content of the bundle that is chosen; else its image is pulled."),
    ] = "",
    before: Annotated[
        str, typer.Option("--from", metavar="DIR|IMAGE", help="The content of the bundle that is installed.")
    ] = "",
    existing: _ExistingOption = None,
    waive: WaiveOption = None,
    openshift: Annotated[str, typer.Option(metavar="VERSION", help="What the cluster runs, e.g. 4.18.")] = "",
    cert_provider: CertOption = "none",
    feature_gates: GatesOption = "",
    output: TextOption = "text",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Say what would be installed or changed, whether its definitions are safe, and what permissions it takes.

    Of files (-f, --catalog); or of a cluster: NAME as it is there, or as -f would have it.

    Exit code 0: it would be done; 1: something blocks it; 3: it could not be found out.
    """
    sources = _Sources(bundle, before, existing or (), openshift, waivers_of(waive))
    if name or state or kubeconfig:
        of_files = {"--catalog": catalog, "--installed": installed, "--from": before, "--existing": existing}
        report = planned_on(choose(state, kubeconfig), name, file, (bundle, sources.waivers, of_files))
    else:
        report = _planned(_PlanOptions(read_files(file), cert_provider, feature_gates), catalog, installed, sources)
    _print(report, output)
    if report.blockers:
        raise typer.Exit(NEGATIVE)


def _print(report: Report, output: str) -> None:
    if output == "text":
        sys.stdout.write(as_text(report))
    else:
        document(as_value(report), output)


@dataclass(frozen=True, slots=True)
class _Sources:
    bundle: str
    before: str
    existing: Sequence[str]
    openshift: str
    waivers: Sequence[Waiver]


@dataclass(frozen=True, slots=True)
class _PlanOptions:
    """How bundles are rendered for an extension."""

    files: ExtensionFiles
    cert_provider: str
    feature_gates: str

    @property
    def spec(self) -> object:
        """Of the extension."""
        return self.files.extension.get("spec")

    def rendered(self, bundle: str | Reference) -> Rendering:
        """A bundle as the extension would have it. CliError."""
        namespace = str(at(self.spec, "namespace") or "")
        if not namespace:
            raise CliError("-f: spec.namespace of the ClusterExtension says where to install; it is missing", USAGE)
        config = at(self.spec, "config", "inline")
        gates = gates_of(self.feature_gates)
        return rendered(bundle, namespace, config=config, cert_provider=self.cert_provider, gates=gates)

    @property
    def is_strict(self) -> bool:
        """Whether unsafe changes of definitions are refused."""
        return bool(at(self.spec, "install", "preflight", "crdUpgradeSafety", "enforcement") != "None")


def _planned(options: _PlanOptions, words: Sequence[str] | None, installed: str, sources: _Sources) -> Report:
    resolution, reasons = resolved(options.files, words, installed, options.feature_gates)
    if resolution.bundle is None:
        return Report(reasons, blockers=(resolution.error,))
    try:
        new = options.rendered(sources.bundle or image_of(resolution.bundle.image, resolution.bundle.name))
    except CliError as error:
        if error.code != NEGATIVE:
            raise
        return Report(reasons, blockers=(str(error),))
    if new.name != resolution.bundle.name:
        raise CliError(f"--bundle {sources.bundle} holds {new.name}; chosen was {resolution.bundle.name}", USAGE)
    extension = options.files.extension
    running = installed_of(extension, installed)
    name = name_in(extension)
    before = _before(options, sources, running.name if running else "", new)
    existing = list(manifests(sources.existing))
    old = present(before, existing, new.objects, name)
    with shaped("an object that is there already", UNKNOWN):
        changed = changes(old, new.objects)
        waivers = sources.waivers
        blockers = tuple(obstacles(old, new.objects, waivers, is_strict=options.is_strict))
        remarks = (
            *_remarks(name, new, sources.openshift),
            *misfits(old, new.objects, existing),
            *(waived(old, new.objects, waivers) if options.is_strict else ()),
            *losses(old, new.objects, existing, waivers),
        )
    permissions = least(new.objects, Installer(f"{name}-installer", extension=name))
    return Report(reasons, changed, permissions, blockers, remarks)


def _before(options: _PlanOptions, sources: _Sources, installed: str, new: Rendering) -> tuple[dict[str, Any], ...]:
    """The objects of the bundle that is installed. CliError when nobody says what they are."""
    if sources.before:
        return options.rendered(sources.before).objects
    if installed == new.name:
        return new.objects
    if installed and not sources.existing:
        what = f"what {installed} has installed is not known here"
        raise CliError(
            f"{what}; name its bundle with --from DIR|IMAGE, or what the cluster has with --existing", UNKNOWN
        )
    return ()


def _remarks(name: str, new: Rendering, openshift: str) -> tuple[str, ...]:
    if not openshift:
        return ()
    try:
        found = blockers([Published(name, new.name, new.annotations.get(names.V1_PROPERTIES))], openshift)
    except InvalidVersion as error:
        raise CliError(f"--openshift {openshift}: {error}", USAGE) from error
    return (found.message,) if found.message else ()
