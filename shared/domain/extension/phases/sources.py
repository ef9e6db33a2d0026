"""The objects of a ClusterObjectSet, wherever they are: in it, or in Secrets that must not change (v1.md §21.6)."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, name_of, uid_of
from shared.api.views import ClusterObjectSet, Object
from shared.domain.extension.phases.order import Phase
from shared.domain.extension.phases.packing import Unreadable, unpack
from shared.domain.go.text import quoted

Secrets: TypeAlias = Mapping[tuple[str, str], ReadOnly]
"""By namespace and name, as far as they are there."""


def references(revision: ReadOnly) -> tuple[tuple[str, str], ...]:
    """Namespace and name of each Secret that a revision refers to, once."""
    listed = (one for phase in ClusterObjectSet(revision).phases for one in fields.parts(phase, "objects"))
    return tuple(dict.fromkeys(_key(one) for one in listed if fields.text(one, "ref", "name")))


def mutable(revision: ReadOnly, secrets: Secrets) -> str:
    """Which of its Secrets could still change, as a sentence; one that is not there is passed over."""
    there = [key for key in references(revision) if key in secrets]
    wrong = ["/".join(key) for key in there if not fields.flag(secrets[key], "immutable")]
    if not wrong:
        return ""
    why = "referenced secrets must have immutable set to true"
    return f"the following secrets are not immutable ({why}): {', '.join(wrong)}"


def ownerless(revision: ReadOnly, secrets: Secrets) -> tuple[tuple[str, str], ...]:
    """The Secrets that were made for a revision and would outlive it: whoever made them was ended before it said so."""
    return tuple(
        key
        for key, secret in secrets.items()
        if Object(secret).label(names.V1_REVISION_NAME) == name_of(revision)
        and all(one.uid != uid_of(revision) for one in Object(secret).owners)
    )


def resolved(revision: ReadOnly, secrets: Secrets) -> tuple[Phase, ...]:
    """The phases with their objects. Unreadable when one cannot be had."""
    phases = ClusterObjectSet(revision).phases
    return tuple(Phase(fields.text(one, "name"), tuple(_objects(one, secrets))) for one in phases)


def _objects(phase: ReadOnly, secrets: Secrets) -> Iterator[Manifest]:
    name = quoted(fields.text(phase, "name"))
    for one in fields.parts(phase, "objects"):
        if found := fields.part(one, "object"):
            yield dict(found)
        elif fields.text(one, "ref", "name"):
            try:
                yield _referred(one, secrets)
            except Unreadable as error:
                raise Unreadable(f"resolving ref in phase {name}: {error}") from error
        else:
            raise Unreadable(f"object in phase {name} has neither object nor ref")


def _referred(one: ReadOnly, secrets: Secrets) -> Manifest:
    secret, key = _key(one), fields.text(one, "ref", "key")
    where = "/".join(secret)
    if secret not in secrets:
        raise Unreadable(f"getting Secret {where}: secrets {quoted(secret[1])} not found")
    data = fields.strings(secrets[secret], "data")
    if key not in data:
        raise Unreadable(f"key {quoted(key)} not found in Secret {where}")
    return unpack(base64.b64decode(data[key]), key, where)


def _key(one: ReadOnly) -> tuple[str, str]:
    """Namespace and name of the Secret that an object is in."""
    return fields.text(one, "ref", "namespace"), fields.text(one, "ref", "name")
