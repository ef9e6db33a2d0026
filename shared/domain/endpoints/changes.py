"""What has to be written so that an object says what it should; what others added to it stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shared.api.manifest import Manifest, ReadOnly, metadata
from shared.api.views import Object
from shared.domain.subset import covers
from shared.kinds import Ref

_IDENTITY = ("apiVersion", "kind", "metadata")


@dataclass(frozen=True, slots=True)
class Change:
    """An object that is absent or differs."""

    ref: Ref
    desired: Manifest
    """As it is created when it is absent."""
    patch: Manifest | None = None
    """Merge patch of the one that is there; None when there is none."""
    version: str = ""
    """The resourceVersion that the patch is for."""
    why: str = ""
    """What is wrong with the object, in words."""


def not_found(api_version: str, kind: str, name: str) -> str:
    """What OLM says of an object that is not there."""
    group = api_version.rpartition("/")[0]
    return f'{kind.lower()}{group and f".{group}"} "{name}" not found'


def change(
    desired: Manifest, present: Object | None, matches: Callable[[Manifest, Manifest], bool] = covers
) -> Change | None:
    """What has to be written; None when the object says all that is wanted.

    `matches` tells whether an object, as it is, needs no patch.
    """
    ref = Ref.of(desired)
    if present is None:
        return Change(ref, desired, why=not_found(ref.api_version, ref.kind, ref.name))
    meta = {key: value for key, value in metadata(desired).items() if key in ("labels", "annotations")}
    content = {key: value for key, value in desired.items() if key not in _IDENTITY}
    patch: Manifest = {"metadata": {**meta, **_owners(desired, present)}, **content}
    if matches(dict(present.raw), patch):
        return None
    return Change(ref, desired, patch, present.resource_version, f"{ref.kind} {ref.name} differs")


def _owners(desired: ReadOnly, present: Object) -> Manifest:
    """The owners that are there, and the wanted ones."""
    listed = list(metadata(present.raw).get("ownerReferences") or ())
    known = {one.uid for one in present.owners}
    new = [one for one in metadata(desired).get("ownerReferences") or () if one["uid"] not in known]
    return {"ownerReferences": [*listed, *new]} if new else {}
