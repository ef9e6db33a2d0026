"""APIs of Kubernetes that are gone, or will be (fbc.md §11.6, AlphaDeprecatedAPIs and Community)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

import orjson

from shared.domain.bundle.model import CRD
from shared.domain.bundle.shape import as_list, as_object, name_in
from shared.domain.bundle.validation.finding import ERROR, WARNING, Finding, Level, about
from shared.domain.bundle.validation.subject import Subject
from shared.domain.go.text import quoted
from shared.domain.semver import InvalidVersion, parse_tolerant

_GUIDE: Final = "https://kubernetes.io/docs/reference/using-api/deprecation-guide/"
_Removed = Mapping[str, tuple[str, ...]]
_1_22: Final[_Removed] = {
    "admissionregistration.k8s.io/v1beta1": ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
    "apiextensions.k8s.io/v1beta1": ("CustomResourceDefinition",),
    "apiregistration.k8s.io/v1beta1": ("APIService",),
    "authentication.k8s.io/v1beta1": ("TokenReview",),
    "authorization.k8s.io/v1beta1": (
        "LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview",
    ),
    "certificates.k8s.io/v1beta1": ("CertificateSigningRequest",),
    "coordination.k8s.io/v1beta1": ("Lease",),
    "extensions/v1beta1": ("Ingress", "IngressClass"),
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


def removed_apis(subject: Subject) -> Iterator[Finding]:
    """The APIs of the bundle that are gone: an error where the bundle says that it runs there."""
    aimed = [subject.options.kubernetes, str(subject.spec.get("minKubeVersion") or "")]
    if subject.options.kubernetes and _number(subject.options.kubernetes) is None:
        detail = f"invalid value informed via the k8s key option : {subject.options.kubernetes}"
        yield Finding(ERROR, detail, value=subject.options.kubernetes)
    for version, removed in REMOVED.items():
        if used := _used(subject, removed, version):
            is_there = any(not _is_below(text, version) for text in aimed if _number(text) is not None)
            yield _told(version, used, ERROR if is_there else WARNING)


def _number(text: str) -> tuple[int, int] | None:
    """Major and minor; None when the text is no version."""
    try:
        version = parse_tolerant(text)
    except InvalidVersion:
        return None
    return version.major, version.minor


def _is_below(text: str, limit: str) -> bool:
    """Whether a version is lower than another; a text that is none is not."""
    found, wanted = _number(text), _number(limit)
    return found is not None and wanted is not None and found < wanted


def _told(version: str, used: Mapping[str, list[str]], level: Level) -> Finding:
    listed = ",".join(f"{kind}: ([{' '.join(map(quoted, names))}])" for kind, names in sorted(used.items()))
    detail = (
        f"this bundle is using APIs which were deprecated and removed in v{version}. "
        f"More info: {_GUIDE}#v{version.replace('.', '-')}. Migrate the API(s) for {listed}"
    )
    return Finding(level, detail, value="")


def _used(subject: Subject, removed: _Removed, version: str) -> dict[str, list[str]]:
    used: dict[str, list[str]] = defaultdict(list)
    for manifest in subject.objects.values():
        kind = str(manifest["kind"])
        if kind in removed.get(str(manifest.get("apiVersion")), ()):
            name = name_in(manifest)
            used["CRD" if kind == CRD else kind].append(name)
    if version == "1.25":
        _add_described(subject, removed, used)
    return used


def _add_described(subject: Subject, removed: _Removed, used: dict[str, list[str]]) -> None:
    """What the descriptions list as resources, and what the operator may do to a kind that is gone."""
    for one in subject.described("owned"):
        for resource in as_list(one.get("resources")):
            if any(version.endswith(f"/{resource['version']}") and resource["kind"] in kinds
                   for version, kinds in removed.items()):  # fmt: skip
                used[resource["kind"]].append(f"{resource['name']} in ClusterServiceVersion")
    install = as_object(as_object(subject.spec.get("install")).get("spec"))
    for grant in (*as_list(install.get("permissions")), *as_list(install.get("clusterPermissions"))):
        rules = [as_object(rule) for rule in as_list(grant.get("rules"))]
        if any("policy" in as_list(one.get("apiGroups")) and "podsecuritypolicies" in as_list(one.get("resources"))
               for one in rules):  # fmt: skip
            used["PodSecurityPolicy"].append(f"rights of {grant['serviceAccountName']}")


_LABEL: Final = "com.redhat.openshift.versions"
_LABELLED: Final = re.compile(rf"LABEL\s+[\"']?{re.escape(_LABEL)}[\"']?\s*=\s*[\"']?([^\"'\s]+)")
_MAX_OPENSHIFT: Final = "olm.maxOpenShiftVersion"
_FIRST_WITHOUT: Final = "4.9"
"""The OpenShift whose Kubernetes lacks what 1.22 removed."""


def community(subject: Subject) -> Iterator[Finding]:
    """Whether a bundle with APIs that 1.22 removed keeps away from the OpenShift that lacks them."""
    yield Finding(WARNING, 'The "community" validator is deprecated', value="")
    if not _used(subject, _1_22, "1.22"):
        return
    name, highest = subject.csv_name, _max_openshift(subject)
    if highest is None:
        what = f"csv.Annotations.olm.properties with the key {_MAX_OPENSHIFT} and an OpenShift version lower than 4.9"
        yield about(name, f"{what} is required: the bundle uses APIs that Kubernetes 1.22 removed")
    elif not _is_below(highest, _FIRST_WITHOUT):
        yield about(name, f"{_MAX_OPENSHIFT} is {highest}: it has to be lower than 4.9")
    if subject.options.dockerfile is not None:
        yield from (about(name, detail) for detail in _label(subject.options.dockerfile))


def _max_openshift(subject: Subject) -> str | None:
    try:
        listed = orjson.loads(subject.csv_annotations.get("olm.properties") or "[]")
    except orjson.JSONDecodeError:
        return None
    found = (as_object(one) for one in as_list(listed))
    return next((str(one.get("value")) for one in found if one.get("type") == _MAX_OPENSHIFT), None)


def _label(dockerfile: str) -> Iterator[str]:
    found = _LABELLED.search(dockerfile)
    if found is None:
        yield f"the Dockerfile has no label {_LABEL}: the bundle uses APIs that Kubernetes 1.22 removed"
        return
    first, dash, last = found[1].partition("-")
    ends = last if dash else first.removeprefix("=") if first.startswith("=") else ""
    if not _is_below(ends, _FIRST_WITHOUT):
        yield f"the label {_LABEL}={found[1]} has to end below 4.9, e.g. v4.6-v4.8"
