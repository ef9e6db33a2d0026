"""The Deployments of a ClusterServiceVersion, and the writes that bring them about (csv.md §6.1–6.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shared import names
from shared.api.manifest import (
    Manifest,
    ReadOnly,
    annotations_of,
    is_deleted,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    resource_version_of,
)
from shared.domain.csv.overrides import by_name, config_of, overridden
from shared.domain.csv.strategy import Component, Strategy, strategy_of
from shared.domain.objects.hashes import deployment_hash
from shared.domain.objects.ownership import is_labelled_for, is_owned_by, owner_labels, owner_reference
from shared.domain.subset import covers
from shared.kinds import DEPLOYMENT

_CONDITION_NAME = "OPERATOR_CONDITION_NAME"


def desired_deployments(csv: ReadOnly, subscriptions: Iterable[ReadOnly]) -> tuple[Manifest, ...]:
    """The wanted Deployments, in the order of the strategy."""
    strategy = strategy_of(csv)
    config = config_of(csv, subscriptions)
    return tuple(_deployment(csv, item, config) for item in _components(strategy))


def _components(strategy: object) -> tuple[Component, ...]:
    return strategy.components if isinstance(strategy, Strategy) else ()


def _deployment(csv: ReadOnly, component: Component, config: ReadOnly) -> Manifest:
    extra = config.get("annotations") or {}
    spec = _spec(csv, component, config, extra)
    labels = {**component.labels, names.MANAGED: "true", **owner_labels(csv)}
    meta: Manifest = {
        "name": component.name,
        "namespace": namespace_of(csv),
        "labels": {**labels, names.DEPLOYMENT_SPEC_HASH: deployment_hash(spec)},
        "ownerReferences": [owner_reference(csv)],
    }
    if extra:
        meta["annotations"] = dict(extra)
    return {"apiVersion": DEPLOYMENT.api_version, "kind": DEPLOYMENT.kind, "metadata": meta, "spec": spec}


def _spec(csv: ReadOnly, component: Component, config: ReadOnly, extra: ReadOnly) -> Manifest:
    template = component.spec.get("template") or {}
    # Keys of the ClusterServiceVersion override those of the template, and both override those of the Subscription.
    annotations = {**extra, **annotations_of(template), **annotations_of(csv)}
    pod = overridden(template.get("spec") or {}, config)
    pod["containers"] = _named(csv, pod["containers"])
    meta = {**metadata(template), "annotations": annotations}
    return {**component.spec, "template": {**template, "metadata": meta, "spec": pod}, "revisionHistoryLimit": 1}


def _named(csv: ReadOnly, containers: Iterable[ReadOnly]) -> list[ReadOnly]:
    """The containers, each with the environment variable that names its OperatorCondition."""
    condition = [{"name": _CONDITION_NAME, "value": name_of(csv)}]
    return [{**container, "env": by_name(container.get("env"), condition)} for container in containers]


@dataclass(frozen=True, slots=True)
class Changes:
    """The writes that turn the present Deployments into the desired ones."""

    created: tuple[Manifest, ...]
    replaced: tuple[Manifest, ...]
    """With the resourceVersion that was read."""
    orphans: tuple[Manifest, ...]
    """Deployments of this version that are no longer in its strategy, and are not being deleted yet."""


def changes(csv: ReadOnly, desired: Sequence[Manifest], present: Iterable[Manifest]) -> Changes:
    """The writes for the difference between the desired Deployments and those of the namespace."""
    there = {name_of(item): item for item in present}
    wanted = {name_of(item) for item in desired}
    return Changes(
        tuple(item for item in desired if name_of(item) not in there),
        tuple(
            _at(item, resource_version_of(there[name_of(item)]))
            for item in desired
            if name_of(item) in there and not covers(there[name_of(item)], item)
        ),
        tuple(
            item
            for name, item in there.items()
            if name not in wanted and is_labelled_for(item, csv) and is_owned_by(item, csv) and not is_deleted(item)
        ),
    )


def annotated(desired: Iterable[Manifest], present: Iterable[ReadOnly]) -> tuple[Manifest, ...]:
    """The Deployments whose pods differ only in annotations and which stay available during the rollout.

    With the resourceVersion that was read. Empty when there is any other difference: then the version is installed
    again.
    """
    there = {name_of(item): item for item in present}
    differing = [item for item in desired if not covers(there.get(name_of(item)), item)]
    if not all(_is_rolled(item) and covers(there.get(name_of(item)), _unannotated(item)) for item in differing):
        return ()
    return tuple(_at(item, resource_version_of(there[name_of(item)])) for item in differing)


def with_condition_name(csv: ReadOnly, present: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """The Deployments whose containers lost the name of their OperatorCondition, corrected (csv.md §11.3)."""
    found = []
    for item in present:
        template = item["spec"]["template"]
        containers = _named(csv, template["spec"]["containers"])
        if containers != template["spec"]["containers"] and is_owned_by(item, csv):
            pod = {**template["spec"], "containers": containers}
            found.append({**item, "spec": {**item["spec"], "template": {**template, "spec": pod}}})
    return tuple(found)


def _is_rolled(deployment: ReadOnly) -> bool:
    return (deployment["spec"].get("strategy") or {}).get("type") != "Recreate"


def _unannotated(deployment: Manifest) -> Manifest:
    """The Deployment without the annotations of its pods, and without the hash label that depends on them."""
    labels = {key: value for key, value in labels_of(deployment).items() if key != names.DEPLOYMENT_SPEC_HASH}
    spec = deployment["spec"]
    meta = {key: value for key, value in metadata(spec["template"]).items() if key != "annotations"}
    return {
        **deployment,
        "metadata": {**deployment["metadata"], "labels": labels},
        "spec": {**spec, "template": {**spec["template"], "metadata": meta}},
    }


def _at(manifest: Manifest, version: str) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": version}}


def hash_label(deployment: ReadOnly) -> str:
    """`olm.deployment-spec-hash`, empty when absent."""
    return labels_of(deployment).get(names.DEPLOYMENT_SPEC_HASH, "")
