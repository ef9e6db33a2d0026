"""What lies beside a bundle: a package manifest and the bundles of the other versions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from eventing.cli.failure import NEGATIVE, CliError
from eventing.cli.inputs.bundle import contents

if TYPE_CHECKING:
    from shared.domain.authoring.bundles.labels import Wanted
    from shared.domain.authoring.validation import Subject


def interpreted(folder: Path, subject: Subject) -> Wanted:
    """Package and channels of the bundle in a folder. CliError when nothing beside it says them."""
    from shared.domain.authoring.bundles.interpret import NotInterpretableError, interpret
    from shared.domain.authoring.validation.package_manifest import package_manifest
    from shared.domain.bundle.reading import documents

    parent = folder.resolve().parent
    what = "please manually input channels and packageName, error interpreting bundle from directory"
    named = {f"package/{path.name}": path for path in sorted(parent.glob("*.package.yaml"))}
    found = [
        one for one in documents(contents(named, str(parent)), "package").by_path.values() if isinstance(one, dict)
    ]
    if not found:
        raise CliError(
            f"{what} {folder}, there is no *.package.yaml in {parent}; use --package and --channels", NEGATIVE
        )
    for one in package_manifest(found[0]):
        sys.stderr.write(f"# {parent}: {one}\n")
    try:
        return interpret(found[0], _replaced(parent), subject.csv_name)
    except NotInterpretableError as error:
        raise CliError(f"{what} {folder}, {error}", NEGATIVE) from error


def _replaced(parent: Path) -> dict[str, str]:
    """What each version replaces, of all bundles in a folder."""
    from shared.domain.authoring.validation import Subject

    found: dict[str, str] = {}
    for folder in sorted(path for path in parent.iterdir() if path.is_dir()):
        manifests = folder / "manifests" if (folder / "manifests").is_dir() else folder
        paths = {f"manifests/{path.name}": path for path in sorted(manifests.glob("*.yaml"))}
        one = Subject(contents(paths, str(folder)), str(folder))
        if one.csv_name:
            found[one.csv_name] = str(one.spec.get("replaces") or "")
    return found
