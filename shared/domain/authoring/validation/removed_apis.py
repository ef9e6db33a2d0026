"""Finds APIs in a bundle that Kubernetes has removed (fbc.md §11.6, AlphaDeprecatedAPIs)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from shared.domain.authoring.validation.finding import ERROR, WARNING, Finding, Level
from shared.domain.authoring.validation.subject import Subject
from shared.domain.bundle.model import CRD
from shared.domain.bundle.shape import as_list, name_in
from shared.domain.go.text import quoted
from shared.domain.semver import InvalidVersion, Version, parse_tolerant

_GUIDE: Final = "https://kubernetes.io/docs/reference/using-api/deprecation-guide/"
Removed: TypeAlias = Mapping[str, tuple[str, ...]]
"""Kinds by `apiVersion`."""
_1_22: Final[Removed] = {
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
_1_25: Final[Removed] = {
    "autoscaling/v2beta1": ("HorizontalPodAutoscaler",),
    "batch/v1beta1": ("CronJob",),
    "discovery.k8s.io/v1beta1": ("EndpointSlice",),
    "events.k8s.io/v1beta1": ("Event",),
    "node.k8s.io/v1beta1": ("RuntimeClass",),
    "policy/v1beta1": ("PodDisruptionBudget", "PodSecurityPolicy"),
}
_1_26: Final[Removed] = {"autoscaling/v2beta2": ("HorizontalPodAutoscaler",)}
REMOVED: Final[Mapping[str, Removed]] = {"1.22": _1_22, "1.25": _1_25, "1.26": _1_26}
"""By the version of Kubernetes that does not have them any more."""
_WITHOUT_POLICIES: Final = "1.25"
_POLICIES: Final = "podsecuritypolicies"


def removed_apis(subject: Subject) -> Iterator[Finding]:
    """The removed APIs of a bundle: errors if it states that it runs on a Kubernetes without them, else warnings."""
    name, minimum = subject.csv_name, str(subject.spec.get("minKubeVersion") or "")
    desired, least = tolerant_version(subject.options.kubernetes), tolerant_version(minimum)
    if subject.options.kubernetes and desired is None:
        detail = f"invalid value informed via the k8s key option : {subject.options.kubernetes}"
        yield Finding(ERROR, detail, value=name)
    if minimum and least is None:
        what = "unable to use csv.Spec.MinKubeVersion to verify the CRD/Webhook apis because it has an invalid value"
        yield Finding(ERROR, f"{what}: {minimum}", value=name)
    for version, removed in REMOVED.items():
        limit = parse_tolerant(version)
        is_there = any(one is not None and one >= limit for one in (desired, least))
        if used := used_apis(subject, removed):
            yield _finding(name, version, used, ERROR if is_there else WARNING)
        if version == _WITHOUT_POLICIES and (granted := _granted(subject)):
            yield _finding(name, version, {_POLICIES: granted}, WARNING)


def tolerant_version(text: str) -> Version | None:
    """A version such as `1.22`; None when a text is not a version."""
    try:
        return parse_tolerant(text)
    except InvalidVersion:
        return None


def _finding(name: str, version: str, used: Mapping[str, list[str]], level: Level) -> Finding:
    detail = (
        f"this bundle is using APIs which were deprecated and removed in v{version}. "
        f"More info: {_GUIDE}#v{version.replace('.', '-')}. Migrate the API(s) for {listed(used)}"
    )
    return Finding(level, detail, value=name)


def listed(used: Mapping[str, list[str]]) -> str:
    """Names of objects by kind, for a sentence."""
    return ",".join(f"{kind}: ([{' '.join(map(quoted, found))}])" for kind, found in sorted(used.items()))


def used_apis(subject: Subject, removed: Removed) -> dict[str, list[str]]:
    """The names of the objects of a bundle whose APIs are gone, by kind."""
    used: dict[str, list[str]] = defaultdict(list)
    for path, manifest in subject.objects.items():
        kind = str(manifest["kind"])
        if kind in removed.get(str(manifest.get("apiVersion")), ()):
            used["CRD" if kind == CRD else kind].append(name_in(manifest))
        if path == subject.csv_path and removed is _1_25:
            for kind, name in _described(subject, removed):
                used[kind].append(name)
    return used


def _described(subject: Subject, removed: Removed) -> Iterator[tuple[str, str]]:
    """Resources that belong to definitions, as the ClusterServiceVersion says."""
    for side in ("Owned", "Required"):
        for index, one in enumerate(subject.described(side.lower())):
            for position, resource in enumerate(as_list(one.get("resources"))):
                if resource["kind"] in removed.get(resource["version"], ()):
                    where = f"ClusterServiceVersion.Spec.CustomResourceDefinitions.{side}[{index}]"
                    yield resource["kind"], f"{where}.Resource[{position}]"


def _granted(subject: Subject) -> list[str]:
    """The rules that name the one resource that is gone in every version."""
    return [
        f"ClusterServiceVersion.Spec.InstallStrategy.StrategySpec.{side}[{index}].Rules[{position}]"
        for side, field in (("ClusterPermissions", "clusterPermissions"), ("Permissions", "permissions"))
        for index, grant in enumerate(as_list(subject.install.get(field)))
        for position, rule in enumerate(as_list(grant.get("rules")))
        if "policy" in as_list(rule.get("apiGroups")) and _POLICIES in as_list(rule.get("resources"))
    ]
