"""The objects of a ClusterObjectSet, wherever they are: in it, or in Secrets that must not change (v1.md §21.6)."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from shared import names
from shared.api.manifest import Manifest, ReadOnly, labels_of, metadata, name_of, uid_of
from shared.domain.extension.phases.order import Phase
from shared.domain.extension.phases.packing import Unreadable, unpack
from shared.domain.go.text import quoted

Secrets: TypeAlias = Mapping[tuple[str, str], ReadOnly]
"""By namespace and name, as far as they are there."""


def references(revision: ReadOnly) -> tuple[tuple[str, str], ...]:
    """Namespace and name of each Secret that a revision refers to, once."""
    found = (one.get("ref") or {} for phase in _phases(revision) for one in phase.get("objects") or ())
    return tuple(dict.fromkeys(_key(reference) for reference in found if reference.get("name")))


def mutable(revision: ReadOnly, secrets: Secrets) -> str:
    """Which of its Secrets could still change, as a sentence; one that is not there is passed over."""
    there = [key for key in references(revision) if key in secrets]
    wrong = ["/".join(key) for key in there if secrets[key].get("immutable") is not True]
    if not wrong:
        return ""
    why = "referenced secrets must have immutable set to true"
    return f"the following secrets are not immutable ({why}): {', '.join(wrong)}"


def ownerless(revision: ReadOnly, secrets: Secrets) -> tuple[tuple[str, str], ...]:
    """The Secrets that were made for a revision and would outlive it: whoever made them was ended before it said so."""
    return tuple(
        key
        for key, secret in secrets.items()
        if labels_of(secret).get(names.V1_REVISION_NAME) == name_of(revision)
        and all(one.get("uid") != uid_of(revision) for one in metadata(secret).get("ownerReferences") or ())
    )


def resolved(revision: ReadOnly, secrets: Secrets) -> tuple[Phase, ...]:
    """The phases with their objects. Unreadable when one cannot be had."""
    return tuple(Phase(str(phase.get("name") or ""), tuple(_objects(phase, secrets))) for phase in _phases(revision))


def _objects(phase: ReadOnly, secrets: Secrets) -> Iterator[Manifest]:
    name = quoted(str(phase.get("name") or ""))
    for one in phase.get("objects") or ():
        if one.get("object"):
            yield one["object"]
        elif (one.get("ref") or {}).get("name"):
            try:
                yield _referred(one["ref"], secrets)
            except Unreadable as error:
                raise Unreadable(f"resolving ref in phase {name}: {error}") from error
        else:
            raise Unreadable(f"object in phase {name} has neither object nor ref")


def _referred(reference: ReadOnly, secrets: Secrets) -> Manifest:
    secret, key = _key(reference), str(reference.get("key") or "")
    where = "/".join(secret)
    if secret not in secrets:
        raise Unreadable(f"getting Secret {where}: secrets {quoted(secret[1])} not found")
    data: Mapping[str, Any] = secrets[secret].get("data") or {}
    if key not in data:
        raise Unreadable(f"key {quoted(key)} not found in Secret {where}")
    return unpack(base64.b64decode(data[key]), key, where)


def _phases(revision: ReadOnly) -> Sequence[ReadOnly]:
    return (revision.get("spec") or {}).get("phases") or ()


def _key(reference: ReadOnly) -> tuple[str, str]:
    return str(reference.get("namespace") or ""), str(reference.get("name") or "")
