"""What `resolve`, `plan` and `explain` read: a cluster, a capture of one, or catalogs and manifests in files."""

from __future__ import annotations

import sys
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventing.cli.catalog.cache import default_store
from eventing.cli.commands import lead_to_files, quoted
from eventing.cli.failure import UNKNOWN, USAGE, CliError
from eventing.cli.inputs.failures import cli_errors
from eventing.cli.inputs.manifests import at, manifests
from eventing.cli.names import check_namespace
from eventing.cli.target import choose
from eventing.diagnosis.catalogs import catalogs_for, digest_of_snapshot, reader_of_snapshot
from eventing.diagnosis.forecast.present_objects import PresentObjects
from eventing.diagnosis.resolution import inputs_of_manifests, inputs_of_namespace, namespaces_in
from shared.adapters.content.anywhere import snapshot_at
from shared.api.manifest import name_of, namespace_of
from shared.domain.catalog.documents import NotACatalog
from shared.domain.command import olmf
from shared.domain.resolver.identity import CatalogKey
from shared.domain.shape import InvalidRequest
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP, SUBSCRIPTION
from shared.ports import Unavailable

if TYPE_CHECKING:
    from eventing.diagnosis.replay.archive import Capture
    from eventing.workqueue import Listed
    from shared.adapters.content.snapshot import Snapshot
    from shared.adapters.kube import KubeClient
    from shared.api.manifest import Manifest
    from shared.domain.resolver.model import CatalogReader, Chosen, Inputs
    from shared.ports import Cluster

CatalogsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--catalog", metavar="[[NAMESPACE/]NAME=]PATH|IMAGE", help="A catalog: folder, file or image; repeatable."
    ),
]
FromOption = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="DIR|CAPTURE",
        help="Subscriptions, CSVs, OperatorGroups (`plan`: all objects), or a file of `olmf capture`.",
    ),
]
Where = tuple[Path | None, Path | None]
"""A state directory, and a kubeconfig."""
GLOBAL = "olm"
"""The namespace of a catalog for which none is named."""
_STATE_FIELDS = {SUBSCRIPTION.kind: "state", CLUSTER_SERVICE_VERSION.kind: "phase"}
"""The field of the status that decides whether the state of an object is known."""


@dataclass(frozen=True, slots=True)
class NamespaceInputs:
    """What a verb reads about a namespace."""

    inputs: Inputs
    objects: Callable[[], Cluster | None]
    """Objects with a status; None for files without status, and for a capture with other catalogs than its own."""
    present_objects: Callable[[], PresentObjects]
    """All objects that are known to exist."""
    document: Callable[[Chosen], Mapping[str, Any] | None]
    """The document of a bundle in its catalog. CliError when it cannot be had."""
    jobs: Callable[[], Sequence[Listed]] = tuple
    """The jobs in the work queue of the cluster; none for files."""


def read_inputs(
    namespace: str, catalogs: Sequence[str] | None, folder: Path | None, cluster: Where, *,
    is_whole: bool, quiet: bool = False,
) -> NamespaceInputs:  # fmt: skip
    """The inputs of a namespace, from a capture, else from files with catalogs, else from the cluster. CliError.

    The namespace defaults to that of the kubeconfig's context, or of the Subscriptions in a capture or in files.
    `quiet`: which cluster it is was said already.
    """
    if folder and str(folder) != "-" and not folder.exists():
        raise CliError(f"--from {folder}: no such file or folder", USAGE)
    if folder and folder.is_file() and _is_capture(folder):
        return _of_capture(folder, catalogs or (), namespace, is_whole=is_whole)
    if catalogs:
        return _of_files(catalogs, folder, namespace, is_whole=is_whole)
    if folder:
        raise CliError(f"--from {folder}: name the catalogs, too: --catalog PATH|IMAGE", USAGE)

    target = choose(*cluster, quiet=quiet)
    namespace, objects = namespace or target.namespace, target.cluster()
    found = inputs_of_namespace(objects, namespace, is_whole=is_whole)
    if not found.subscribers:
        check_namespace(namespace, objects)
    return NamespaceInputs(
        found,
        lambda: objects,
        lambda: PresentObjects(namespace, objects),
        lambda chosen: _document_on(objects, chosen),
        target.jobs,
    )


