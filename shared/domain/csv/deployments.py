"""The Deployments of a ClusterServiceVersion, and the writes that bring them about (csv.md §6.1–6.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shared import names
from shared.api import fields
from shared.api.manifest import (
    Manifest,
    ReadOnly,
    labels_of,
    metadata,
    name_of,
)
from shared.api.views import Csv, Deployment, DeploymentEntry, PodTemplate, Proxy, Subscription
from shared.domain.csv.overrides import by_name, config_of, overridden, proxied
from shared.domain.csv.strategy import Strategy, strategy_of
from shared.domain.endpoints.pods import serving
from shared.domain.objects.hashes import deployment_hash
from shared.domain.objects.ownership import (
    component_labels,
    is_labelled_for,
    is_owned_by,
    not_taken,
    owner_labels,
    owner_reference,
)
from shared.domain.subset import covers
from shared.kinds import DEPLOYMENT
from shared.refs import misnamed

_CONDITION_NAME = "OPERATOR_CONDITION_NAME"
NONE_SERVES: Mapping[str, str] = {}


def desired_deployments(
    csv: Csv, subscriptions: Iterable[Subscription], digests: Mapping[str, str] = NONE_SERVES,
    *, proxy: Proxy | None = None,
) -> tuple[Manifest, ...]:  # fmt: skip
    """The wanted Deployments, in the order of the strategy.

    `digests`: of the CAs of those that serve for the API server, by name; `proxy`: that of an OpenShift.
    """
    strategy = strategy_of(csv)
    config = proxied(config_of(csv, subscriptions), proxy)
    return tuple(_deployment(csv, item, config, digests.get(item.name)) for item in _components(strategy))


def _components(strategy: object) -> tuple[DeploymentEntry, ...]:
    return strategy.components if isinstance(strategy, Strategy) else ()


def _deployment(csv: Csv, component: DeploymentEntry, config: ReadOnly, digest: str | None) -> Manifest:
    extra = fields.part(config, "annotations")
    # The configuration comes last: a volume of its own may take the place of the certificate.
    served = component.spec if digest is None else serving(component.spec, component.name, digest)
    spec = _spec(csv, served, config, extra)
    labels = {**component.labels, names.MANAGED: "true", **owner_labels(csv)}
    meta: Manifest = {
        "name": component.name,
        "namespace": csv.namespace,
        "labels": {**labels, names.DEPLOYMENT_SPEC_HASH: deployment_hash(spec)},
        "ownerReferences": [owner_reference(csv)],
    }
    if extra:
        meta["annotations"] = dict(extra)
    return {"apiVersion": DEPLOYMENT.api_version, "kind": DEPLOYMENT.kind, "metadata": meta, "spec": spec}


def _spec(csv: Csv, component: ReadOnly, config: ReadOnly, extra: ReadOnly) -> Manifest:
    template = PodTemplate(fields.part(component, "template"))
    # Keys of the ClusterServiceVersion override those of the template, and both override those of the Subscription.
    annotations = {**extra, **template.annotations, **csv.annotations}
    pod = overridden(template.spec, config)
    pod["containers"] = _named(csv, pod["containers"])
    meta = {**template.metadata, "annotations": annotations}
    return {**component, "template": {**template.raw, "metadata": meta, "spec": pod}, "revisionHistoryLimit": 1}


def _named(csv: Csv, containers: Iterable[ReadOnly]) -> list[ReadOnly]:
    """The containers, each with the environment variable that names its OperatorCondition."""
    condition = [{"name": _CONDITION_NAME, "value": csv.name}]
    return [{**container, "env": by_name(fields.parts(container, "env"), condition)} for container in containers]


@dataclass(frozen=True, slots=True)
class Changes:
    """The writes that turn the present Deployments into the desired ones."""

    created: tuple[Manifest, ...]
    replaced: tuple[Manifest, ...]
    """With the resourceVersion that was read."""
    orphans: tuple[Deployment, ...]
    """Deployments of this version that are no longer in its strategy, and are not being deleted yet."""


def changes(csv: Csv, desired: Sequence[Manifest], present: Iterable[Deployment]) -> Changes:
    """The writes for the difference between the desired Deployments and those of the namespace."""
    there = {one.name: one for one in present}
    names = {name_of(item) for item in desired}
    return Changes(
        tuple(_as_component(item, csv) for item in desired if name_of(item) not in there),
        tuple(
            _at(_as_component(item, csv), there[name_of(item)].resource_version)
            for item in desired
            if name_of(item) in there and not covers(there[name_of(item)].raw, item)
        ),
        tuple(
            one
            for one in there.values()
            if one.name not in names and is_labelled_for(one, csv) and is_owned_by(one, csv) and not one.is_deleted
        ),
    )


def refusal(desired: Iterable[Manifest], present: Iterable[Deployment]) -> str:
    """Why none of them may be written: no Deployment can have its name, or OLM v1 controls the one that is there."""
    there = {one.name: one for one in present}
    for item in desired:
        live = there.get(name_of(item))
        if why := misnamed(item) or (not_taken(live) if live else ""):
            return why
    return ""


def _as_component(deployment: Manifest, csv: Csv) -> Manifest:
    """The Deployment with component labels, which are no difference by themselves: that would be an installation."""
    meta = metadata(deployment)
    return {**deployment, "metadata": {**meta, "labels": {**meta["labels"], **component_labels(csv)}}}


def annotated(csv: Csv, desired: Iterable[Manifest], present: Iterable[Deployment]) -> tuple[Manifest, ...]:
    """The Deployments whose pods differ only in annotations and which stay available during the rollout.

    With the resourceVersion that was read. Empty when there is any other difference: then the version is installed
    again.
    """
    there = {one.name: one for one in present}
    stored = {name: one.raw for name, one in there.items()}
    differing = [item for item in desired if not covers(stored.get(name_of(item)), item)]
    if any(not_taken(one) for one in there.values()):
        return ()
    if not all(_is_rolled(item) and covers(stored.get(name_of(item)), _unannotated(item)) for item in differing):
        return ()
    return tuple(_at(_as_component(item, csv), there[name_of(item)].resource_version) for item in differing)


def with_condition_name(csv: Csv, present: Iterable[Deployment]) -> tuple[Manifest, ...]:
    """The Deployments whose containers lost the name of their OperatorCondition, corrected (csv.md §11.3)."""
    found = []
    for one in present:
        template = one.template
        containers = _named(csv, template.containers)
        if containers != list(template.containers) and is_owned_by(one, csv):
            pod = {**template.spec, "containers": containers}
            found.append({**one.raw, "spec": {**one.spec, "template": {**template.raw, "spec": pod}}})
    return tuple(found)


def _is_rolled(deployment: ReadOnly) -> bool:
    return fields.text(deployment, "spec", "strategy", "type") != "Recreate"


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


def hash_label(deployment: Deployment) -> str:
    """`olm.deployment-spec-hash`, empty when absent."""
    return deployment.labels.get(names.DEPLOYMENT_SPEC_HASH, "")
