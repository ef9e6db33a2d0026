"""The specs of peers that are not run, each with the reason, and the known causes of those that fail."""

from __future__ import annotations

from collections.abc import Mapping

_NO_PODS = "no pod per catalog: one program reads and serves all of them, so there is nothing to {}"
_CATALOGS = "Starting CatalogSource e2e tests "
_POD_CONFIG = (
    "CatalogSource Grpc Pod Config when the user wants more control over where the grpc catalog source pod gets "
    "scheduled should override the pod's spec."
)
_RESTRICTED = (
    "when The namespace is labeled as Pod Security Admission policy enforce:restricted when A CatalogSource built with "
    "opm v1.21.0 (<v1.23.2)is created with spec.GrpcPodConfig.SecurityContextConfig set to restricted The registry pod "
    "fails to become come up because of lack of permission"
)
_POLICIES = [
    f"{_CATALOGS}{what} registry {policy} network policy triggers {then}"
    for what, then in (("delete", "recreation"), ("change", "revert to desired"))
    for policy in ("grpc-server", "unpack-bundles")
]

LEFT_OUT: Mapping[str, str] = {
    **{
        f"{_POD_CONFIG}{field}": _NO_PODS.format("schedule")
        for field in ("priorityClassName", "priorityClassName when it is empty", "nodeSelector", "tolerations")
    },
    **dict.fromkeys(_POLICIES, _NO_PODS.format("fence by a NetworkPolicy of its own")),
    f"{_CATALOGS}delete internal registry pod triggers recreation": _NO_PODS.format("make again"),
    f"{_CATALOGS}delete gRPC registry pod triggers recreation": _NO_PODS.format("make again"),
    _CATALOGS + _RESTRICTED: _NO_PODS.format("be refused by Pod Security: the catalog is served"),
    "Operator Group role aggregation": (
        "aggregated APIs get no roles, and others only those whose definition an InstallPlan installed for the "
        "version that claims them (k8s/SECURITY.md): here all are made by hand"
    ),
}
"""Our behaviour is better, or the spec cannot run here."""

CAUSES: Mapping[str, str] = {}
"""What a spec that fails waits for, as far as we know; the table shows it before what the spec itself says."""
