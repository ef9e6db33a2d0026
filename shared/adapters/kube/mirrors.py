"""The image mirrors that the machine and the cluster configure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Final

from shared.adapters.kube.errors import ApiError
from shared.adapters.oci import mirror_sets
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.mirrors import Location, Mirrors
from shared.adapters.oci.reference import Reference
from shared.api.manifest import Manifest
from shared.kinds import MIRROR_SETS
from shared.ports import Cluster

GOOD_SECONDS: Final = 60.0
"""How long the configuration is cached."""


class KubeMirrors:
    """The mirror sets of a cluster, below the rules of this machine. Implements `Places`."""

    def __init__(
        self, cluster: Cluster, machine: Callable[[], Mirrors] = Mirrors, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._cluster, self._machine, self._now = cluster, machine, now
        self._read_at, self._known = float("-inf"), Mirrors()

    def locations(self, reference: Reference) -> list[Location]:
        """The places of an image, in the order to try. OciError without any, or when the rules cannot be read."""
        if self._now() - self._read_at > GOOD_SECONDS:
            try:
                self._known = self._machine().over(mirror_sets.of_objects(self._objects()))
            except ValueError as error:
                raise OciError("Malformed", f"{reference}: the mirror sets of the cluster: {error}") from error
            self._read_at = self._now()
        return self._known.locations(reference)

    def _objects(self) -> Iterator[Manifest]:
        """The mirror sets of the kinds that this account may read."""
        for kind in MIRROR_SETS:
            try:
                yield from self._cluster.list(kind)
            except ApiError as error:
                if error.status != HTTPStatus.FORBIDDEN:
                    raise
