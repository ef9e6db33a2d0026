"""Which phase an object belongs to, and the order inside a phase (v1.md §21.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from shared.api.manifest import Manifest, ReadOnly, name_of, namespace_of

DEPLOY: Final = "deploy"
"""The phase of every kind that none of the others names."""
PHASES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "namespaces": (("", "Namespace"),),
    "policies": (
        ("networking.k8s.io", "NetworkPolicy"), ("policy", "PodDisruptionBudget"),
        ("scheduling.k8s.io", "PriorityClass"),
    ),
    "identity": (("", "ServiceAccount"),),
    "configuration": (("", "Secret"), ("", "ConfigMap")),
    "storage": (("", "PersistentVolume"), ("", "PersistentVolumeClaim"), ("storage.k8s.io", "StorageClass")),
    "crds": (("apiextensions.k8s.io", "CustomResourceDefinition"),),
    "roles": (("rbac.authorization.k8s.io", "ClusterRole"), ("rbac.authorization.k8s.io", "Role")),
    "bindings": (
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"), ("rbac.authorization.k8s.io", "RoleBinding"),
    ),
    "infrastructure": (("", "Service"), ("cert-manager.io", "Issuer"), ("cert-manager.io", "Certificate")),
    DEPLOY: (("apps", "Deployment"),),
    "scaling": (("autoscaling.k8s.io", "VerticalPodAutoscaler"),),
    "publish": (
        ("monitoring.coreos.com", "PrometheusRule"), ("monitoring.coreos.com", "ServiceMonitor"),
        ("monitoring.coreos.com", "PodMonitor"), ("networking.k8s.io", "Ingress"), ("route.openshift.io", "Route"),
        ("console.openshift.io", "ConsoleYAMLSample"), ("console.openshift.io", "ConsoleQuickStart"),
        ("console.openshift.io", "ConsoleCLIDownload"), ("console.openshift.io", "ConsoleLink"),
        ("console.openshift.io", "ConsolePlugin"),
    ),
    "admission": (
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ),
}  # fmt: skip
"""Phase to the groups and kinds in it, in the order of the rollout."""
MOST_OBJECTS: Final = 50
"""In a phase (§21.1); the others of its kinds are in phases of their own right after it."""
MOST_PHASES: Final = 20
"""In a revision (§21.1)."""
AWAITED: Final = frozenset({
    ("", "Namespace"), ("", "PersistentVolumeClaim"), ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("cert-manager.io", "Certificate"), ("cert-manager.io", "Issuer"), ("apps", "Deployment"), ("apps", "StatefulSet"),
})  # fmt: skip
"""Kinds that a probe is about, whatever the bundle (§21.5): the next phase waits for them."""
_PHASE_OF: Final = {kind: phase for phase, listed in PHASES.items() for kind in listed}


@dataclass(frozen=True, slots=True)
class Phase:
    """Objects that are applied together."""

    name: str
    objects: tuple[Manifest, ...]


def group_version(manifest: ReadOnly) -> tuple[str, str]:
    """Group, empty for the core group, and version of an object."""
    group, _, version = str(manifest.get("apiVersion") or "").rpartition("/")
    return group, version


def phase_of(manifest: ReadOnly) -> str:
    """The name of the phase that an object goes to."""
    return _PHASE_OF.get(_group_kind(manifest), DEPLOY)


def phase_sort(objects: Iterable[Manifest]) -> tuple[Phase, ...]:
    """The phases that are not empty, in order; inside by group, version, kind, namespace, name.

    What is too much for one phase is in several, `deploy`, `deploy-2` and so on. Where those are too many for a
    revision, phases are filled with the kinds that come next: first with those that wait for nothing, then with any.
    """
    listed = sorted(objects, key=_sort_key)
    by_kind = [inside for name in PHASES if (inside := [one for one in listed if phase_of(one) == name])]
    for together in (by_kind, _until_awaited(by_kind), [[one for inside in by_kind for one in inside]]):
        parts = [part for inside in together for part in _parts(inside)]
        if len(parts) <= MOST_PHASES:
            break
    return tuple(_named(parts))


def _until_awaited(by_kind: Iterable[list[Manifest]]) -> list[list[Manifest]]:
    """The objects of phases that follow each other, up to one of which the next has to wait for an object."""
    found: list[list[Manifest]] = []
    is_open = False
    for inside in by_kind:
        if is_open:
            found[-1] += inside
        else:
            found.append(list(inside))
        is_open = all(_group_kind(one) not in AWAITED for one in inside)
    return found


def _parts(objects: Sequence[Manifest]) -> Iterator[tuple[Manifest, ...]]:
    for start in range(0, len(objects), MOST_OBJECTS):
        yield tuple(objects[start : start + MOST_OBJECTS])


def _named(parts: Iterable[tuple[Manifest, ...]]) -> Iterator[Phase]:
    """Each under the name of its first object's phase, numbered where there are several."""
    counted: Counter[str] = Counter()
    for part in parts:
        name = phase_of(part[0])
        counted[name] += 1
        yield Phase(name if counted[name] == 1 else f"{name}-{counted[name]}", part)


def _group_kind(manifest: ReadOnly) -> tuple[str, str]:
    return group_version(manifest)[0], str(manifest.get("kind") or "")


def _sort_key(manifest: ReadOnly) -> tuple[str, str, str, str, str]:
    return *group_version(manifest), str(manifest.get("kind") or ""), namespace_of(manifest), name_of(manifest)
