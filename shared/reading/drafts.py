"""The drafts of plans that can be written now: for each component whose bundles are all unpacked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from shared import kinds
from shared.api.views import ConfigMap, OperatorGroup, Subscription
from shared.domain.authors.author import is_bound
from shared.domain.bundle.hash import bundle_hash
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.plan.compose import Draft
from shared.domain.resolver.model import Chosen, Component
from shared.domain.unpack.content import ExpectedBundle, bundle_in
from shared.ports import Cluster


def drafts(
    components: Iterable[Component],
    subscriptions: Sequence[Subscription],
    groups: Sequence[OperatorGroup],
    cluster: Cluster,
) -> Iterator[Draft]:
    """The draft of each component, without its generation; none when a bundle is missing or nothing was chosen."""
    for component in components:
        if bundles := _bundles(component, cluster):
            owners = [one for one in subscriptions if one.name in component.subscribers]
            yield Draft(owners, bundles, component.is_manual, 0, is_bound(groups))


def _bundles(component: Component, cluster: Cluster) -> list[tuple[Chosen, UnpackedBundle]]:
    """The chosen and unpacked bundles of the component; empty while one of them is not unpacked."""
    found: list[tuple[Chosen, UnpackedBundle]] = []
    for chosen in component.chosen:
        ref = kinds.CONFIG_MAP.ref(bundle_hash(chosen.path), chosen.catalog.key.namespace)
        bundle = bundle_in(ConfigMap(cluster.get(ref) or {}), ExpectedBundle(chosen.bundle.name))
        if not isinstance(bundle, UnpackedBundle):
            return []
        found.append((chosen, bundle))
    return found
