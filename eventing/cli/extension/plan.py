"""`olmf extension plan`: what OLM v1 would do for a ClusterExtension, and what stands in the way of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventing.cli.catalog.pulling import pulling
from eventing.cli.extension.given import (
    CatalogOption,
    FileOption,
    GatesOption,
    Given,
    InstalledOption,
    at,
    given,
    installed_of,
    manifests,
    name_in,
    shaped,
)
from eventing.cli.extension.objects import CertOption, Rendering
from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError

if TYPE_CHECKING:
    from shared.domain.extension.outlook import Change


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(plan))


@dataclass(frozen=True, slots=True)
class Report:
    """What would happen."""

    reasons: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    permissions: tuple[Mapping[str, Any], ...] = ()
    blockers: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    """What would not stop it, but should be known."""


def plan(
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
    existing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|DIR", help="Objects as the cluster has them, stored ones of its definitions, too; repeatable."
        ),
    ] = None,
    openshift: Annotated[str, typer.Option(metavar="VERSION", help="What the cluster runs, e.g. 4.18.")] = "",
    cert_provider: CertOption = "none",
    feature_gates: GatesOption = "",
    output: Annotated[str, typer.Option("-o", "--output", help="text, json or yaml.")] = "text",
) -> None:  # why: one option per input
    """Say what would be installed or changed, whether its definitions are safe, and what permissions it takes.

    Exit code 0: it would be done; 1: something blocks it; 3: it could not be found out.
    """
    if output not in ("text", "json", "yaml"):
        raise CliError(f"-o {output}: wanted text, json or yaml", USAGE)
    stated = given(file)
    wishes = _Wishes(stated, cert_provider, feature_gates)
    report = _planned(wishes, catalog, installed, _Sources(bundle, before, existing or (), openshift))
    if output == "text":
        sys.stdout.write(_text(report))
    else:
        from eventing.cli.output import document

        document(_value(report), output)
    if report.blockers:
        raise typer.Exit(NEGATIVE)


@dataclass(frozen=True, slots=True)
class _Sources:
    bundle: str
    before: str
    existing: Sequence[str]
    openshift: str


@dataclass(frozen=True, slots=True)
class _Wishes:
    """How bundles are rendered for an extension."""

    stated: Given
    cert_provider: str
    feature_gates: str

    @property
    def spec(self) -> object:
        """Of the extension."""
        return self.stated.extension.get("spec")

    def rendered(self, reference: str) -> Rendering:
        """A bundle as the extension would have it. CliError."""
        from eventing.cli.extension.objects import rendered
        from eventing.cli.extension.render import gates_of

        namespace = str(at(self.spec, "namespace") or "")
        if not namespace:
            raise CliError("-f: spec.namespace of the ClusterExtension says where to install; it is missing", USAGE)
        config = at(self.spec, "config", "inline")
        gates = gates_of(self.feature_gates)
        return rendered(reference, namespace, config=config, cert_provider=self.cert_provider, gates=gates)

    @property
    def is_strict(self) -> bool:
        """Whether unsafe changes of definitions are refused."""
        return bool(at(self.spec, "install", "preflight", "crdUpgradeSafety", "enforcement") != "None")


def _planned(wishes: _Wishes, words: Sequence[str] | None, installed: str, sources: _Sources) -> Report:
    from eventing.cli.extension.resolve import resolved
    from shared.domain.extension.outlook import changes, misfits, obstacles, present
    from shared.domain.extension.permissions import Installer, least

    answer, reasons = resolved(wishes.stated, words, installed, wishes.feature_gates)
    if answer.bundle is None:
        return Report(reasons, blockers=(answer.error,))
    try:
        new = wishes.rendered(sources.bundle or _image(answer.bundle.image, answer.bundle.name))
    except CliError as error:
        if error.code != NEGATIVE:
            raise
        return Report(reasons, blockers=(str(error),))
    if new.name != answer.bundle.name:
        raise CliError(f"--bundle {sources.bundle} holds {new.name}; chosen was {answer.bundle.name}", USAGE)
    extension = wishes.stated.extension
    running = installed_of(extension, installed)
    name = name_in(extension)
    before = _before(wishes, sources, running.name if running else "", new)
    existing = list(manifests(sources.existing))
    old = present(before, existing, new.objects, name)
    with shaped("an object that is there already", UNKNOWN):
        changed = changes(old, new.objects)
        blockers = tuple(obstacles(old, new.objects, is_strict=wishes.is_strict))
        remarks = (*_remarks(name, new, sources.openshift), *misfits(old, new.objects, existing))
    permissions = least(new.objects, Installer(f"{name}-installer", extension=name))
    return Report(reasons, changed, permissions, blockers, remarks)


def _before(wishes: _Wishes, sources: _Sources, installed: str, new: Rendering) -> tuple[dict[str, Any], ...]:
    """The objects of the bundle that is installed. CliError when nobody says what they are."""
    if sources.before:
        return wishes.rendered(sources.before).objects
    if installed == new.name:
        return new.objects
    if installed and not sources.existing:
        what = f"what {installed} has installed is not known here"
        raise CliError(
            f"{what}; name its bundle with --from DIR|IMAGE, or what the cluster has with --existing", UNKNOWN
        )
    return ()


def _image(image: str, name: str) -> str:
    if not image:
        raise CliError(f"the catalog names no image of {name}; name its content with --bundle DIR", UNKNOWN)
    return image


def _remarks(name: str, new: Rendering, openshift: str) -> tuple[str, ...]:
    from shared import names
    from shared.domain.extension.openshift import Published, blockers
    from shared.domain.semver import InvalidVersion

    if not openshift:
        return ()
    try:
        found = blockers([Published(name, new.name, new.annotations.get(names.V1_PROPERTIES))], openshift)
    except InvalidVersion as error:
        raise CliError(f"--openshift {openshift}: {error}", USAGE) from error
    return (found.message,) if found.message else ()


def _text(report: Report) -> str:
    from eventing.cli.extension.objects import written

    lines = [*report.reasons, ""]
    for title, told in (("Blocked", report.blockers), ("To be known", report.remarks)):
        if told:
            lines += [f"{title}:", *(f"  {line}" for one in told for line in one.splitlines()), ""]
    if report.changes:
        lines += ["Objects:", *(f"  {one['effect']:6} {one['object']}" for one in map(_change, report.changes)), ""]
    if report.permissions:
        lines += ["Permissions needed:", written(list(report.permissions), "yaml")]
    return "\n".join(lines).rstrip("\n") + "\n"


def _change(change: Change) -> dict[str, Any]:
    from shared.api.manifest import name_of
    from shared.domain.extension.scopes import scope_of

    manifest = change.manifest
    namespace = scope_of(manifest)
    where = f"{namespace}/" if namespace else ""
    return {"effect": str(change.effect), "object": f"{manifest.get('kind')} {where}{name_of(manifest)}"}


def _value(report: Report) -> dict[str, Any]:
    changed = [{**_change(one), "manifest": dict(one.manifest)} for one in report.changes]
    found: dict[str, Any] = json.loads(json.dumps({
        "wouldDo": not report.blockers,
        "blockers": report.blockers,
        "remarks": report.remarks,
        "reasons": [line for line in report.reasons if line],
        "objects": changed,
        "permissions": report.permissions,
    }))  # fmt: skip
    return found
