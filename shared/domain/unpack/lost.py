"""What has to be unpacked again for a plan that lost its bundles."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from shared import kinds
from shared.api.manifest import ReadOnly
from shared.domain.resolver.model import CatalogKey
from shared.domain.resolver.scene import catalog_of
from shared.domain.unpack.content import Promise
from shared.domain.unpack.objects import Unpacking
from shared.domain.unpack.settings import Settings
from shared.kinds import Ref


def unpackings(
    plan: ReadOnly, get: Callable[[Ref], ReadOnly | None], limits: Settings, image: str, *, user: int
) -> Iterator[tuple[str, Unpacking]]:
    """Each bundle of the plan by name, unless its catalog was deleted: nothing says then with which secrets to pull."""
    for lookup in plan["status"].get("bundleLookups") or ():
        reference = lookup.get("catalogSourceRef") or {}
        key = CatalogKey(str(reference.get("namespace") or ""), str(reference.get("name") or ""))
        source = get(kinds.CATALOG_SOURCE.ref(key.name, key.namespace))
        if source is not None:
            name, path = str(lookup.get("identifier") or ""), str(lookup.get("path") or "")
            yield name, Unpacking(path, key, catalog_of(source).secrets, image, limits, Promise(name), user)
