"""The kinds that the API server serves, cached for a while."""

from __future__ import annotations

import time
from collections.abc import Callable

from shared.adapters.kube.errors import ApiError
from shared.adapters.kube.paths import root_of
from shared.api.manifest import Manifest
from shared.kinds import BY_IDENTITY, Kind
from shared.refs import is_possible

FRESH_SECONDS = 30.0
"""How long a kind that was found is cached: a bound for aggregated APIs, whose changes no event reports."""
ABSENT_SECONDS = 0.05
"""How long it is cached that a kind is absent: long enough for many kinds of one group, short enough for a new CRD."""
SETTLED_SECONDS = 0.5
"""The time after a change of a definition by which an API server serves what it defines."""
BUILT_IN = {
    (kind.api_version, kind.kind): kind
    for kind in (
        Kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
        Kind("apps/v1", "DaemonSet", "daemonsets"),
        Kind("apps/v1", "StatefulSet", "statefulsets"),
        Kind("networking.k8s.io/v1", "Ingress", "ingresses"),
        Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
        Kind("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", is_namespaced=False),
    )
}
"""What bundles have and each API server serves, beside what we name in code: nobody need ask for these."""


class KindIndex:
    """Kinds by (apiVersion, kind): the static tables, else discovery, one group version at a time."""

    def __init__(
        self,
        get: Callable[[str], Manifest],
        clock: Callable[[], float] = time.monotonic,
        *,
        absent: float = ABSENT_SECONDS,
    ) -> None:
        """`absent`: for how many seconds a kind stays absent; more where changes of definitions are watched."""
        self._get = get
        self._clock = clock
        self._absent = absent
        self._changed_at = float("-inf")
        self._known: dict[str, tuple[float, dict[str, Kind]]] = {}

    def find(self, api_version: str, kind: str) -> Kind | None:
        """The kind, or None when it is not served."""
        if static := BY_IDENTITY.get((api_version, kind)) or BUILT_IN.get((api_version, kind)):
            return static
        if not is_possible(api_version, kind):
            return None
        read_at, kinds = self._known.get(api_version, (float("-inf"), {}))
        is_settled = read_at - self._changed_at > SETTLED_SECONDS
        absent = self._absent if is_settled else ABSENT_SECONDS
        if self._clock() - read_at < (FRESH_SECONDS if kind in kinds else absent):
            return kinds.get(kind)
        asked_at = self._clock()
        kinds = self._served(api_version)
        if self._changed_at <= asked_at:  # else the answer may be of before the change
            self._known[api_version] = (asked_at, kinds)
        return kinds.get(kind)

    def forget(self) -> None:
        """Drop what is cached of groups that definitions are about, because a CustomResourceDefinition has changed."""
        self._known = {version: known for version, known in self._known.items() if _is_built_in(version)}
        self._changed_at = self._clock()

    def _served(self, api_version: str) -> dict[str, Kind]:
        try:
            return kinds_in(api_version, self._get(root_of(api_version)))
        except ApiError as error:
            if error.is_not_found:
                return {}
            raise


def _is_built_in(api_version: str) -> bool:
    """Whether no definition can be about that group: only those of Kubernetes have no dot."""
    return "." not in api_version.partition("/")[0]


def kinds_in(api_version: str, listed: object) -> dict[str, Kind]:
    """The kinds of an APIResourceList by name; what is none, or states not all of a kind, is left out."""
    entries = listed.get("resources") if isinstance(listed, dict) else None
    found = (_kind_of(api_version, entry) for entry in (entries if isinstance(entries, list) else ()))
    return {kind.kind: kind for kind in found if kind}


def _kind_of(api_version: str, entry: object) -> Kind | None:
    # why: an aggregated API server may say what it likes, and subresources are no kinds
    match entry:
        case {"kind": str(kind), "name": str(plural), "namespaced": bool(is_namespaced)}:
            return Kind.or_none(api_version, kind, plural, is_namespaced=is_namespaced)
    return None
