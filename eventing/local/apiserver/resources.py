"""The served kinds: the table of built-in kinds, and the kinds that CustomResourceDefinitions add."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

import orjson

from eventing.local.apiserver.ruled_schema import Ruled

RBAC = "rbac.authorization.k8s.io"
Node: TypeAlias = dict[str, Any]
"""A schema in the OpenAPI form; a built-in one may refer to others by name (`$ref`)."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind in one version: names, verbs and schema."""

    group: str
    version: str
    plural: str
    kind: str
    singular: str
    is_namespaced: bool
    verbs: tuple[str, ...]
    schema: Node
    subresources: frozenset[str] = frozenset()
    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    columns: tuple[Node, ...] = ()
    is_custom: bool = False
    scale: Node | None = None
    """Paths of the scale subresource of a custom kind."""
    list_kind: str = ""
    selectable: tuple[str, ...] = ()
    """Fields of a custom kind that a field selector may name, e.g. `spec.mode`."""
    converter: Node | None = None
    """The `spec.conversion` of a custom kind whose versions a webhook converts."""
    stored_version: str = ""
    """The version in which such a kind is stored."""
    rules: Ruled | None = None
    """The parts of the schema of a custom kind that have rules in CEL."""
    served_by: str = ""
    """The APIService whose server has the objects; empty: they are ours."""

    @property
    def table(self) -> str:
        """The key under which objects of this kind are stored, the same for all versions."""
        return f"{self.group}/{self.plural}"

    @property
    def api_version(self) -> str:
        """`apps/v1`, `v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version


@cache
def _facts() -> Node:
    loaded: Node = orjson.loads(files(__package__).joinpath("builtin.json").read_bytes())
    for node in loaded["types"].values():
        if node.get("type", "object") == "object" and "properties" not in node and "oneOf" not in node:
            node["x-kubernetes-preserve-unknown-fields"] = True  # any JSON, e.g. a RawExtension
    return loaded


@cache
def types() -> dict[str, Node]:
    """The schemas of built-in kinds by name."""
    found: dict[str, Node] = _facts()["types"]
    return found


def field_numbers() -> dict[str, Node]:
    """The field numbers of binary bodies by type name."""
    found: dict[str, Node] = _facts()["numbers"]
    return found


def resolve(node: Node) -> Node:
    """The schema to which a reference refers; any other schema itself."""
    ref = node.get("$ref")
    return types()[ref] if isinstance(ref, str) else node


OBJECT_META: Node = {"$ref": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}


def _builtin(entry: Node) -> Resource:
    group, _, version = entry["version"].rpartition("/")
    return Resource(
        group, version, entry["plural"], entry["kind"], entry["singular"], entry["namespaced"],
        tuple(entry["verbs"]), {"$ref": entry["type"]}, frozenset(entry["subresources"]), tuple(entry["short"]),
        tuple(entry["categories"]), tuple(entry["columns"]), list_kind=f"{entry['kind']}List",
    )  # fmt: skip


class Registry:
    """Every served kind, by group version and plural name."""

    def __init__(self) -> None:
        self._served: dict[tuple[str, str], dict[str, Resource]] = {}
        self._custom: dict[str, tuple[Resource, ...]] = {}
        self.generation = 0
        """Changes with the set of served kinds."""
        for entry in _facts()["resources"]:
            self._add(_builtin(entry))

    def _add(self, resource: Resource) -> None:
        self._served.setdefault((resource.group, resource.version), {})[resource.plural] = resource

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """The resource of a group, version and plural; None when it is not served."""
        return self._served.get((group, version), {}).get(plural)

    def in_version(self, group: str, version: str) -> Sequence[Resource]:
        """The resources of a group version, by name."""
        found = self._served.get((group, version), {})
        return [found[plural] for plural in sorted(found)]

    def versions(self) -> Iterator[tuple[str, list[str]]]:
        """The groups with their versions, the preferred version first; the name of the core group is empty."""
        groups: dict[str, list[str]] = {}
        for group, version in self._served:
            groups.setdefault(group, []).append(version)
        for group, found in groups.items():
            yield group, sorted(found, key=_priority, reverse=True)

    def of_table(self, table: str) -> Resource | None:
        """The resource of a table, in its preferred version."""
        group, _, plural = table.rpartition("/")
        found = [versions[plural] for (at, _), versions in self._served.items() if at == group and plural in versions]
        return max(found, key=lambda one: _priority(one.version), default=None)

    def is_remote(self, group: str, version: str) -> bool:
        """Whether other servers serve all of a group version."""
        return all(one.served_by for one in self._served.get((group, version), {}).values())

    def all(self) -> Iterator[Resource]:
        """Each kind once, in its preferred version."""
        tables = {one.table for versions in self._served.values() for one in versions.values()}
        yield from filter(None, map(self.of_table, sorted(tables)))

    def define(self, name: str, resources: Sequence[Resource]) -> None:
        """Serve the resources of a definition instead of its former ones; an empty list ends serving it."""
        for gone in self._custom.pop(name, ()):
            versions = self._served[gone.group, gone.version]
            versions.pop(gone.plural, None)
            if not versions:
                del self._served[gone.group, gone.version]
        for resource in resources:
            self._add(resource)
        if resources:
            self._custom[name] = tuple(resources)
        self.generation += 1


def _priority(version: str) -> tuple[int, int, int]:
    """The sort key for the order of versions in Kubernetes: v2 > v1 > v1beta2 > v1beta1 > v1alpha1 > others."""
    digits, stage, minor = version[1:], "", ""
    for word in ("alpha", "beta"):
        if word in digits:
            digits, stage, minor = digits.partition(word)
    if not version.startswith("v") or not digits.isdigit():
        return (-1, 0, 0)
    rank = {"": 2, "beta": 1, "alpha": 0}[stage]
    return (rank, int(digits), int(minor or 0))
