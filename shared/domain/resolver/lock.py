"""A lock: digests of all inputs of a resolution and of its choices, to check later whether anything has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from shared.domain.resolver.model import Catalog, Chosen, Inputs, Resolution, Subscriber
from shared.domain.resolver.subscription_policy import NONE

VERSION: Final = 1
Lock = Mapping[str, Any]
_SHA256: Final = "sha256:"
_BEGINNING: Final = len(_SHA256) + 12
"""So much of a digest is shown: enough to find it in the lock."""
_WHOLE, _APART = "namespace", "component"
_INPUTS: Final = {"catalogs": "catalog", "subscriptions": "Subscription", "installed": "ClusterServiceVersion"}


class InvalidLock(ValueError):
    """A file is not a lock, or one of an unknown version."""


_WRITTEN_AS = {"policy": "opt_in"}
"""Fields by the names that locks have for them: locks are kept, and stay valid."""


def lock_of(inputs: Inputs, resolution: Resolution) -> Lock:
    """The lock of a resolution. The reference of each catalog must identify its content."""
    return {
        "version": VERSION,
        "namespace": inputs.namespace,
        "isolation": _WHOLE if inputs.is_whole else _APART,
        "catalogs": {str(key): _catalog(one) for key, one in sorted(inputs.catalogs.items())},
        "subscriptions": {one.name: _digest(_subscriber(one)) for one in _by_name(inputs.subscribers)},
        "installed": {one.name: _digest(asdict(one)) for one in _by_name(inputs.installed)},
        "surroundings": _surroundings(inputs),
        "chosen": {one.bundle.name: _chosen(one) for one in sorted(resolution.chosen, key=lambda one: one.bundle.name)},
    }


def checked(value: object) -> Lock:
    """Check that a decoded JSON value is a lock, and return it. InvalidLock."""
    desired = {"namespace": str, "isolation": str, "surroundings": str, "chosen": dict, **dict.fromkeys(_INPUTS, dict)}
    if not isinstance(value, dict) or value.get("version") != VERSION:
        raise InvalidLock(f"it is no lock of version {VERSION}")
    if wrong := [key for key, kind in desired.items() if not isinstance(value.get(key), kind)]:
        raise InvalidLock(f"it is a lock without {', '.join(wrong)}")
    return value


def is_whole(lock: Lock) -> bool:
    """Whether the lock was made with `--isolation namespace`."""
    return bool(lock["isolation"] == _WHOLE)


def differences(lock: Lock, now: Lock) -> Iterator[str]:
    """A sentence for each input and each choice that is not as it was locked."""
    for key in ("namespace", "isolation"):
        if lock[key] != now[key]:
            yield f"the {key} is {now[key]}, and {lock[key]} was locked"
    for key, what in _INPUTS.items():
        for name in sorted(lock[key].keys() | now[key].keys()):
            if wrong := _compared(lock[key].get(name), now[key].get(name)):
                yield f"{what} {name} {wrong}"
    if lock["surroundings"] != now["surroundings"]:
        yield "OperatorGroups or copied ClusterServiceVersions are not as they were"
    for name in sorted(lock["chosen"].keys() | now["chosen"].keys()):
        if wrong := _compared(lock["chosen"].get(name), now["chosen"].get(name)):
            yield f"the choice {name} {wrong}"


def _compared(then: object, now: object) -> str:
    """How a locked value differs: in which fields, where the lock has fields and not only a digest."""
    if then == now:
        return ""
    if then is None:
        return "is new"
    if now is None:
        return "is gone"
    if not isinstance(then, dict) or not isinstance(now, dict):
        return "is not as it was"
    fields = (key for key in sorted(then.keys() | now.keys()) if then.get(key) != now.get(key))
    changes = (f"{key} {_shown(now.get(key))} (locked: {_shown(then.get(key))})" for key in fields)
    return f"is not as it was: {', '.join(changes)}"


def _shown(value: object) -> str:
    """A value of a lock in a sentence: names in a list, digests by their beginning."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return (text[:_BEGINNING] if text.startswith(_SHA256) else text) or "none"


def _catalog(one: Catalog) -> dict[str, object]:
    return {"content": one.reference, "priority": one.priority, **({"problem": one.problem} if one.problem else {})}


def _surroundings(inputs: Inputs) -> str:
    problem = inputs.problem.text if inputs.problem else ""
    return _digest([problem, inputs.is_strict, sorted(inputs.copies.items())])


def _subscriber(one: Subscriber) -> dict[str, object]:
    """Its fields that are not empty: so a lock stays valid when a later version of this program adds a field."""
    fields = {**asdict(one), "policy": "" if one.policy == NONE else asdict(one.policy)}
    return {_WRITTEN_AS.get(field, field): value for field, value in fields.items() if value}


def _chosen(one: Chosen) -> dict[str, object]:
    return {
        "package": one.package,
        "channel": one.channel,
        "catalog": str(one.catalog.key),
        "replaces": one.replaces,
        "image": one.bundle.image,
        "digest": _digest(asdict(one.bundle)),
        "subscriptions": list(one.subscribers),
    }


def _by_name(several: tuple[Any, ...]) -> list[Any]:
    return sorted(several, key=lambda one: str(one.name))


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"{_SHA256}{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
