"""A ClusterServiceVersion by itself (fbc.md §11.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from shared import names
from shared.api.manifest import ReadOnly
from shared.domain.authoring.validation.examples import examples
from shared.domain.authoring.validation.finding import ERROR, WARNING, Finding, about
from shared.domain.authoring.validation.spelling import misspelled
from shared.domain.authoring.validation.subject import Subject
from shared.domain.bundle.shape import as_list, as_object
from shared.domain.go.text import quoted
from shared.domain.semver import InvalidVersion, parse_version
from shared.domain.syntax import LABEL_VALUE, SUBDOMAIN

_ALL_NAMESPACES: Final = "AllNamespaces"
_PROPERTIES: Final = names.V1_PROPERTIES


def cluster_service_version(subject: Subject) -> Iterator[Finding]:
    """What is wrong with the ClusterServiceVersion of a bundle, in the order of the reference."""
    name = subject.csv_name
    yield from _name(name, "metadata.name", name)
    if replaced := subject.spec.get("replaces"):
        yield from _name(name, "spec.replaces", replaced)
    yield from examples(subject)
    yield from _install_modes(subject)
    yield from min_kube_version(subject)
    yield from _required(subject.csv)
    yield from misspelled(subject.csv_annotations, name)
    if _PROPERTIES in subject.csv_annotations:
        what = f"found {_PROPERTIES} annotation, please define these properties in metadata/properties.yaml instead"
        yield Finding(WARNING, what, value=_PROPERTIES)
    yield from (about(name, f"'{field}' is missing") for field in ("apiVersion", "kind") if not subject.csv.get(field))


def _name(name: str, field: str, value: str) -> Iterator[Finding]:
    if wrong := [*SUBDOMAIN.problems(value), *LABEL_VALUE.problems(value)]:
        yield about(name, f"{field} {quoted(value)} is invalid: {','.join(wrong)}")


def _install_modes(subject: Subject) -> Iterator[Finding]:
    name, modes = subject.csv_name, as_list(subject.spec.get("installModes"))
    if not modes:
        yield about(name, "install modes not found")
        return
    counted = Counter(mode["type"] for mode in modes)
    if any(count > 1 for count in counted.values()):
        yield about(name, "duplicate install modes present")
    supported = {mode["type"] for mode in modes if mode["supported"]}
    for webhook in as_list(subject.spec.get("webhookdefinitions")):
        if webhook.get("conversionCRDs") and supported != {_ALL_NAMESPACES}:
            yield about(name, f"only {_ALL_NAMESPACES} InstallModeType is supported when conversionCRDs is present")
    if not supported:
        yield about(name, "none of InstallModeTypes are supported")


def min_kube_version(subject: Subject) -> Iterator[Finding]:
    """What is wrong with the oldest Kubernetes that the operator runs on."""
    name, version = subject.csv_name, str(subject.spec.get("minKubeVersion") or "")
    if not version.strip():
        what = "csv.Spec.minKubeVersion is not informed. Without it the operator is offered to clusters of every age"
        yield about(name, what, WARNING)
        return
    try:
        parse_version(version)
    except InvalidVersion:
        yield about(name, f"csv.Spec.MinKubeVersion has an invalid value: {version}")


_REQUIRED: Final = (
    ("metadata", "ObjectMeta", "struct"),
    ("spec", "Spec", "struct"),
    ("spec.install", "Spec.InstallStrategy", "struct"),
    ("spec.install.strategy", "Spec.InstallStrategy.StrategyName", "field"),
    ("spec.install.spec.deployments", "Spec.InstallStrategy.StrategySpec.DeploymentSpecs", "field"),
    ("spec.displayName", "Spec.DisplayName", "field"),
)
"""The fields that are always written, and their names in Go."""


def _required(csv: ReadOnly) -> Iterator[Finding]:
    """Fields that are empty; below an empty struct nothing is looked for."""
    for path, named, kind in _REQUIRED:
        *above, last = path.split(".")
        holder: Any = csv
        for key in above:
            holder = as_object(as_object(holder).get(key))
        is_reached = not above or not _is_empty(holder)
        if is_reached and _is_empty(as_object(holder).get(last)):
            yield Finding(ERROR, "required field missing", field=named, value=kind)


def _is_empty(value: object) -> bool:
    """Whether Go would call a value empty: so are objects of empty values."""
    if isinstance(value, Mapping):
        return all(_is_empty(one) for one in value.values())
    return value in (None, "", False, 0, "0.0.0")
