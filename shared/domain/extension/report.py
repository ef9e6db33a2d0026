"""What a ClusterExtension says: what is installed, and how the work at it goes (v1.md §11, §12.6)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import ClusterExtension, ClusterObjectSet
from shared.domain.conditions import Condition, sanitised
from shared.domain.extension.decision import HAS_RELEASES, Decision, Failed, Maintain, Target
from shared.domain.extension.phases.quiet import quiet_left
from shared.domain.extension.revisions import Revisions, bundle_of
from shared.domain.extension.status import with_conditions
from shared.domain.go.text import quoted
from shared.domain.syntax import SUBDOMAIN

INSTALLED: Final = "Installed"
PROGRESSING: Final = "Progressing"
AVAILABLE: Final = "Available"
_ROLLING: Final = "RollingOut"
_TERMINAL: Final = "terminal error: "


def status(extension: ClusterExtension, revisions: Revisions, progress: Iterable[Condition], now: datetime) -> Manifest:
    """The whole status; `progress` is stated beside what the revisions say by themselves."""
    desired = (installed(revisions), *progress)
    found: Manifest = {**extension.status, "conditions": with_conditions(extension, desired, now)}
    _set(found, "install", _install(revisions))
    _set(found, "activeRevisions", [_active(one, revisions) for one in _in_order(revisions)])
    return found


def until_reported(extension: ClusterExtension, desired: Manifest, now: datetime) -> timedelta | None:
    """How long the first status of an extension waits; None when it is told now: it has an end, or is late."""
    progress = next((one["reason"] for one in desired["conditions"] if one["type"] == PROGRESSING), _ROLLING)
    return None if extension.status or progress != _ROLLING else quiet_left(extension.created, now)


def installed(revisions: Revisions) -> Condition:
    """Whether a bundle is installed."""
    if revisions.installed:
        image = revisions.installed.annotations.get(names.V1_BUNDLE_REFERENCE, "")
        return Condition(INSTALLED, "True", "Succeeded", f"Installed bundle {image} successfully")
    newest = revisions.rolling[-1] if revisions.rolling else None
    is_failed = newest is None or newest.condition(PROGRESSING).reason == "Retrying"
    return Condition(INSTALLED, "False", "Failed" if is_failed else "Absent", "No bundle installed")


def progress(revisions: Revisions, found: Decision, *, is_due: bool) -> tuple[Condition, ...]:
    """How the work goes, after a resolution. What a bundle is refused for, who renders it says; that stays here."""
    if isinstance(found, Failed):
        return (*available(revisions), retrying(found.resolution.error))
    if isinstance(found, Maintain) and found.why and not revisions.active:
        return (retrying(found.why),)
    return available(revisions) if is_due else mirrored(revisions)


def summary(found: Decision, *, is_due: bool) -> str:
    """What was decided, as a sentence."""
    match found:
        case Failed(resolution):
            return resolution.error
        case Target(_, bundle):
            return f"{bundle.name} is to be rolled out" if is_due else f"{bundle.name} is what it is to run"
        case Maintain(why=why) if why:
            return why
    return "its revisions stay as they are"


def mirrored(revisions: Revisions) -> tuple[Condition, ...]:
    """What the revisions say of themselves: the installed one, but the progress of the newest that is rolled out."""
    found: dict[str, Condition] = {}
    if revisions.installed:
        found |= {one.type: one for one in _conditions(revisions.installed, (AVAILABLE, PROGRESSING))}
    if revisions.rolling:
        found |= {one.type: one for one in _conditions(revisions.rolling[-1], (PROGRESSING,))}
    return tuple(found.values())


def available(revisions: Revisions) -> tuple[Condition, ...]:
    """Whether what is installed works, whatever becomes of the next bundle."""
    return _conditions(revisions.installed, (AVAILABLE,)) if revisions.installed else ()


def retrying(message: str) -> Condition:
    """Something failed that may work later."""
    return Condition(PROGRESSING, "True", "Retrying", sanitised(message))


def refused(message: str, *, terminal: str) -> Condition:
    """Why a bundle cannot be rolled out; `terminal` is the reason where only an edit can help."""
    if not terminal:
        return retrying(message)
    return Condition(PROGRESSING, "False", terminal, sanitised(message.replace(_TERMINAL, "", 1)))


def about(target: Target, why: str) -> str:
    """A sentence about a bundle that was chosen."""
    version = target.identity.recorded(has_releases=HAS_RELEASES)["version"]
    return f"error for resolved bundle {quoted(target.bundle.name)} with version {quoted(version)}: {why}"


def _conditions(revision: ClusterObjectSet, kinds: Iterable[str]) -> tuple[Condition, ...]:
    found = (revision.condition(kind) for kind in kinds if revision.has_condition(kind))
    return tuple(Condition(one.type, one.status, one.reason, one.message) for one in found)


def _install(revisions: Revisions) -> Manifest | None:
    """What is installed; nothing of a bundle with a name that no status may have: that would keep all else unsaid."""
    bundle = bundle_of(revisions.installed) if revisions.installed else None
    if bundle is None or SUBDOMAIN.problems(bundle.name):
        return None
    release = {} if bundle.release is None else {"release": bundle.release}
    return {"bundle": {"name": bundle.name, "version": bundle.version, **release}}


def _in_order(revisions: Revisions) -> Iterable[ClusterObjectSet]:
    """The installed one first, then those that are rolled out, the oldest first."""
    return (*((revisions.installed,) if revisions.installed else ()), *revisions.rolling)


def _active(revision: ClusterObjectSet, revisions: Revisions) -> Manifest:
    if revision is revisions.installed:
        return {"name": revision.name}
    kept = [dict(one.raw) for one in revision.conditions if one.type in (AVAILABLE, PROGRESSING)]
    return {"name": revision.name, **({"conditions": kept} if kept else {})}


def _set(found: Manifest, key: str, value: object) -> None:
    if value:
        found[key] = value
    else:
        found.pop(key, None)
