"""A bundle for its validators, read once, whatever is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from shared.api.manifest import Manifest, ReadOnly, name_of
from shared.domain.bundle.annotations import texts
from shared.domain.bundle.model import CSV, Files
from shared.domain.bundle.platform import NotInspected, Platforms
from shared.domain.bundle.reading import MANIFESTS, METADATA, Documents, documents
from shared.domain.bundle.shape import as_list, as_object
from shared.domain.go_types.engine import Dialect, MisfitError
from shared.domain.go_types.plain import EXACT, PLAIN


@dataclass(frozen=True, slots=True)
class Options:
    """The options of validators."""

    kubernetes: str = ""
    """The version of Kubernetes that the bundle is for."""
    categories: tuple[str, ...] = ()
    """Categories that replace the standard ones."""
    dockerfile: str | None = None
    """The text of the Dockerfile, for the rules of the community."""
    platforms: Mapping[str, Platforms | NotInspected] = field(default_factory=dict)
    """What the registries of images answered, for the rules of several architectures."""


@dataclass(frozen=True)
class Subject:
    """The files of a bundle, and what is in them."""

    files: Files
    where: str
    """The name of the bundle in messages: its folder."""
    options: Options = field(default_factory=Options)

    is_exact: bool = False
    """Whether it is read as `opm` checks content: fields have one spelling, and hidden files count, too."""

    def without(self, paths: Collection[str]) -> Subject:
        """The bundle without some of its files."""
        return replace(self, files={path: content for path, content in self.files.items() if path not in paths})

    @cached_property
    def manifests(self) -> Documents:
        """The first document of every file in `manifests/`."""
        return documents(self.files, MANIFESTS, with_hidden=self.is_exact)

    @cached_property
    def metadata(self) -> Documents:
        """The first document of every file in `metadata/`."""
        return documents(self.files, METADATA)

    @cached_property
    def objects(self) -> Mapping[str, Manifest]:
        """The objects of Kubernetes among the manifests, by path."""
        return self.manifests.objects()[0]

    def of_kind(self, *kinds: str) -> Iterator[tuple[str, Manifest]]:
        """The objects of some kinds, with their paths."""
        return ((path, one) for path, one in self.objects.items() if one["kind"] in kinds)

    @cached_property
    def csv_path(self) -> str:
        """The file of the ClusterServiceVersion; empty without one."""
        return next((path for path, _ in self.of_kind(CSV)), "")

    @cached_property
    def raw_csv(self) -> Manifest:
        """The ClusterServiceVersion as it is in its file; empty without one."""
        return self.objects.get(self.csv_path, {})

    @property
    def dialect(self) -> Dialect:
        """How its ClusterServiceVersions are read."""
        return EXACT if self.is_exact else PLAIN

    @cached_property
    def csv(self) -> Manifest:
        """The ClusterServiceVersion as Go's type holds it; empty without one, or when it has another shape."""
        try:
            return self.dialect.read(self.raw_csv, CSV) if self.csv_path else {}
        except MisfitError:
            return {}

    @property
    def spec(self) -> ReadOnly:
        """The specification of the ClusterServiceVersion."""
        return as_object(self.csv.get("spec"))

    @property
    def csv_name(self) -> str:
        """The name of the ClusterServiceVersion."""
        return name_of(self.csv)

    @property
    def csv_annotations(self) -> Mapping[str, str]:
        """The annotations of the ClusterServiceVersion."""
        return as_object(as_object(self.csv.get("metadata")).get("annotations"))

    def described(self, side: str) -> list[Any]:
        """The descriptions of definitions that the ClusterServiceVersion owns, or requires."""
        return as_list(as_object(self.spec.get("customresourcedefinitions")).get(side))

    @property
    def install(self) -> ReadOnly:
        """The Deployments and the rights that the ClusterServiceVersion installs."""
        return as_object(as_object(self.spec.get("install")).get("spec"))

    def pods(self) -> list[Any]:
        """The specifications of the pods of its Deployments."""
        return [one["spec"]["template"]["spec"] for one in as_list(self.install.get("deployments"))]

    @cached_property
    def annotations_path(self) -> str:
        """The file with the annotations of the bundle; empty without one."""
        return next((path for path, one in self.metadata.by_path.items() if texts(one) is not None), "")

    @property
    def annotations(self) -> Mapping[str, str]:
        """The annotations of the bundle."""
        return texts(self.metadata.by_path.get(self.annotations_path)) or {}
