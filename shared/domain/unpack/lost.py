"""What has to be unpacked again for a plan that lost its bundles."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from shared import kinds
from shared.api.manifest import ReadOnly
from shared.api.views import CatalogSource, ConfigMap, InstallPlan
from shared.domain.resolver.identity import CatalogKey
from shared.domain.unpack import references
from shared.domain.unpack.content import ExpectedBundle, digest_in
from shared.domain.unpack.objects import Unpacking
from shared.domain.unpack.settings import Settings
from shared.kinds import Ref


def is_altered(plan: InstallPlan, config_map: ConfigMap) -> bool:
    """Whether the ConfigMap contains another bundle than the one for which the plan was made."""
    found = (references.parse(step.manifest) for step in plan.steps)
    planned = {one.digest for one in found if one is not None and one.name == config_map.name}
    return config_map.is_filled and bool(planned) and digest_in(config_map) not in planned


def unpackings(
    plan: InstallPlan,
    get: Callable[[Ref], ReadOnly | None],
    limits: Settings,
    image: str,
    *,
    global_namespace: str,
    user: int,
) -> Iterator[tuple[str, Unpacking]]:
    """Each bundle of the plan by name, unless its catalog was deleted: nothing says then with which secrets to pull."""
    for lookup in plan.lookups:
        key, name = CatalogKey(*lookup.catalog), lookup.identifier
        source = CatalogSource.of(kinds.CATALOG_SOURCE.look_up(get, key.name, key.namespace))
        if source is not None:
            expected = ExpectedBundle(name)
            yield name, Unpacking(lookup.path, key, source.secrets, image, limits, expected, global_namespace, user)
