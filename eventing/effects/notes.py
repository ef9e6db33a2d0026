"""Writes a Record as a Kubernetes Event whose name is derived from its content, so that equal Events are counted."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from eventing.effects.api import Api
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest, instant, timestamp, uid_of
from shared.kinds import EVENT, Ref
from shared.step import Record

SOURCE = "operator-lifecycle-manager"
"""The component that OLM writes into its Events; people select Events by it."""
REPORTER = "olm-functions"
WINDOW = timedelta(hours=1)


def note(api: Api, record: Record, about: Manifest | None, now: datetime) -> Manifest:
    """Write the Event, or increase the count of an equal one younger than an hour; returns the stored Event."""
    ref = event_ref(record)
    stamp = timestamp(now)
    try:
        # why: most Events are new, and for these one request is enough
        return api.create(_event(record, ref, uid_of(about or {}), stamp))
    except ApiError as error:
        present = api.get(ref) if error.already_exists else None
        if present is None:
            raise
    if now - (instant(present.get("lastTimestamp")) or now) <= WINDOW:
        return api.merge(ref, {"count": int(present.get("count") or 1) + 1, "lastTimestamp": stamp})
    return api.merge(ref, {"count": 1, "firstTimestamp": stamp, "lastTimestamp": stamp})


def event_ref(record: Record) -> Ref:
    """The ref of the Event of a Record."""
    content = "\0".join((str(record.ref), record.reason, record.message))
    digest = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
    return EVENT.ref(f"{record.ref.name[:230]}.{digest}", record.ref.namespace or "default")


def _event(record: Record, ref: Ref, uid: str, stamp: str) -> Manifest:
    about = record.ref
    involved = {"apiVersion": about.api_version, "kind": about.kind, "name": about.name, "namespace": about.namespace}
    involved["fieldPath"] = record.field_path
    return {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "involvedObject": {key: value for key, value in {**involved, "uid": uid}.items() if value},
        "type": record.type,
        "reason": record.reason,
        "message": record.message[:1024],
        "source": {"component": SOURCE},
        "reportingComponent": REPORTER,
        "count": 1,
        "firstTimestamp": stamp,
        "lastTimestamp": stamp,
    }
