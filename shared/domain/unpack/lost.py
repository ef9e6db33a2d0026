"""What has to be unpacked again for a plan that lost its bundles."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from shared import kinds
from shared.api.manifest import ReadOnly, name_of
from shared.domain.resolution_inputs.namespace import catalog_of
from shared.domain.resolver.identity import CatalogKey
from shared.domain.unpack import references
from shared.domain.unpack.content import ExpectedBundle, digest_in
from shared.domain.unpack.objects import Unpacking
from shared.domain.unpack.settings import Settings
from shared.kinds import Ref


def is_altered(plan: ReadOnly, config_map: ReadOnly) -> bool:
    """Whether the ConfigMap contains another bundle than the one for which the plan was made."""
    steps = (plan.get("status") or {}).get("plan") or ()
    found = (references.parse(str((step.get("resource") or {}).get("manifest") or "")) for step in steps)
    planned = {one.digest for one in found if one is not None and one.name == name_of(config_map)}
    is_filled = bool(config_map.get("binaryData") or config_map.get("data"))
    return is_filled and bool(planned) and digest_in(config_map) not in planned


def unpackings(
    plan: ReadOnly, get: Callable[[Ref], ReadOnly | None], limits: Settings, image: str, *, home: str, user: int
) -> Iterator[tuple[str, Unpacking]]:
    """Each bundle of the plan by name, unless its catalog was deleted: nothing says then with which secrets to pull."""
    for lookup in plan["status"].get("bundleLookups") or ():
        reference = lookup.get("catalogSourceRef") or {}
        key = CatalogKey(str(reference.get("namespace") or ""), str(reference.get("name") or ""))
        source = kinds.CATALOG_SOURCE.look_up(get, key.name, key.namespace)
        if source is not None:
            name, path = str(lookup.get("identifier") or ""), str(lookup.get("path") or "")
            yield (
                name,
                Unpacking(path, key, catalog_of(source).secrets, image, limits, ExpectedBundle(name), home, user),
            )
