"""The other objects of a bundle: which kinds there may be, and where they go (v1.md §16.3, §18.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from shared.api.manifest import Manifest, metadata
from shared.domain.extension.render.model import Bundle, Plan

_NAMESPACED: Final = frozenset({
    "ClusterServiceVersion", "Service", "ServiceAccount", "Role", "RoleBinding", "PrometheusRule", "ServiceMonitor",
    "PodMonitor", "Secret", "ConfigMap", "PodDisruptionBudget", "NetworkPolicy",
})  # fmt: skip
_NOT_NAMESPACED: Final = frozenset({
    "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "PriorityClass", "VerticalPodAutoscaler",
    "ConsoleYAMLSample", "ConsoleQuickStart", "ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin",
})  # fmt: skip
"""VerticalPodAutoscalers have a namespace, but OLM v1 takes them for objects that have none."""


def is_supported(kind: str) -> bool:
    """Whether a bundle may hold objects of that kind, whatever their group."""
    return kind in _NAMESPACED | _NOT_NAMESPACED


def additional(bundle: Bundle, plan: Plan) -> Iterator[Manifest]:
    """The objects as they are; those that have a namespace go to that of the extension."""
    for manifest in bundle.others:
        if manifest["kind"] in _NAMESPACED:
            yield {**manifest, "metadata": {**metadata(manifest), "namespace": plan.install_namespace}}
        else:
            yield dict(manifest)
