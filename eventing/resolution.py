"""Resolution without a cluster: questions as JSON lines, catalogs from folders and images."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import msgspec

from shared.domain.catalog.documents import NotACatalog, light, read
from shared.domain.catalog.model import Package
from shared.domain.catalog.parse import SickPackage
from shared.domain.resolver.explain import explain
from shared.domain.resolver.explain.remembering import Remembering
from shared.domain.resolver.facts import Gvk
from shared.domain.resolver.model import Catalog, CatalogKey, Inputs, Shelf
from shared.domain.resolver.operators import Operator, of_package
from shared.domain.resolver.question import answer_of, inputs_of, shelf_of
from shared.domain.resolver.resolve import resolve
from shared.domain.resolver.shelves import IndexedShelf, LoadedShelf
from shared.domain.shape import InvalidQuestion

if TYPE_CHECKING:
    from shared.adapters.content.snapshot import Snapshot
    from shared.adapters.kube import KubeClient


REMEMBERED: Final = 1024
"""Number of answers that are cached for repeated questions."""


def answering(*, is_whole: bool) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A function that answers questions and caches the answers; catalogs of the same path are loaded once.

    It raises InvalidQuestion, which says what is wrong with a question or with one of its catalogs.
    """
    loaded: dict[str, LoadedShelf] = {}

    def load(path: str) -> LoadedShelf:
        if path not in loaded:
            loaded[path] = _loaded(path)
        return loaded[path]

    answers: OrderedDict[bytes, dict[str, Any]] = OrderedDict()

    def answer(question: Mapping[str, Any]) -> dict[str, Any]:
        key = _digest(question)
        if key not in answers:
            answers[key] = decide(question)
            if len(answers) > REMEMBERED:
                answers.popitem(last=False)
        return answers[key]

    def decide(question: Mapping[str, Any]) -> dict[str, Any]:
        inputs = inputs_of(question, load, is_whole=is_whole)
        resolution = resolve(inputs)
        return answer_of(resolution, explain(inputs, resolution))

    return answer


def _digest(question: Mapping[str, Any]) -> bytes:
    """The digest of everything that the answer depends on, which excludes the id of the question."""
    asked = {name: value for name, value in question.items() if name != "id"}
    return hashlib.sha256(msgspec.json.encode(asked, order="deterministic")).digest()


def _loaded(path: str) -> LoadedShelf:
    from shared.adapters import files
    from shared.adapters.oci import OciError

    try:
        with files.opened(path) as found:
            documents = [light(one) for file in found for one in read(file.name, file.read())]
    except OSError as error:
        raise InvalidQuestion(f"catalog {path}: {(error.strerror or str(error)).lower()}") from error
    except (OciError, NotACatalog) as error:
        raise InvalidQuestion(f"catalog {path}: {error}") from error
    named = ({"schema": one.schema, "package": one.package, "name": one.name, **one.fields} for one in documents)
    return shelf_of(named, f"catalog {path}")


def inputs_of_manifests(
    manifests: Sequence[Mapping[str, Any]], shelves: Mapping[CatalogKey, Shelf], namespace: str, *, is_whole: bool
) -> Inputs:
    """The inputs for a namespace, read from manifests. Raises InvalidQuestion."""
    kinds = {"Subscription": "subscriptions", "ClusterServiceVersion": "csvs", "OperatorGroup": "operatorGroups"}
    question: dict[str, Any] = {"namespace": namespace}
    for one in manifests:
        if one.get("kind") in kinds and (one.get("metadata") or {}).get("namespace") in (None, "", namespace):
            question.setdefault(kinds[one["kind"]], []).append(one)
    inputs = inputs_of(question, _loaded, is_whole=is_whole)
    catalogs = {key: Catalog(key, reference="as given") for key in shelves}
    return replace(inputs, catalogs={**inputs.catalogs, **catalogs}, shelves=shelves)


def inputs_of_namespace(cluster: KubeClient, namespace: str, *, is_whole: bool) -> Inputs:
    """The inputs for a namespace of a cluster, with the settings of the environment. Raises SettingError."""
    from eventing.wiring import catalogs_for, settings
    from shared.domain.resolver.scene import look
    from shared.ports import ImageSource

    content = catalogs_for(cluster)
    policy = replace(settings().policy, plan_scope="namespace" if is_whole else "component")
    scene = look(cluster, lambda at: IndexedShelf(content, at.reference, ImageSource(*at.origin)), namespace, policy)
    return scene.inputs


def shelves_of_cluster(cluster: KubeClient) -> dict[CatalogKey, Shelf]:
    """The last snapshot of every catalog of a cluster that was read at least once."""
    from eventing.wiring import catalogs_for
    from shared.domain.resolver.scene import catalog_of
    from shared.kinds import CATALOG_SOURCE
    from shared.ports import ImageSource

    content = catalogs_for(cluster)
    found = sorted(map(catalog_of, cluster.list(CATALOG_SOURCE)), key=lambda one: one.key)
    return {one.key: IndexedShelf(content, one.reference, ImageSource(*one.origin)) for one in found if one.reference}


def shelf_of_snapshot(snapshot: Snapshot) -> Shelf:
    """An indexed catalog; each of its packages is read once, when it is first used."""
    return Remembering(_Indexed(snapshot))


def digest_of_snapshot(snapshot: Snapshot) -> str:
    """The digest of the content of a catalog: that of its image, else one over its file names and files."""
    from shared.adapters.content.snapshot import digest_of
    from shared.adapters.content.snapshot.needs import IMAGE

    if not snapshot.header.folder:
        return snapshot.name.removeprefix(IMAGE).replace("-", ":", 1)
    listed = (f"{digest_of(snapshot.source(path))}  {path}\n" for path in sorted(snapshot.files))
    return f"sha256:{hashlib.sha256(''.join(listed).encode('utf-8', 'surrogateescape')).hexdigest()}"


@dataclass(frozen=True, slots=True)
class _Indexed:
    """The content of a snapshot as a shelf."""

    snapshot: Snapshot
    asked: dict[str, Package | None] = field(default_factory=dict)
    sick: dict[str, str] = field(default_factory=dict)

    def package(self, name: str) -> Package | None:
        """A package, or None when the catalog has no such package."""
        if name not in self.asked:
            found = self.snapshot.package(name)
            if isinstance(found, SickPackage):
                self.sick[name] = "; ".join(found.findings)
            self.asked[name] = None if isinstance(found, SickPackage) else found
        return self.asked[name]

    def operators(self, name: str, catalog: CatalogKey) -> Mapping[str, tuple[Operator, ...]]:
        """The operators of a package by channel."""
        package = self.package(name)
        return of_package(package, catalog) if package else {}

    def names(self) -> Iterable[str]:
        """The names of all packages."""
        return self.snapshot.names

    def providers(self, api: Gvk) -> Iterable[str]:
        """The names of the packages that provide an API."""
        return self.snapshot.providers_of(*api)

    def homes(self, bundle: str) -> Iterable[str]:
        """The names of the packages with a bundle of that name, among the packages that were read."""
        return sorted(name for name, package in self.asked.items() if package and bundle in package.bundles)

    def problem(self, name: str) -> str:
        """Why a package cannot be offered."""
        return self.sick.get(name, "")
