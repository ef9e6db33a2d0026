"""`olmf extension blockers`: which extensions keep an OpenShift cluster from its next minor version."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from eventing.cli.extension.files import (
    CatalogOption,
    ExtensionFiles,
    FileOption,
    catalogs,
    installed_of,
    read_files,
    source_of,
)
from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.inputs.pulling import pulling
from eventing.cli.output import TextOption, document
from shared import names
from shared.api.manifest import annotations_of, labels_of
from shared.domain.bundle.shape import name_in
from shared.domain.extension.openshift import Published
from shared.domain.extension.openshift import blockers as judge
from shared.domain.extension.phases.revision import newest_active
from shared.domain.semver import InvalidVersion


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(blockers))


def blockers(
    *,
    openshift: Annotated[str, typer.Option(metavar="VERSION", help="What the cluster runs, e.g. 4.18 or 4.18.3.")] = "",
    file: FileOption = None,
    catalog: CatalogOption = None,
    output: TextOption = "text",
) -> None:
    """List the installed extensions that do not support the next minor version of OpenShift.

    The files hold ClusterExtensions and their ClusterObjectSets, as `kubectl get … -o yaml` prints them; of an
    extension without any, the installed bundle is looked up in the catalogs. Exit code 0: none; 1: some, or one that
    cannot be read.
    """
    if not openshift:
        raise CliError("extension blockers: --openshift names the version of the cluster, e.g. --openshift 4.18", USAGE)
    files = read_files(file)
    try:
        found = judge(
            [one for extension in files.extensions for one in _published(extension, files, catalog)], openshift
        )
    except InvalidVersion as error:
        raise CliError(f"--openshift {openshift}: {error}", USAGE) from error
    if output == "text":
        sys.stdout.write((found.message or f"No extension keeps the cluster at {openshift}.") + "\n")
    else:
        document(asdict(found), output)
    if found.status != "True":
        raise typer.Exit(NEGATIVE)


def _published(extension: Mapping[str, Any], files: ExtensionFiles, words: list[str] | None) -> list[Published]:
    """What the newest active revision publishes, else what the catalogs hold about the installed bundle."""
    name = name_in(extension)
    owned = [one for one in files.revisions if labels_of(one).get(names.V1_OWNER_NAME) == name]
    if revision := newest_active(owned):
        stored = annotations_of(revision)
        return [Published(name, stored.get(names.V1_BUNDLE_NAME, ""), stored.get(names.V1_PROPERTIES))]
    installed = installed_of(extension, "")
    if installed is None:
        return []
    views = catalogs(words, files.catalogs, str(source_of(extension)["packageName"]), has_releases=False)
    for view in views:
        for bundle in view.offer.bundles:
            if bundle.name == installed.name:
                return [Published(name, bundle.name, json.dumps([dict(one) for one in bundle.properties]))]
    what = f"ClusterExtension {name} runs {installed.name}, and its supported OpenShift versions are not known"
    raise CliError(f"{what}; add its ClusterObjectSets with -f, or its catalog with --catalog", UNKNOWN)
