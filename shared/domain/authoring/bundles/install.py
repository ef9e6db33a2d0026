"""The install steps of a bundle, with the texts that OLM writes into an InstallPlan (resolver.md §10.4–10.6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly, name_of
from shared.api.views import Csv, OperatorGroup
from shared.domain.bundle.model import BadBundle
from shared.domain.bundle.payload import key_of
from shared.domain.bundle.reading import Documents, Passed
from shared.domain.bundle.shape import as_object, as_text
from shared.domain.catalog.model import Property
from shared.domain.csv.rbac import objects_for
from shared.domain.csv.strategy import Strategy, strategy_of
from shared.domain.endpoints.outline import outline
from shared.domain.go.encode import json_text
from shared.domain.go_types.engine import MisfitError
from shared.domain.go_types.plain import PLAIN
from shared.domain.objects import hashes
from shared.domain.plan.steps import Resource

_CSV: Final = kinds.CLUSTER_SERVICE_VERSION
_CRD: Final = kinds.CUSTOM_RESOURCE_DEFINITION.kind
_GENERATED: Final = tuple(
    kind.kind
    for kind in (
        kinds.SERVICE_ACCOUNT, kinds.ROLE, kinds.ROLE_BINDING, kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING,
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """Where a bundle is installed, and what its catalog says about it."""

    namespace: str
    replaces: str = ""
    properties: str = "{}"
    """The text of the annotation `operatorframework.io/properties`."""
    group: OperatorGroup | None = None
    """The one of the namespace, which decides where webhooks are called."""


@dataclass(frozen=True, slots=True)
class InstallStep:
    """One object that installing a bundle creates."""

    kind: str
    group: str
    version: str
    name: str
    manifest: str
    """JSON and a newline."""


@dataclass(frozen=True, slots=True)
class Installation:
    """All steps of a bundle, in order."""

    steps: tuple[InstallStep, ...]
    passed: tuple[Passed, ...] = ()
    """The parts of its files that are not installed."""
    served: tuple[InstallStep, ...] = ()
    """What no InstallPlan lists: the objects around its webhooks and aggregated APIs, in the order of their writing."""


def install_steps(manifests: Documents, target: Target, where: str) -> Installation | BadBundle:
    """The steps that install a bundle, or why it cannot be installed; `where` begins that sentence."""
    found, passed = manifests.objects()
    # A bundle is unpacked into a ConfigMap first: its objects come in the order of the keys they get there.
    in_order = sorted(found, key=lambda path: (key_of(path), path))
    csvs = [path for path in in_order if found[path]["kind"] == _CSV.kind]
    if not csvs:
        return BadBundle("NoClusterServiceVersion", f"{where}: no csv in bundle: {_why(passed)}")
    try:
        csv = _installed(found[csvs[-1]], target)
        generated = _generated(csv, target.namespace)
    except (MisfitError, _NotInstallableError) as error:
        return BadBundle("Malformed", f"{where}: {csvs[-1]}: {error}")
    others = [_step(found[path], is_sorted=True) for path in in_order if path not in csvs]
    extra = tuple(Passed(path, f"{path} is a second {_CSV.kind}: only the last one is installed") for path in csvs[:-1])
    served = tuple(map(_served, outline(Csv(csv), target.group)))
    return Installation(_grouped([_step(csv), *others, *generated]), (*passed, *extra), served)


class _NotInstallableError(ValueError):
    """A ClusterServiceVersion has no apiVersion, or no install strategy that is valid."""


def _why(passed: Sequence[Passed]) -> str:
    return "; ".join(map(str, passed)) or f"manifests/ holds no {_CSV.kind}; add one"


def _grouped(steps: Iterable[InstallStep]) -> tuple[InstallStep, ...]:
    """Versions first, then definitions, then the rest; else the order stays."""
    rank = {_CSV.kind: 0, _CRD: 1}
    return tuple(sorted(steps, key=lambda step: rank.get(step.kind, 2)))


def _installed(manifest: ReadOnly, target: Target) -> Manifest:
    """The version as the catalog wants it: its namespace, what it replaces, its properties."""
    csv = PLAIN.read(manifest, _CSV.kind)
    if not csv.get("apiVersion"):
        raise _NotInstallableError(f"bundle CSV {name_of(csv)} missing APIVersion")
    meta, spec = as_object(csv["metadata"]), as_object(csv["spec"])
    annotations = {**as_object(meta.get("annotations")), names.PROPERTIES: target.properties}
    metadata = {**meta, "namespace": target.namespace, "annotations": dict(sorted(annotations.items()))}
    # Once more through the type, because what was absent has its place among the fields, too.
    changed = {**csv, "metadata": metadata, "spec": {**spec, "replaces": target.replaces}}
    return PLAIN.read(changed, _CSV.kind)


def _generated(csv: Manifest, namespace: str) -> list[InstallStep]:
    """ServiceAccounts and their rights: by name of the account, then by kind."""
    strategy = strategy_of(Csv(csv))
    if not isinstance(strategy, Strategy):
        raise _NotInstallableError(strategy.message)
    made = objects_for(Csv(csv), namespace)
    accounts = {_pair_of(one): as_object(one["subjects"][0])["name"] for one in made if "subjects" in one}
    early = {permission.service_account for permission in strategy.permissions}

    def order(one: ReadOnly) -> tuple[str, int]:
        return accounts.get(_pair_of(one), name_of(one)), _GENERATED.index(one["kind"])

    return [_written(one, csv, is_early=name_of(one) in early) for one in sorted(made, key=order)]


def _pair_of(manifest: ReadOnly) -> tuple[bool, str]:
    """What a role has in common with its binding."""
    return str(manifest["kind"]).startswith("Cluster"), name_of(manifest)


def _written(manifest: ReadOnly, csv: ReadOnly, *, is_early: bool) -> InstallStep:
    """A generated object as OLM writes it: without apiVersion and kind, with OLM's namespaces and owners."""
    kind = str(manifest["kind"])
    group, _, version = str(manifest["apiVersion"]).rpartition("/")
    meta = dict(manifest["metadata"])
    labels = {key: value for key, value in meta.pop("labels").items() if key != names.MANAGED}
    if kind == "ServiceAccount" and not is_early:
        meta.pop("namespace")
    if kind == "ClusterRoleBinding":
        meta["namespace"] = manifest["subjects"][0]["namespace"]
    owners = [{**owner, "apiVersion": csv["apiVersion"]} for owner in meta.get("ownerReferences", ())]
    written: Manifest = {"metadata": PLAIN.read({**meta, "labels": labels, "ownerReferences": owners}, "ObjectMeta")}
    written |= {field: manifest[field] for field in ("rules", "subjects", "roleRef") if field in manifest}
    if labels.get(names.PERMISSIONS_HASH) == hashes.rules_hash(None):
        written["rules"] = None
    return InstallStep(kind, group, version, name_of(manifest), _line(written))


def _step(manifest: ReadOnly, *, is_sorted: bool = False) -> InstallStep:
    """The object as it is: even a ClusterServiceVersion keeps the group that it states."""
    meta = as_object(manifest.get("metadata"))
    named = {key: as_text(meta.get(key)) for key in ("name", "generateName")}
    api_version = as_text(manifest.get("apiVersion"))
    found = Resource.of({"apiVersion": api_version, "kind": manifest["kind"], "metadata": named})
    return InstallStep(found.kind, found.group, found.version, found.name, _line(manifest, is_sorted=is_sorted))


def _served(manifest: ReadOnly) -> InstallStep:
    group, _, version = str(manifest["apiVersion"]).rpartition("/")
    return InstallStep(str(manifest["kind"]), group, version, name_of(manifest), _line(manifest))


def _line(value: Mapping[str, object], *, is_sorted: bool = False) -> str:
    return json_text(value, is_sorted=is_sorted) + "\n"


def properties_annotation(properties: Iterable[Property]) -> str:
    """The text of `operatorframework.io/properties` for these properties."""
    listed = [{"type": one.type, "value": one.value} for one in properties]
    return json_text({"properties": listed} if listed else {}, is_sorted=False)
