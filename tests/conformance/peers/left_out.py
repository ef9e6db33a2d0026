"""The specs of peers that are not run, each with the reason: our behaviour is better, or it cannot run here."""

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
_PROMETHEUS = (
    "Subscriptions create required objects from Catalogs Given a Namespace when a CatalogSource is created with a "
    "bundle that contains prometheus objects creating a subscription using the CatalogSource should "
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
    f"{_CATALOGS}loading between restarts": (
        "waits for a later lastConnect after a restart: we keep no connections, and a restart writes nothing"
    ),
    f"{_PROMETHEUS}install the operator successfully": "disabled by OLM itself",
    f"{_PROMETHEUS}have created the expected prometheus objects": "disabled by OLM itself",
}
