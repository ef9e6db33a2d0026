"""APIs of Kubernetes that are gone, or will be (fbc.md §11.6, AlphaDeprecatedAPIs and Community)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from shared import names
from shared.domain.bundle.model import CRD
from shared.domain.bundle.properties import parse_annotation
from shared.domain.bundle.shape import as_list, as_object, name_in
from shared.domain.bundle.validation.finding import ERROR, WARNING, Finding, Level, about
from shared.domain.bundle.validation.subject import Subject
from shared.domain.go.text import quoted
from shared.domain.semver import InvalidVersion, Version, parse_tolerant

_GUIDE: Final = "https://kubernetes.io/docs/reference/using-api/deprecation-guide/"
_Removed = Mapping[str, tuple[str, ...]]
_1_22: Final[_Removed] = {
    "admissionregistration.k8s.io/v1beta1": ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
    "apiextensions.k8s.io/v1beta1": ("CustomResourceDefinition",),
    "apiregistration.k8s.io/v1beta1": ("APIService",),
    "authentication.k8s.io/v1beta1": ("TokenReview",),
    "authorization.k8s.io/v1beta1": (
        "LocalSubjectAccessReview", "SelfSubjectAccessReview", "SubjectAccessReview",
    ),
    "certificates.k8s.io/v1beta1": ("CertificateSigningRequest",),
    "coordination.k8s.io/v1beta1": ("Lease",),
    "extensions/v1beta1": ("Ingress",),
    "networking.k8s.io/v1beta1": ("Ingress", "IngressClass"),
    "rbac.authorization.k8s.io/v1beta1": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "scheduling.k8s.io/v1beta1": ("PriorityClass",),
    "storage.k8s.io/v1beta1": ("CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"),
}  # fmt: skip
_1_25: Final[_Removed] = {
    "autoscaling/v2beta1": ("HorizontalPodAutoscaler",),
    "batch/v1beta1": ("CronJob",),
    "discovery.k8s.io/v1beta1": ("EndpointSlice",),
    "events.k8s.io/v1beta1": ("Event",),
    "node.k8s.io/v1beta1": ("RuntimeClass",),
    "policy/v1beta1": ("PodDisruptionBudget", "PodSecurityPolicy"),
}
_1_26: Final[_Removed] = {"autoscaling/v2beta2": ("HorizontalPodAutoscaler",)}
REMOVED: Final[Mapping[str, _Removed]] = {"1.22": _1_22, "1.25": _1_25, "1.26": _1_26}
"""By the version of Kubernetes that does not have them any more."""
_WITHOUT_POLICIES: Final = "1.25"
_POLICIES: Final = "podsecuritypolicies"


def removed_apis(subject: Subject) -> Iterator[Finding]:
    """The APIs of the bundle that are gone: an error where the bundle says that it runs there."""
    name, minimum = subject.csv_name, str(subject.spec.get("minKubeVersion") or "")
    wanted, least = _version(subject.options.kubernetes), _version(minimum)
    if subject.options.kubernetes and wanted is None:
        detail = f"invalid value informed via the k8s key option : {subject.options.kubernetes}"
        yield Finding(ERROR, detail, value=name)
    if minimum and least is None:
        what = "unable to use csv.Spec.MinKubeVersion to verify the CRD/Webhook apis because it has an invalid value"
        yield Finding(ERROR, f"{what}: {minimum}", value=name)
    for version, removed in REMOVED.items():
        limit = parse_tolerant(version)
        is_there = any(one is not None and one >= limit for one in (wanted, least))
        if used := _used(subject, removed):
            yield _told(name, version, used, ERROR if is_there else WARNING)
        if version == _WITHOUT_POLICIES and (granted := _granted(subject)):
            yield _told(name, version, {_POLICIES: granted}, WARNING)


def _version(text: str) -> Version | None:
    try:
        return parse_tolerant(text)
    except InvalidVersion:
        return None


def _told(name: str, version: str, used: Mapping[str, list[str]], level: Level) -> Finding:
    detail = (
        f"this bundle is using APIs which were deprecated and removed in v{version}. "
        f"More info: {_GUIDE}#v{version.replace('.', '-')}. Migrate the API(s) for {_listed(used)}"
    )
    return Finding(level, detail, value=name)


def _listed(used: Mapping[str, list[str]]) -> str:
    return ",".join(f"{kind}: ([{' '.join(map(quoted, found))}])" for kind, found in sorted(used.items()))


def _used(subject: Subject, removed: _Removed) -> dict[str, list[str]]:
    """The names of what is gone, by kind."""
    used: dict[str, list[str]] = defaultdict(list)
    for path, manifest in subject.objects.items():
        kind = str(manifest["kind"])
        if kind in removed.get(str(manifest.get("apiVersion")), ()):
            used["CRD" if kind == CRD else kind].append(name_in(manifest))
        if path == subject.csv_path and removed is _1_25:
            for kind, name in _described(subject, removed):
                used[kind].append(name)
    return used


def _described(subject: Subject, removed: _Removed) -> Iterator[tuple[str, str]]:
    """Resources that belong to definitions, as the ClusterServiceVersion says."""
    for side in ("Owned", "Required"):
        for index, one in enumerate(subject.described(side.lower())):
            for position, resource in enumerate(as_list(one.get("resources"))):
                if resource["kind"] in removed.get(resource["version"], ()):
                    where = f"ClusterServiceVersion.Spec.CustomResourceDefinitions.{side}[{index}]"
                    yield resource["kind"], f"{where}.Resource[{position}]"


def _granted(subject: Subject) -> list[str]:
    """The rules that name the one resource that is gone in every version."""
    install = as_object(as_object(subject.spec.get("install")).get("spec"))
    return [
        f"ClusterServiceVersion.Spec.InstallStrategy.StrategySpec.{side}[{index}].Rules[{position}]"
        for side, field in (("ClusterPermissions", "clusterPermissions"), ("Permissions", "permissions"))
        for index, grant in enumerate(as_list(install.get(field)))
        for position, rule in enumerate(as_list(grant.get("rules")))
        if "policy" in as_list(rule.get("apiGroups")) and _POLICIES in as_list(rule.get("resources"))
    ]


_LABEL: Final = "com.redhat.openshift.versions"
_LABELLED: Final = re.compile(
    rf"^[ \t]*LABEL[ \t](?:.*[ \t])?[\"']?{re.escape(_LABEL)}[\"']?[ \t]*=[ \t]*[\"']?([^\"'\s]+)", re.MULTILINE
)
_CONTINUED: Final = re.compile(r"\\[ \t]*\r?\n")
_PROPERTIES: Final = names.V1_PROPERTIES
_MAX_OPENSHIFT: Final = "olm.maxOpenShiftVersion"
_FIRST_WITHOUT: Final = "4.9"
"""The OpenShift whose Kubernetes lacks what 1.22 removed."""


def community(subject: Subject) -> Iterator[Finding]:
    """Whether a bundle with APIs that 1.22 removed keeps away from the OpenShift that lacks them."""
    used = _used(subject, _1_22)
    if not used:
        return
    name, dockerfile = subject.csv_name, subject.options.dockerfile
    yield from _max_openshift(name, subject.csv_annotations.get(_PROPERTIES, ""), _listed(used))
    if dockerfile is None:
        what = f"please name the Dockerfile in the option index-path, so that its label {_LABEL} can be checked"
        yield about(name, f"{what}, or migrate the API(s) for {_listed(used)}", WARNING)
    else:
        yield from (about(name, detail) for detail in _label(dockerfile))


def _max_openshift(name: str, properties: str, used: str) -> Iterator[Finding]:
    remedy = f"Migrate the API(s) for {used}, or state {_MAX_OPENSHIFT} lower than {_FIRST_WITHOUT}"
    if not properties:
        yield about(name, f"csv.Annotations not specified {_MAX_OPENSHIFT}. {remedy}")
        return
    stated = parse_annotation(properties)
    if stated is None or not all(isinstance(value, str | None) for _, value in stated):
        yield about(name, f"csv.Annotations has an invalid value specified for {_PROPERTIES}: {properties}")
        return
    highest = next((value or "" for kind, value in stated if kind == _MAX_OPENSHIFT), None)
    if highest is None:
        yield about(name, f"csv.Annotations.{_PROPERTIES} lacks {_MAX_OPENSHIFT}. {remedy}")
    elif (version := _version(highest)) is None:
        yield about(name, f"csv.Annotations.{_PROPERTIES} has an invalid value. {highest} is no version")
    elif version.patch or version.prerelease:
        what = f"csv.Annotations.{_PROPERTIES} has an invalid value. {_MAX_OPENSHIFT} must specify only major.minor"
        yield about(name, f"{what}: {highest}", WARNING)
    elif version >= parse_tolerant(_FIRST_WITHOUT):
        yield about(name, f"csv.Annotations.{_PROPERTIES}: {_MAX_OPENSHIFT} is {highest}. {remedy}")


def _label(dockerfile: str) -> Iterator[str]:
    found = _LABELLED.search(_CONTINUED.sub(" ", dockerfile))
    if found is None:
        yield f"the Dockerfile has no label {_LABEL}: the bundle uses APIs that Kubernetes 1.22 removed"
        return
    first, dash, last = found[1].partition("-")
    ends = last if dash else first.removeprefix("=") if first.startswith("=") else ""
    version = _version(ends)
    if version is None or version >= parse_tolerant(_FIRST_WITHOUT):
        yield f"the label {_LABEL}={found[1]} has to end below 4.9, e.g. v4.6-v4.8"
