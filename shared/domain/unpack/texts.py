"""OLM's messages about unpacking (catalog.md §3.7)."""

from __future__ import annotations

from typing import Final

_CAUSES: Final = "Common causes: Missing ICSP (ppc64le/s390x/arm64), auth failure, invalid image."
_MANUAL: Final = (
    "Manual retry: in the CatalogSource namespace, run "
    "`kubectl get jobs -l operatorframework.io/bundle-unpack-ref` and delete the specific failing job."
)
_LATER: Final = "Job will retry until timeout (~10 min), then auto-cleanup and retry in ~5 min."

_AGAIN: Final = "It is tried again every minute."

GUIDANCE_FAILED: Final = f"Auto-retry in ~5 min after job cleanup (TTL). {_CAUSES} {_MANUAL}"
GUIDANCE_PULLING: Final = f"Bundle image pull failed. {_CAUSES} {_LATER} {_MANUAL}"
GUIDANCE_PENDING: Final = f". {_CAUSES} {_LATER} {_MANUAL}"


def failed(reason: str, message: str, *, has_job: bool = True) -> str:
    """The message of `BundleUnpackFailed`; `message` is that of the Job and its containers, without guidance.

    Without a Job (a worker pulls itself, or the manifests are in the catalog) there is none to delete.
    """
    return f"Bundle unpacking failed - {reason}: {message}. {GUIDANCE_FAILED if has_job else _AGAIN}"


def unpacking(cause: str = "", *, cannot_pull: bool = False) -> str:
    """The message of `BundleUnpacking`: OLM's if the image cannot be pulled, and the cause; empty without one."""
    job = f"unpack job not completed: {cause}" if cause else ""
    return " ".join(filter(None, (GUIDANCE_PULLING if cannot_pull else "", job)))
