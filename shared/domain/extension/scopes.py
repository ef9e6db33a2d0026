"""Where an object really lives: some kinds have no namespace, whatever their metadata say.

OLM v1 writes the install namespace into webhook configurations, and the API server forgets it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from shared import kinds
from shared.api.manifest import ReadOnly, namespace_of
from shared.api.views import CustomResourceDefinition
from shared.domain.extension.phases.order import group_version

CLUSTER_KINDS: Final = frozenset({
    *((kind.group, kind.kind) for kind in kinds.KINDS if not kind.is_namespaced),
    ("", "PersistentVolume"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("cert-manager.io", "ClusterIssuer"),
    ("console.openshift.io", "ConsoleCLIDownload"),
    ("console.openshift.io", "ConsoleLink"),
    ("console.openshift.io", "ConsolePlugin"),
    ("console.openshift.io", "ConsoleQuickStart"),
    ("console.openshift.io", "ConsoleYAMLSample"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "StorageClass"),
})  # fmt: skip
"""Group and kind of what has no namespace."""


def group_kind(manifest: ReadOnly) -> tuple[str, str]:
    """What an object is, whatever version of it."""
    return group_version(manifest)[0], str(manifest.get("kind") or "")


def cluster_kinds(objects: Iterable[ReadOnly]) -> frozenset[tuple[str, str]]:
    """What has no namespace, the kinds that the objects define among them."""
    found = map(CustomResourceDefinition, objects)
    ours = (one.defined for one in found if one.kind == kinds.CUSTOM_RESOURCE_DEFINITION.kind and one.is_cluster_scoped)
    return CLUSTER_KINDS.union(ours)


def scope_of(manifest: ReadOnly, without: Collection[tuple[str, str]] = CLUSTER_KINDS) -> str:
    """The namespace of an object; empty for one that has none, and for one that says none."""
    return "" if group_kind(manifest) in without else namespace_of(manifest)
