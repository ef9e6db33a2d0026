"""The specs of peers that are left out or changed, each with the reason, and the known causes of those that fail."""

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
    f"{_CATALOGS}{what} registry grpc-server network policy triggers {then}"
    for what, then in (("delete", "recreation"), ("change", "revert to desired"))
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
}
"""Our behaviour is better, or the spec cannot run here."""

ALTERED: Mapping[str, str] = {
    f"{_CATALOGS}loading between restarts": (
        "a restart alone writes nothing, so the content of the catalog changes after it: a new time of its connection "
        "in every CatalogSource would tell nobody anything"
    ),
    f"{_CATALOGS}operator workload continues running after catalog source is deleted": (
        "what it deletes is there again before it looks, so another uid shows that it was gone"
    ),
    "Operator API should surface components in its status": (
        "two changes that come together are one write, so it waits for the event of the first before it makes the other"
    ),
}
"""What is changed of a spec beyond the Pods of catalogs, images and waits, each with how our behaviour is better."""

CAUSES: Mapping[str, str] = {}
"""What a spec that fails waits for, as far as we know; the table shows it before what the spec itself says."""
