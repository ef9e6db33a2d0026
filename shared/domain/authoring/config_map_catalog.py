"""A catalog in a ConfigMap, as a file-based catalog: `customResourceDefinitions`, `clusterServiceVersions`, `packages`.

Each is a YAML list (catalog.md §2.6). A bundle is a ClusterServiceVersion with the definitions that it owns; a channel
names the newest one, and the others follow from what each replaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, name_of
from shared.api.views import ConfigMap, Csv
from shared.domain.authoring.bundles.render import blob
from shared.domain.bundle.annotations import Annotations
from shared.domain.bundle.model import ParsedBundle
from shared.domain.bundle.properties import PropertyError
from shared.domain.catalog.documents import NotACatalog
from shared.domain.catalog.model import Entry
from shared.domain.go import yaml as goyaml
from shared.domain.go_types.engine import MisfitError

DEFINITIONS: Final = "customResourceDefinitions"
VERSIONS: Final = "clusterServiceVersions"
PACKAGES: Final = "packages"
KEYS: Final = (DEFINITIONS, VERSIONS, PACKAGES)
_SKIP_RANGE: Final = "olm.skipRange"
Definitions: TypeAlias = Mapping[tuple[str, str], ReadOnly]


class _WrongPackage(ValueError):
    """Why a package cannot be served."""


@dataclass(slots=True)
class Converted:
    """The documents of a catalog, and what had to be left out of it."""

    documents: list[Manifest] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def converted(config_map: ConfigMap) -> Converted:
    """The catalog of a ConfigMap; a package that is wrong stops itself alone. NotACatalog when nothing is readable.

    As in OLM the last package of a name counts, and a package's only channel is its default, whatever it says.
    """
    definitions = _by_version(_listed(config_map, DEFINITIONS))
    versions = {name_of(one): Csv(one) for one in _listed(config_map, VERSIONS)}
    found = Converted()
    last = {fields.text(one, "packageName"): one for one in _listed(config_map, PACKAGES)}
    for package in last.values():
        try:
            found.documents += [*_package(package, versions, definitions)]
        except (_WrongPackage, PropertyError, MisfitError) as error:
            found.left_out.append(f"package {fields.text(package, 'packageName') or '(no name)'}: {error}")
    return found


def _listed(config_map: ConfigMap, key: str) -> tuple[ReadOnly, ...]:
    try:
        found = goyaml.load_value(config_map.texts.get(key, ""))
    except goyaml.YamlError as error:
        raise NotACatalog(f"{key}: {error}") from error
    if not isinstance(found, list | None):
        raise NotACatalog(f"{key}: wanted a list")
    return fields.parts({key: found or []}, key)


def _by_version(definitions: Iterable[ReadOnly]) -> Definitions:
    """Definitions by name and each of their versions: two of a name are those of an older and of a newer bundle."""
    return {
        (name_of(one), fields.text(version, "name")): one
        for one in definitions
        for version in fields.parts(one, "spec", "versions")
    }


def _package(package: ReadOnly, versions: Mapping[str, Csv], definitions: Definitions) -> Iterator[Manifest]:
    name, channels = fields.text(package, "packageName"), fields.parts(package, "channels")
    heads = {fields.text(one, "name"): fields.text(one, "currentCSV") for one in channels}
    if not name or not heads or not all(heads) or len(heads) < len(channels):
        raise _WrongPackage("it needs a name, and channels, each with a name of its own")
    for channel, head in heads.items():
        if head not in versions:
            raise _WrongPackage(f"channel {channel}: there is no ClusterServiceVersion {head or '(no name)'}")
    default = next(iter(heads)) if len(heads) == 1 else fields.text(package, "defaultChannel")
    if default not in heads:
        raise _WrongPackage(f"its default channel is none of its channels: {default or '(no name)'}")
    chains = {channel: [*_chain(head, versions)] for channel, head in heads.items()}
    yield {"schema": "olm.package", "name": name, "defaultChannel": default}
    for channel, chain in chains.items():
        entries = [_entry(csv).document() for csv in chain]
        yield {"schema": "olm.channel", "package": name, "name": channel, "entries": entries}
    used = {csv.name: csv for chain in chains.values() for csv in chain}
    for csv in used.values():
        yield blob(_bundle(name, csv, definitions))


def _chain(head: str, versions: Mapping[str, Csv]) -> Iterator[Csv]:
    """A version and those that it replaces, as far as they are in the catalog; each once."""
    seen: set[str] = set()
    while head in versions and head not in seen:
        seen.add(head)
        yield versions[head]
        head = versions[head].replaces


def _entry(csv: Csv) -> Entry:
    skips = fields.texts(csv.spec, "skips")
    return Entry(csv.name, csv.replaces, skips, csv.annotations.get(_SKIP_RANGE, ""))


def _bundle(package: str, csv: Csv, definitions: Definitions) -> ParsedBundle:
    owned = {
        entry.name: definitions[key]
        for entry in csv.owned_definitions
        if (key := (entry.name, entry.version)) in definitions
    }
    objects = (dict(csv.raw), *map(dict, owned.values()))
    return ParsedBundle(objects[0], objects, Annotations(package))