def _document_on(cluster: KubeClient, chosen: Chosen) -> Mapping[str, Any] | None:
    catalog = chosen.catalog
    found = catalogs_for(cluster).bundle(catalog.reference, chosen.package, chosen.bundle.name, catalog.source)
    if isinstance(found, Unavailable):
        raise CliError(f"{chosen.bundle.name}: {found.message}", UNKNOWN)
    return found


def _with_status(objects: Sequence[Manifest], folder: Path, namespace: str) -> Cluster | None:
    """The objects of files, if all have the status that they need; else None, and a message names the first without."""
    from eventing.diagnosis.replay.inputs import CaptureObjects

    kinds = {kind.kind: kind for kind in (SUBSCRIPTION, CLUSTER_SERVICE_VERSION, OPERATOR_GROUP)}
    mine = [one for one in objects if one.get("kind") in kinds and namespace_of(one) in ("", namespace)]
    for one in mine:
        field = _STATE_FIELDS.get(one["kind"])
        if field and not at(one, "status", field):
            why = f"{one['kind']} {name_of(one)} has no status.{field} there"
            sys.stderr.write(f"# phases are not known from --from {folder}: {why}\n")
            return None
    placed = [{**one, "metadata": {**one["metadata"], "namespace": namespace}} for one in mine]
    return CaptureObjects({kinds[one["kind"]].ref(name_of(one), namespace): one for one in placed})


def _is_capture(path: Path) -> bool:
    return tarfile.is_tarfile(path)


def opened_capture(path: Path, catalogs: Sequence[str] = ()) -> Capture:
    """The capture in a file; commands printed from now on get its path, and the catalogs. CliError without one."""
    from eventing.diagnosis.replay import NotACapture, open_capture

    lead_to_files(str(path), catalogs, is_capture=True)
    try:
        return open_capture(path)
    except FileNotFoundError as error:
        raise CliError(f"{path}: no such file", USAGE) from error
    except NotACapture as error:
        raise CliError(str(error), USAGE) from error


def _of_capture(path: Path, catalogs: Sequence[str], namespace: str, *, is_whole: bool) -> NamespaceInputs:
    from eventing.diagnosis.replay.inputs import inputs_of_capture, objects_of_capture

    capture = opened_capture(path, catalogs)
    namespace = _chosen_namespace(namespace, capture.objects, path)
    inputs = inputs_of_capture(capture, namespace, catalog_readers(catalogs, capture.objects), is_whole=is_whole)
    known = cache(partial(objects_of_capture, capture))
    return NamespaceInputs(
        inputs,
        lambda: None if catalogs else known(),
        lambda: PresentObjects.of(namespace, known().objects.values(), is_partial=True),
        lambda chosen: _document(catalogs, capture.objects, chosen),
    )


def _document(
    catalogs: Sequence[str], objects: Sequence[Mapping[str, object]], chosen: Chosen
) -> Mapping[str, Any] | None:
    """The document of a bundle in a catalog of the options. CliError when none of them is its catalog."""
    path = paths_of(catalogs, objects).get(chosen.catalog.key)
    if path is None:
        what = f"{chosen.bundle.name}: its manifests are in the catalog {chosen.catalog.key}"
        raise CliError(f"{what}, which is needed: --catalog PATH|IMAGE", UNKNOWN)
    pages = _snapshot_at(path).documents(chosen.package)
    return next(map(pages.value, pages.rows("olm.bundle", chosen.bundle.name)), None)


def _of_files(catalogs: Sequence[str], folder: Path | None, namespace: str, *, is_whole: bool) -> NamespaceInputs:
    if folder is None:
        what = "name the manifests: --from DIR, with the Subscriptions of the namespace"
        raise CliError(f"{what}, or --from FILE: {quoted(olmf('capture', '-o', 'FILE'))} makes it", USAGE)
    lead_to_files(str(folder), catalogs)
    objects = list(manifests([str(folder)]))
    namespace = _chosen_namespace(namespace, objects, folder)
    try:
        inputs = inputs_of_manifests(objects, catalog_readers(catalogs, objects), namespace, is_whole=is_whole)
    except InvalidRequest as error:
        raise CliError(f"{folder}: {error}", UNKNOWN) from error
    return NamespaceInputs(
        inputs,
        lambda: _with_status(objects, folder, namespace),
        lambda: PresentObjects.of(namespace, objects, is_partial=False),
        lambda chosen: _document(catalogs, objects, chosen),
    )


