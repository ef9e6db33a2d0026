"""Where else images may be, as a machine and a cluster say: read anew when that may have changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Final

from shared.adapters.kube.errors import ApiError
from shared.adapters.oci import mirror_sets
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.mirrors import Mirrors, Place
from shared.adapters.oci.reference import Reference
from shared.api.manifest import Manifest
from shared.kinds import MIRROR_SETS
from shared.ports import Cluster

GOOD_SECONDS: Final = 60.0
"""How long what was read is good."""


class KubeMirrors:
    """The mirror sets of a cluster, below the rules of this machine. Implements `Places`."""

    def __init__(
        self, cluster: Cluster, machine: Callable[[], Mirrors] = Mirrors, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._cluster, self._machine, self._now = cluster, machine, now
        self._read_at, self._known = float("-inf"), Mirrors()

    def places(self, reference: Reference) -> list[Place]:
        """Where to ask for an image, in this order. OciError when nowhere, or when the rules cannot be read."""
        if self._now() - self._read_at > GOOD_SECONDS:
            try:
                self._known = self._machine().over(mirror_sets.of_objects(self._objects()))
            except ValueError as error:
                raise OciError("Malformed", f"{reference}: the mirror sets of the cluster: {error}") from error
            self._read_at = self._now()
        return self._known.places(reference)

    def _objects(self) -> Iterator[Manifest]:
        """What whoever runs us may read."""
        for kind in MIRROR_SETS:
            try:
                yield from self._cluster.list(kind)
            except ApiError as error:
                if error.status != HTTPStatus.FORBIDDEN:
                    raise
