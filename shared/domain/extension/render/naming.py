"""Names that OLM v1 makes up (v1.md §18)."""

from __future__ import annotations

from hashlib import sha224

from shared.api.manifest import ReadOnly
from shared.domain.go_types import encoding
from shared.domain.objects.hashes import in_base, joined


def role_name(csv: str, account: str, permission: ReadOnly) -> str:
    """Name of what grants a permission: another one when the version or the rules change."""
    digest = sha224(f"{encoding.encode(permission, 'StrategyDeploymentPermissions')}\n".encode()).digest()
    return joined(f"{csv}-{account}", in_base(36, digest))


def service_name(deployment: str) -> str:
    """Name of the Service in front of a Deployment that serves webhooks."""
    return joined(deployment.replace(".", "-"), "service")


def certificate_name(deployment: str) -> str:
    """Name of its certificate, and of the Secret that holds it."""
    return joined(service_name(deployment), "cert")
