"""Compares an object of one world with that of another: what each world makes up for itself is put aside."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from eventing.journal.redact import Redactor
from shared.api.manifest import Manifest, ReadOnly, metadata
from shared.kinds import Ref

_OWN = (
    "uid", "resourceVersion", "generation", "observedGeneration", "creationTimestamp", "managedFields", "selfLink",
    "deletionTimestamp", "deletionGracePeriodSeconds",
)  # fmt: skip
"""Fields that a server fills in."""
_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def stripped(manifest: Manifest) -> Manifest:
    """The object as somebody would post it."""
    meta = {key: value for key, value in metadata(manifest).items() if key not in _OWN}
    return {**{key: value for key, value in manifest.items() if key != "status"}, "metadata": meta}


def patch_between(old: Any, new: Any) -> Any:
    """The JSON merge patch that makes the new value out of the old one."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    patch = {key: patch_between(old.get(key), value) for key, value in new.items() if old.get(key) != value}
    return patch | {key: None for key in old if key not in new}


def renamed(manifest: Manifest, uids: Mapping[str, str]) -> Manifest:
    """The object with other uids, wherever they stand."""
    text = msgspec.json.encode(manifest).decode()
    for old, new in uids.items():
        text = text.replace(old, new)
    renamed: Manifest = msgspec.json.decode(text)
    return renamed


def difference(then: Manifest | None, now: Manifest | None, uids: Mapping[str, Ref]) -> str:
    """The diff of an object in two worlds; empty when it is the same. `uids` tells whose each uid is, in both."""
    texts = (_text(manifest, uids) for manifest in (then, now))
    recorded, replayed = texts
    return "\n".join(difflib.unified_diff(recorded, replayed, "recorded", "replayed", lineterm=""))


def _text(manifest: Manifest | None, uids: Mapping[str, Ref]) -> list[str]:
    if manifest is None:
        return []
    known = {uid: f"<uid of {ref}>" for uid, ref in uids.items()}
    plain = _without_own(Redactor(b"world").clean(renamed(manifest, known)))
    text = msgspec.json.format(msgspec.json.encode(plain, order="sorted"), indent=2).decode()
    return _TIME.sub("<time>", text).splitlines()


def _without_own(value: Any) -> Any:
    match value:
        case dict():
            return _kept(value)
        case list():
            return [_without_own(item) for item in value]
    return value


def _kept(value: ReadOnly) -> Manifest:
    # why: servers differ in whether they say null, something empty, or nothing
    return {key: _without_own(item) for key, item in value.items() if key not in _OWN and item not in (None, [], {})}
