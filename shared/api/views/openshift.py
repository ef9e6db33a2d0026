"""What an OpenShift says of itself (csv.md §6.3, §15.1)."""

from __future__ import annotations

from shared.api.views import field
from shared.api.views.object import Object


class Proxy(Object):
    """The proxy of a cluster, as it was checked."""

    __slots__ = ()

    http = field.text("status", "httpProxy")
    """The URL of the proxy for HTTP; empty for none."""
    https = field.text("status", "httpsProxy")
    """The URL of the proxy for HTTPS; empty for none."""
    exempt = field.text("status", "noProxy")
    """The hosts that are asked directly, between commas."""


class ClusterVersion(Object):
    """The version of a cluster."""

    __slots__ = ()

    desired = field.text("status", "desired", "version")
    """The version that the cluster has, or is about to have; empty when it does not say."""
