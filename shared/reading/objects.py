"""Several objects, asked for at once."""

from __future__ import annotations

from collections.abc import Iterable

from shared.api.manifest import Manifest
from shared.kinds import Ref
from shared.ports import Cluster


def read_all(cluster: Cluster, refs: Iterable[Ref]) -> dict[Ref, Manifest | None]:
    """Each of them, or None when it does not exist."""
    asked = tuple(dict.fromkeys(refs))
    return dict(zip(asked, cluster.get_all(asked), strict=True))
