"""The Secrets of serving certificates: what they are to hold, and what of them has to be written (csv.md §7.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from shared.api.manifest import Manifest
from shared.api.views import Csv, Object
from shared.domain.endpoints import objects
from shared.domain.endpoints.certificates import Content, Pair, StoredPair, begun
from shared.domain.endpoints.changes import Change, change
from shared.domain.endpoints.endpoint import endpoints_of
from shared.domain.endpoints.facts import Facts
from shared.domain.objects.ownership import csv_owners


@dataclass(frozen=True, slots=True)
class SecretChange:
    """A Secret that is absent or differs."""

    manifest: Manifest
    """Without what it holds; with a resourceVersion when it is there."""
    texts: Mapping[str, str]
    keys: Mapping[str, str]
    """Handles of private keys."""
    notice: str = ""
    """What its owner should know: that something was wrong with what was there, or is somebody else's."""


def desired_contents(
    csv: Csv, facts: Facts, now: datetime, issue: Callable[[tuple[str, ...]], Pair]
) -> dict[str, Content]:
    """What the Secret of each Deployment holds after an installation, by Deployment."""
    return {
        one.deployment: begun(facts.pairs.get(one.deployment), one.hosts, now, partial(issue, one.hosts))
        for one in endpoints_of(csv)
    }


def secrets(csv: Csv, facts: Facts, contents: Mapping[str, Content], now: datetime) -> Iterator[SecretChange]:
    """The Secrets to write."""
    for endpoint in endpoints_of(csv):
        content, there = contents[endpoint.deployment], facts.pairs.get(endpoint.deployment)
        manifest = objects.secret(csv, endpoint, content)
        if there is None:
            yield SecretChange(manifest, objects.texts(content), objects.keys(content))
            continue
        present = Object(there.manifest)
        if is_of_others(there):
            del manifest["metadata"]["ownerReferences"]
        differs = change({key: value for key, value in manifest.items() if key != "type"}, present)
        if differs or content != there.content:
            notice = _notice(there, there.content.pair.complaint(endpoint.hosts, now))
            yield SecretChange(_over(manifest, differs, present), objects.texts(content), objects.keys(content), notice)


def is_of_others(there: StoredPair) -> bool:
    """Whether a Secret must outlive every version: somebody keeps data in it, and no version ever owned it."""
    return there.is_shared and not csv_owners(Object(there.manifest))


def _notice(there: StoredPair, complaint: str) -> str:
    replaced = f"gets another certificate: {complaint}" if complaint else ""
    kept = "holds data of somebody else, which stay: it is not deleted with this version" if is_of_others(there) else ""
    found = "; it ".join(filter(None, (replaced, kept)))
    return found and f"Secret {Object(there.manifest).name} {found}"


def _over(manifest: Manifest, differs: Change | None, present: Object) -> Manifest:
    """The Secret in place of the one that is there; its type cannot be changed."""
    meta = manifest["metadata"]
    patched = (differs.patch or {}).get("metadata", {}) if differs else {}
    kept = {
        "labels": {**present.labels, **meta["labels"]},
        "annotations": {**present.annotations, **meta["annotations"]},
        "ownerReferences": patched.get("ownerReferences") or present.metadata.get("ownerReferences") or [],
        "resourceVersion": present.resource_version,
    }
    return {**manifest, "metadata": {**meta, **kept}, "type": present.raw["type"]}
