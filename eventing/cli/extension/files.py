"""The inputs of verbs about extensions: manifests in files, catalogs in folders and images."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventing.cli.catalog.cache import default_store
from eventing.cli.failure import UNKNOWN, USAGE, CliError
from eventing.cli.inputs import models
from eventing.cli.inputs.bundle_folders import bundles_only
from eventing.cli.inputs.manifests import at, located
from shared.adapters.content.anywhere import snapshot_at
from shared.adapters.oci.errors import OciError
from shared.adapters.paths import NoSuchPath
from shared.api.views import ClusterCatalog
from shared.domain.bundle.shape import name_in
from shared.domain.catalog.documents import NotACatalog
from shared.domain.catalog.model import Package
from shared.domain.crd_safety.judgement import Waiver
from shared.domain.extension.model import CatalogView, Installed
from shared.domain.extension.offer import offer_of, offer_of_package
from shared.domain.shape import InvalidRequest

if TYPE_CHECKING:
    from shared.adapters.content.snapshot import Snapshot
    from shared.domain.extension.model import Offer

FileOption = Annotated[
    list[str] | None,
    typer.Option(
        "-f", "--file", metavar="FILE", help="ClusterExtension, and ClusterCatalogs if they matter; - is stdin."
    ),
]
CatalogOption = Annotated[
    list[str] | None,
    typer.Option(
        "--catalog", metavar="[NAME=]PATH|IMAGE", help="A catalog: folder, file, image or oci:DIR; repeatable."
    ),
]
InstalledOption = Annotated[
    str, typer.Option(metavar="NAME@VERSION", help="The installed bundle; default: from the status of the extension.")
]
GatesOption = Annotated[str, typer.Option("--feature-gates", help="A=true,B=false; as OLM v1 takes them.")]
WaiveOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[VERSION: ][PATH: ]CHECK",
        help="A finding to ignore, e.g. enum, or 'v1: ^.spec.size: enum'; repeatable.",
    ),
]
_NAMED = re.compile(r"([a-z0-9](?:[-a-z0-9.]*[a-z0-9])?)=(.+)", re.DOTALL)
_NAME_LABEL = "olm.operatorframework.io/metadata.name"


@dataclass(frozen=True, slots=True)
class ExtensionFiles:
    """The manifests of the files, by kind."""

    extensions: list[Mapping[str, Any]] = field(default_factory=list)
    catalogs: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """By name."""
    revisions: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def extension(self) -> Mapping[str, Any]:
        """The one extension. CliError when there is none, or more than one."""
        if len(self.extensions) != 1:
            names = ", ".join(name_in(one) for one in self.extensions) or "none"
            raise CliError(f"-f: wanted one ClusterExtension, got {names}", USAGE)
        return self.extensions[0]


def read_files(paths: Sequence[str] | None) -> ExtensionFiles:
    """The content of the files. CliError when they cannot be read, or a field has not the type that it must have."""
    if not paths:
        raise CliError("name the ClusterExtension: -f EXTENSION.yaml", USAGE)
    found = ExtensionFiles()
    for file, one in located(paths):
        models.check(file, one)
        match one.get("kind"):
            case "ClusterExtension":
                found.extensions.append(one)
            case "ClusterCatalog":
                found.catalogs[name_in(one)] = one
            case "ClusterObjectSet":
                found.revisions.append(one)
    return found


@contextmanager
def shaped(what: str, code: int) -> Iterator[None]:
    """CliError when what is read in this block does not have the expected shape."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise CliError(f"{what} has not the expected shape: {type(error).__name__}: {error}", code) from error


def source_of(extension: Mapping[str, Any]) -> Mapping[str, Any]:
    """`spec.source.catalog`. CliError when there is none with a package."""
    found = at(extension, "spec", "source", "catalog")
    if not isinstance(found, Mapping) or not found.get("packageName"):
        what = f"ClusterExtension {name_in(extension)} names no package: spec.source.catalog.packageName"
        raise CliError(f"{what} is missing", USAGE)
    return found


