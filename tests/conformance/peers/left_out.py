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
_BASELINE = (
    "when The namespace is labled as Pod Security Admission policy enforce:baseline when A CatalogSource built with "
    "opm v1.21.0 (<v1.23.2)is created with spec.GrpcPodConfig.SecurityContextConfig set to legacy The registry pod "
    "comes up successfully"
)
_DEPRECATED = "Install Plan when an InstallPlan step contains a deprecated resource version "
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
    "Subscription updates existing install plan": "skips itself in OLM, too",
    "Operator API should surface components in its status": (
        "waits for one event of the Operator after the other: two components that change together are one event here"
    ),
    f"{_CATALOGS}config map update triggers registry pod rollout": (
        "waits for a connection in a later second than the change: here the content is read in the same one"
    ),
    "Subscription when bundle unpack retries are enabled should retry failing unpack jobs": (
        "pushes an image into a Pod's registry through a port-forward, and skips itself where OLM's own CI runs it"
    ),
    f"{_CATALOGS}image update": (
        "pushes an image into a Pod's registry through a port-forward, and skips itself where OLM's own CI runs it"
    ),
    _CATALOGS + _BASELINE: _NO_PODS.format("start: the catalog is served"),
    f"{_CATALOGS}gRPC address catalog source": _NO_PODS.format("copy, whose address the spec gives then"),
    _CATALOGS
    + "when A catalogSource is created with correct polling interval registry polls on the correct interval": (
        _NO_PODS.format("start for a poll: the registry is asked for the digest")
    ),
    f"{_CATALOGS}loading between restarts": (
        "waits for a later lastConnect after a restart: of an image no connection is kept, and a restart writes nothing"
    ),
    **dict.fromkeys(
        (
            f"{_DEPRECATED}creates an Event surfacing the deprecation warning",
            f"{_DEPRECATED}increments a metric counting the warning",
        ),
        "needs OLM built with the tag `e2e`, which adds a kind `Deprecated` to those that a plan may have",
    ),
    (
        "Global Catalog Exclusion when a subscription referring to the local catalog is created when the operator "
        "group is annotated with olm.operatorframework.io/exclude-global-namespace-resolution=true the broken "
        "subscription should resolve and have state AtLatest"
    ): (
        "begins with a resolution that a broken global catalog stops: here a catalog stops only who uses it, unless "
        "`OLMF_CATALOG_POLICY=strict`"
    ),
    "Operator Group role aggregation": (
        "the roles of an API are written only for definitions that an InstallPlan installed for the version that "
        "claims them (k8s/SECURITY.md): here the definition and the version are made by hand"
    ),
}
"""Our behaviour is better, or the spec cannot run here."""

CAUSES: Mapping[str, str] = {}
"""What a spec that fails waits for, as far as we know; the table shows it before what the spec itself says."""
