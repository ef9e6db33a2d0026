"""Which kinds a bundle may hold besides those that every plan writes, and how an administrator allows more of them."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Final

from shared import names
from shared.domain.command import Command, kubectl
from shared.kinds import CLUSTER_ROLE, Kind

OF_OLM: Final = frozenset({
    "PrometheusRule", "ServiceMonitor", "PodDisruptionBudget", "PriorityClass", "VerticalPodAutoscaler",
    "ConsoleYAMLSample", "ConsoleQuickStart", "ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin", "NetworkPolicy",
})  # fmt: skip
"""Those that OLM allows, whatever their API group."""
VERBS: Final = ("get", "list", "create", "update", "patch", "delete")
"""What a plan does with an object of such a kind."""
SETTING: Final = "OLMF_BUNDLE_KINDS"


def is_allowed(kind: str, api_group: str, more: Collection[str]) -> bool:
    """Whether a bundle may hold it; `more` are kinds, or kinds with their group (`Certificate.cert-manager.io`)."""
    return kind in OF_OLM or kind in more or f"{kind}.{api_group}" in more


def how_to_allow(kind: str, api_group: str, more: Collection[str], namespace: str) -> str:
    """The sentence for whoever may decide it; `namespace` is that of our pods. Empty: no kind can be called so."""
    if Kind.or_none(f"{api_group}/v1" if api_group else "v1", kind, "any") is None:
        return ""  # a bundle may call its kinds what it likes, and a comma would allow another one
    value = ",".join([*more, f"{kind}.{api_group}" if api_group else kind])
    command = kubectl("set", "env", "deployment/olmf-worker", f"{SETTING}={value}", namespace=namespace)
    return f"an administrator may allow it: {command} (without our pods: in the environment of `olmf up`)"


def how_to_grant(kind: Kind) -> str:
    """The sentence for whoever may give us the right to write it."""
    return f"an administrator may grant it: {grant(kind.plural, kind.group)}"


def grant(plural: str, api_group: str) -> Command:
    """The command that lets plans write the objects of a kind."""
    meta = {"name": f"olmf-bundle-{plural}.{api_group}".rstrip("."), "labels": {names.AGGREGATE_TO_BUNDLES: "true"}}
    rule = {"apiGroups": [api_group], "resources": [plural], "verbs": VERBS}
    role = {"apiVersion": CLUSTER_ROLE.api_version, "kind": CLUSTER_ROLE.kind, "metadata": meta, "rules": [rule]}
    return kubectl("apply", "-f", "-", stdin=json.dumps(role, separators=(",", ":")))
