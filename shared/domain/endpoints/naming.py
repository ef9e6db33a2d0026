"""The names of what stands in front of a Deployment that serves (csv.md §7.1)."""

from __future__ import annotations

from typing import Final

from shared.domain.objects.hashes import text_hash

_LONGEST: Final = 63
_DIGEST: Final = 8
_SERVICE: Final = "-service"


def service_name(deployment: str) -> str:
    """Name of the Service: without dots, and with at most the 63 characters that the name of a Service may have.

    A name that had to be shortened ends with a digest: another Deployment may begin with the same characters.
    """
    plain = deployment.replace(".", "-")
    if len(plain) + len(_SERVICE) <= _LONGEST:
        return f"{plain}{_SERVICE}"
    digest = text_hash(deployment)[:_DIGEST].lower()
    return f"{plain[: _LONGEST - len(_SERVICE) - _DIGEST - 1].rstrip('-')}-{digest}{_SERVICE}"


def secret_name(deployment: str) -> str:
    """Name of the Secret with its certificate; also of the Role and the RoleBinding that let it read the Secret."""
    return f"{service_name(deployment)}-cert"


def hosts(deployment: str, namespace: str) -> tuple[str, ...]:
    """The names that the certificate of a Deployment has to have (csv.md §7.2)."""
    host = f"{service_name(deployment)}.{namespace}"
    return host, f"{host}.svc", f"{host}.svc.cluster.local"