def _chosen_namespace(namespace: str, objects: Sequence[Mapping[str, object]], path: Path) -> str:
    """The namespace, or the only possible one. CliError lists the possible ones, also when the named one is empty."""
    if not namespace:
        return _only(subscribed_in(objects), path)
    found = namespaces_in(objects)
    if found and found.isdisjoint({"", namespace}):
        there = ", ".join(sorted(found))
        raise CliError(f"--from {path}: it has nothing in namespace {namespace}, but in {there} (-n)", USAGE)
    return namespace


def subscribed_in(objects: Iterable[Mapping[str, object]]) -> set[str]:
    """The namespaces that have Subscriptions."""
    return {namespace_of(one) for one in objects if one.get("kind") == SUBSCRIPTION.kind} - {""}


def _only(namespaces: set[str], path: Path) -> str:
    match sorted(namespaces):
        case [only]:
            sys.stderr.write(f"# namespace {only}\n")
            return only
        case []:
            raise CliError(f"give -n NAMESPACE: --from {path} has no Subscription with a namespace", USAGE)
        case several:
            raise CliError(f"give -n NAMESPACE: --from {path} has Subscriptions in {', '.join(several)}", USAGE)


def catalog_readers(
    words: Sequence[str], objects: Sequence[Mapping[str, object]] = ()
) -> dict[CatalogKey, CatalogReader]:
    """The catalogs by key. CliError."""
    paths = paths_of(words, objects)
    readers = {path: reader_at(path) for path in dict.fromkeys(paths.values())}
    return {key: readers[path] for key, path in paths.items()}


def paths_of(words: Sequence[str], objects: Sequence[Mapping[str, object]] = ()) -> dict[CatalogKey, str]:
    """Paths of the catalogs by key; one without a name stands for each that a Subscription names. CliError."""
    found: dict[CatalogKey, str] = {}
    for word in words:
        name, path = split(word)
        if name:
            namespace, _, last = name.rpartition("/")
            found[CatalogKey(namespace or GLOBAL, last)] = path
        elif len(words) == 1:
            found = dict.fromkeys(_desired(objects) or [CatalogKey("", path)], path)
        else:
            raise CliError(f"--catalog {word}: each of several catalogs needs a name, e.g. olm/community={word}", USAGE)
    return found


def split(word: str) -> tuple[str, str]:
    """The name of a catalog, empty without one, and its path."""
    name, mark, path = word.partition("=")
    return (name, path) if mark and name and not Path(word).exists() else ("", word)


def _desired(objects: Sequence[Mapping[str, object]]) -> list[CatalogKey]:
    specs = [one.get("spec") for one in objects if one.get("kind") == "Subscription"]
    keys = {
        CatalogKey(str(spec.get("sourceNamespace") or GLOBAL), str(spec.get("source") or ""))
        for spec in specs
        if isinstance(spec, dict)
    }
    return sorted(keys)


def reader_at(path: str) -> CatalogReader:
    """A catalog in a folder or image, read through the store of this machine. CliError."""
    return reader_of_snapshot(_snapshot_at(path))


def content_at(path: str) -> str:
    """The digest of the content of a catalog: of its image, or else of its files. CliError."""
    return digest_of_snapshot(_snapshot_at(path))


def _snapshot_at(path: str) -> Snapshot:
    try:
        with cli_errors(path):
            return snapshot_at(path, default_store())
    except CliError as error:
        if error.code == USAGE or not isinstance(error.__cause__, NotACatalog):
            raise CliError(f"--catalog: {error}", error.code) from error
        hint = f"{quoted(olmf('catalog', 'validate', path))} lists all errors"
        raise CliError(f"--catalog {path}: {error}; {hint}", UNKNOWN) from error
