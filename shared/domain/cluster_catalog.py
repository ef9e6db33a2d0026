"""What becomes of a ClusterCatalog: its marks, its status, and which faults end with an edit alone (v1.md §2.2, §3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared import names
from shared.api.manifest import Manifest, timestamp
from shared.api.views import ClusterCatalog
from shared.domain.bundle.annotations import CONFIGS
from shared.domain.catalog import image_reference
from shared.domain.conditions import Condition, sanitised
from shared.domain.go.text import quoted

SERVING: Final = "Serving"
PROGRESSING: Final = "Progressing"
_DISABLED: Final = "Catalog availability mode is set to Unavailable"
_SERVED: Final = Condition(SERVING, "True", "Available", "Serving desired content from resolved source")
_UNPACKED: Final = Condition(
    PROGRESSING, "True", "Succeeded", "Successfully unpacked and stored content from resolved source"
)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why there is no newer content, and whether only an edit helps."""

    message: str
    is_terminal: bool = False


def marked(catalog: ClusterCatalog) -> Manifest | None:
    """The patch with the label and the finalizer that a catalog in use has; None when it has both (v1.md §3.2)."""
    labels = {} if catalog.label(names.V1_NAME) == catalog.name else {names.V1_NAME: catalog.name}
    missing = not catalog.is_disabled and names.V1_CATALOG_FINALIZER not in catalog.finalizers
    metadata: Manifest = {"labels": labels} if labels else {}
    if missing:
        metadata["finalizers"] = [*catalog.finalizers, names.V1_CATALOG_FINALIZER]
    return {"metadata": metadata} if metadata else None


def released(catalog: ClusterCatalog) -> Manifest | None:
    """The patch that takes the finalizer away; None when it is not there."""
    if names.V1_CATALOG_FINALIZER not in catalog.finalizers:
        return None
    return {"metadata": {"finalizers": [one for one in catalog.finalizers if one != names.V1_CATALOG_FINALIZER]}}


def ended(catalog: ClusterCatalog, now: datetime) -> Manifest:
    """The status of a catalog that is being deleted (v1.md §3.2): nothing is served."""
    return _status(catalog, {SERVING: Condition(SERVING, "False", "Unavailable")}, now)


def disabled(catalog: ClusterCatalog, now: datetime) -> Manifest:
    """The status of a catalog that its spec makes unavailable (v1.md §3.1)."""
    conditions = (
        Condition(SERVING, "False", "UserSpecifiedUnavailable", _DISABLED),
        Condition(PROGRESSING, "True", "Succeeded", _DISABLED),
    )
    return _status(catalog, {one.type: one for one in conditions}, now)


def served(catalog: ClusterCatalog, reference: str, base: str, now: datetime) -> Manifest:
    """The status of a catalog whose content is there; times change with what is said alone."""
    since = catalog.unpacked if catalog.resolved == reference else None
    return {
        **_status(catalog, {SERVING: _SERVED, PROGRESSING: _UNPACKED}, now),
        "resolvedSource": {"type": "Image", "image": {"ref": reference}},
        "urls": {"base": address(catalog, base)},
        "lastUnpacked": timestamp(since or now),
    }


def address(catalog: ClusterCatalog, base: str) -> str:
    """Where a catalog is served by the server at `base`."""
    return f"{base}/catalogs/{catalog.name}"


def failed(catalog: ClusterCatalog, fault: Fault, now: datetime) -> Manifest:
    """The status after a pass that failed: what was served before is served on."""
    progressing = _progressing(fault)
    kept = {key: catalog.status[key] for key in ("resolvedSource", "urls", "lastUnpacked") if key in catalog.status}
    return {**_status(catalog, {PROGRESSING: progressing}, now), **kept}


def fails_anew(catalog: ClusterCatalog, fault: Fault) -> bool:
    """Whether the catalog did not say yet that it fails in this way."""
    return catalog.condition(PROGRESSING).reason != _progressing(fault).reason


def spec_fault(catalog: ClusterCatalog) -> Fault | None:
    """What is wrong with a spec that the definition let pass (v1.md §3.5, §4); only an edit helps."""
    if catalog.source_type != "Image":
        return Fault(f"unknown source type {quoted(catalog.source_type)}", is_terminal=True)
    if not catalog.has_image:
        what = f"error parsing ClusterCatalog {quoted(catalog.name)}, image source is nil"
        return Fault(what, is_terminal=True)
    found = image_reference.parsed(catalog.image)
    if isinstance(found, str):
        what = f"source catalog content: error parsing image reference {quoted(catalog.image)}: {found}"
        return Fault(what, is_terminal=True)
    return None


def pull_fault(why: str) -> Fault:
    """The image could not be had."""
    return Fault(f"source catalog content: {sanitised(why)}")


def no_catalog(catalog: ClusterCatalog, why: str) -> Fault:
    """The image does not say where its catalog is; one by digest never will (v1.md §4)."""
    what = f"catalog image is missing the required label {quoted(CONFIGS)}: {why}"
    return Fault(f"source catalog content: error applying image: {what}", is_terminal="@" in catalog.image)


def bad_catalog(why: str) -> Fault:
    """The files of the image are no catalog; as upstream has it, that may go away (v1.md §3.5)."""
    return Fault(f"error storing fbc: {why}")


def interval(catalog: ClusterCatalog) -> timedelta | None:
    """How often the tag is looked up; None: only after an event (v1.md §3.4)."""
    return timedelta(minutes=min(catalog.poll_minutes, _LONGEST)) if catalog.poll_minutes else None


_LONGEST: Final = 60 * 24 * 365
"""Minutes; a longer interval than a year counts as one."""


def _progressing(fault: Fault) -> Condition:
    status, reason = ("False", "Blocked") if fault.is_terminal else ("True", "Retrying")
    return Condition(PROGRESSING, status, reason, fault.message)


def _status(catalog: ClusterCatalog, conditions: Mapping[str, Condition], now: datetime) -> Manifest:
    """The conditions: those that are stated, and of the two those that are not as they were; no others."""
    shown = [
        _condition(catalog, conditions[kind], now) if kind in conditions else dict(catalog.condition(kind).raw)
        for kind in (SERVING, PROGRESSING)
        if kind in conditions or catalog.has_condition(kind)
    ]
    return {"conditions": shown}


def _condition(catalog: ClusterCatalog, desired: Condition, now: datetime) -> Manifest:
    old = catalog.condition(desired.type)
    since = old.since_text if old.status == desired.status else ""
    return {
        "type": desired.type, "status": desired.status, "reason": desired.reason, "message": desired.message,
        "observedGeneration": catalog.generation, "lastTransitionTime": since or timestamp(now),
    }  # fmt: skip
