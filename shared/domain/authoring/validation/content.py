"""Checks every manifest, and whether the manifests belong together, as `opm` does (fbc.md §11.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from shared import names
from shared.api.manifest import Manifest, ReadOnly, annotations_of
from shared.domain.authoring.validation.csv import cluster_service_version
from shared.domain.authoring.validation.definition import definition
from shared.domain.authoring.validation.finding import ERROR, Finding, plain, warned
from shared.domain.authoring.validation.form import HELM, REGISTRY, media_type
from shared.domain.authoring.validation.subject import Subject
from shared.domain.authoring.validation.webhooks import webhooks
from shared.domain.bundle.apis import Api, ApiError, defined
from shared.domain.bundle.model import CRD, CSV
from shared.domain.bundle.reading import MANIFESTS
from shared.domain.bundle.shape import as_list, as_object, name_in
from shared.domain.bundle.typed import apis_of, check
from shared.domain.go.text import quoted
from shared.domain.go_types.engine import MisfitError
from shared.domain.go_types.plain import PLAIN
from shared.domain.syntax import LABEL_VALUE, QUALIFIED_NAME, SUBDOMAIN

_SUPPORTED: Final = {
    "ClusterServiceVersion", "Service", "ServiceAccount", "Role", "RoleBinding", "PrometheusRule", "PodMonitor",
    "ServiceMonitor", "Secret", "ConfigMap", "PodDisruptionBudget", "NetworkPolicy",
    "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "PriorityClass", "VerticalPodAutoscaler",
    "ConsoleYAMLSample", "ConsoleQuickStart", "ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin",
}  # fmt: skip
"""The kinds that a bundle may hold."""
_IN_FOLDER: Final = 2
"""As many parts has the path of a file directly in a folder."""
_OLD, _NEW = "apiextensions.k8s.io/v1beta1", "apiextensions.k8s.io/v1"
_ANNOTATION_BYTES: Final = 256 * 1024


def content(subject: Subject) -> Iterator[Finding]:
    """The findings about the manifests; a Helm chart is not checked."""
    subject = replace(subject, is_exact=True)
    if (kind := media_type(subject)) == HELM:
        return
    yield from _unread(subject)
    for path, manifest in subject.objects.items():
        if kind == REGISTRY and manifest["kind"] not in _SUPPORTED:
            where = f"{subject.where}/{path}"
            yield plain(f"{manifest['kind']} is not supported type for registryV1 bundle: {where}", path)
        yield from (one.at(path) for one in _one(subject, path, manifest))
    if subject.csv:
        yield from (one.at(subject.csv_path) for one in _together(subject))


def _unread(subject: Subject) -> Iterator[Finding]:
    """Folders among the manifests, and files that are passed over elsewhere."""
    below = (path.split("/", 2) for path in sorted(subject.files) if path.startswith(f"{MANIFESTS}/"))
    for name in dict.fromkeys(parts[1] for parts in below if len(parts) > _IN_FOLDER):
        yield plain(f"Unable to read file {name} in supported types", f"{MANIFESTS}/{name}")
    for one in subject.manifests.objects()[1]:
        is_used = one.path in subject.objects
        yield warned(str(one), one.path) if is_used else plain(str(one), one.path)


def _one(subject: Subject, path: str, manifest: Manifest) -> Iterator[Finding]:
    if manifest["kind"] == CSV:
        yield from _version(subject, path, manifest)
    elif manifest["kind"] == CRD:
        yield from _definition(manifest)
    else:
        yield from _other(manifest)


def _version(subject: Subject, path: str, manifest: Manifest) -> Iterator[Finding]:
    try:
        subject.dialect.read(manifest, CSV)
    except MisfitError as error:
        yield plain(f"json: {error}")
        return
    others = {other for other, _ in subject.of_kind(CSV)} - {path}
    if path != subject.csv_path:
        yield warned(f"{path} is a second {CSV}: only the first one is read")
    yield from cluster_service_version(subject.without(others) if others else subject)


def _definition(manifest: ReadOnly) -> Iterator[Finding]:
    version = manifest.get("apiVersion")
    if version not in (_OLD, _NEW):
        yield plain(f"Unsupported api version of CRD: {version or ''}")
        return
    if version == _OLD:
        yield warned(f"{_OLD} is deprecated, and gone since Kubernetes 1.22; write {_NEW}")
    try:
        check(manifest)
    except MisfitError as error:
        yield plain(str(error))
        return
    yield from definition(manifest)


def _other(manifest: ReadOnly) -> Iterator[Finding]:
    try:
        meta = PLAIN.read(manifest, "PartialObjectMetadata")["metadata"]
    except MisfitError as error:
        yield plain(f"json: {error}")
        return
    wrong = list(object_metadata(meta))
    if wrong:
        listed = wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]"
        yield plain(f"error validating object metadata: {listed}. {manifest['kind']} {name_in({'metadata': meta})}")


def _together(subject: Subject) -> Iterator[Finding]:
    present = {
        (api.kind, name_in(one), api.version) for _, one in subject.of_kind(CRD) for api in _versions(one)
    }  # fmt: skip
    try:
        check(subject.raw_csv)
        described = apis_of(subject.raw_csv)["customresourcedefinitions"].get("owned", ())
    except MisfitError as error:
        yield plain(str(error))
        return
    owned = Counter((one["kind"], one["name"], one["version"]) for one in described)
    bundle = quoted(subject.csv_name)
    for (kind, name, version), count in owned.items():
        if (kind, name, version) not in present or count > 1:
            detail = f"owned CRD {name}/{version} not found in bundle {bundle}"
            yield Finding(ERROR, detail, value=f"{{ {kind} {name} {version}}}")
    for kind, name, version in sorted(present - owned.keys()):
        yield warned(f"CRD {name}/{version} ({kind}) is in bundle {bundle}, but its version does not own it")
    yield from _releases(subject)
    yield from webhooks(subject)


def _versions(manifest: ReadOnly) -> list[Api]:
    try:
        return list(defined(manifest))
    except ApiError:
        return []


def _releases(subject: Subject) -> Iterator[Finding]:
    release = str(subject.spec.get("release") or "")
    substituted = annotations_of(subject.csv).get(names.SUBSTITUTES_FOR)
    if release and substituted:
        yield plain(
            f"bundle {quoted(subject.csv_name)} cannot have both a release version ({quoted(release)}) "
            f"and {names.SUBSTITUTES_FOR} annotation ({quoted(substituted)})"
        )


def object_metadata(meta: ReadOnly) -> Iterator[str]:
    """What is wrong with the metadata of an object of any kind, each with its field."""
    if not meta.get("name"):  # whatever the message says: nobody generates a name for a manifest
        yield "metadata.name: Required value: name or generateName is required"
    if meta.get("namespace"):
        yield "metadata.namespace: Forbidden: not allowed on this type"
    for field in ("labels", "annotations"):
        for key, value in as_object(meta.get(field)).items():
            wrong = [(key, why) for why in _qualified(key)]
            if field == "labels":
                wrong += [(value, why) for why in LABEL_VALUE.problems(value)]
            yield from (f"metadata.{field}: Invalid value: {quoted(text)}: {why}" for text, why in wrong)
    if (generation := meta.get("generation", 0)) < 0:
        yield f"metadata.generation: Invalid value: {generation}: must be greater than or equal to 0"
    annotations: Mapping[str, str] = as_object(meta.get("annotations"))
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > _ANNOTATION_BYTES:
        yield f"metadata.annotations: Too long: may not be more than {_ANNOTATION_BYTES} bytes"
    for owner in map(as_object, as_list(meta.get("ownerReferences"))):
        yield from (f"metadata.ownerReferences.{why}" for why in _owner(owner))


def _owner(owner: ReadOnly) -> Iterator[str]:
    version = owner["apiVersion"]
    if not version.rpartition("/")[2]:
        yield f"apiVersion: Invalid value: {quoted(version)}: version must not be empty"
    for field in ("kind", "name", "uid"):
        if not owner[field]:
            yield f'{field}: Invalid value: "": must not be empty'


def _qualified(key: str) -> Iterator[str]:
    prefix, slash, name = key.rpartition("/")
    if slash:
        yield from (f"prefix part {why}" for why in (SUBDOMAIN.problems(prefix) if prefix else ["must be non-empty"]))
    if not name:
        yield "name part must be non-empty"
    else:
        yield from (f"name part {why}" for why in QUALIFIED_NAME.problems(name))