def installed_of(extension: Mapping[str, Any], option: str) -> Installed | None:
    """The installed bundle: of the option, else of the status. CliError when the option is malformed."""
    if option:
        name, mark, version = option.rpartition("@")
        if not mark or not name or not version:
            raise CliError(f"--installed {option}: wanted NAME@VERSION, e.g. etcd.v0.9.4@0.9.4", USAGE)
        return Installed(name, version)
    bundle = at(extension, "status", "install", "bundle")
    if not isinstance(bundle, Mapping):
        return None
    release = bundle.get("release")
    return Installed(
        str(bundle.get("name") or ""), str(bundle.get("version") or ""), None if release is None else str(release)
    )


def catalogs(
    words: Sequence[str] | None, manifests_by_name: Mapping[str, Mapping[str, Any]], package: str, *, has_releases: bool
) -> list[CatalogView]:
    """The catalogs for a resolution. CliError when one cannot be read."""
    named = dict(map(_named, words or ()))
    if len(named) != len(words or ()):
        raise CliError("--catalog: two catalogs have one name; write NAME=PATH to tell them apart", USAGE)
    if missing := sorted(manifests_by_name.keys() - named.keys()):
        raise CliError(f"catalog {missing[0]} has no content here; add --catalog {missing[0]}=PATH", USAGE)
    return [
        _view(name, path, manifests_by_name.get(name, {}), package, has_releases=has_releases)
        for name, path in named.items()
    ]


def _named(word: str) -> tuple[str, str]:
    match = _NAMED.fullmatch(word)
    if match:
        return match[1], match[2]
    last = word.removeprefix("oci:").rstrip("/").rpartition("/")[2]
    return re.split(r"[:@]", last)[0] or word, word


def _view(name: str, path: str, manifest: Mapping[str, Any], package: str, *, has_releases: bool) -> CatalogView:
    try:
        offer = offer_in(snapshot_at(path, default_store()), package, has_releases=has_releases)
    except NoSuchPath as error:
        raise CliError(f"--catalog: {error}", USAGE) from error
    except (NotACatalog, OciError, OSError) as error:
        if hint := bundles_only(path):
            raise CliError(f"--catalog: {hint}", USAGE) from error
        raise CliError(f"catalog {path} cannot be read: {error}", UNKNOWN) from error
    except InvalidRequest as error:
        raise CliError(f"catalog {path}: {error}", UNKNOWN) from error
    catalog = ClusterCatalog(manifest)
    labels = {_NAME_LABEL: name, **catalog.labels}
    return CatalogView(name, catalog.priority, labels, not catalog.is_disabled, offer)


def offer_in(snapshot: Snapshot, package: str, *, has_releases: bool) -> Offer:
    """What an open catalog offers of a package. InvalidRequest when its documents cannot be read as a package."""
    pages, found = snapshot.documents(package), snapshot.package(package)
    if not isinstance(found, Package):  # OLM v1 refuses other defects than OLM does
        return offer_of([pages.value(row) for row in pages.rows()], package, has_releases=has_releases)
    deprecations = next(pages.rows("olm.deprecations"), None)
    deprecation = None if deprecations is None else pages.value(deprecations)
    return offer_of_package(found, deprecation, has_releases=has_releases)


def gates_of(text: str) -> dict[str, bool]:
    """`A=true,B=false` as values. CliError for anything else."""
    gates = {}
    for word in filter(None, text.split(",")):
        name, _, value = word.partition("=")
        if value.lower() not in ("true", "false"):
            raise CliError(f"--feature-gates {word}: wanted NAME=true or NAME=false", USAGE)
        gates[name.strip()] = value.lower() == "true"
    return gates


def waivers_of(words: Sequence[str] | None) -> list[Waiver]:
    """The findings to ignore. CliError."""
    try:
        return list(map(Waiver.parse, words or ()))
    except InvalidRequest as error:
        raise CliError(f"--waive: {error}", USAGE) from error
