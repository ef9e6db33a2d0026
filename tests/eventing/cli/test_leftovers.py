"""What `olmf leftovers --apply` removes, and what it leaves."""

from __future__ import annotations

from typing import Any

from eventing.cli.leftovers import _removed
from eventing.diagnosis.leftovers import Leftover
from shared.adapters.kube import ApiError
from shared.kinds import CLUSTER_ROLE_BINDING, DEPLOYMENT, SERVICE_ACCOUNT, Ref

OPERATOR = DEPLOYMENT.ref("olm-operator", "olm")
ACCOUNT = SERVICE_ACCOUNT.ref("olm-operator-serviceaccount", "olm")
BINDING = CLUSTER_ROLE_BINDING.ref("olm-operator-binding-olm")


class Cluster:
    """A cluster that refuses to delete some objects, or does not have them."""

    def __init__(self, **status: int) -> None:
        self.status = status

    def delete(self, ref: Ref, **_: str) -> None:
        if status := self.status.get(ref.kind):
            raise ApiError(status, "Why", "not that")


def became(**status: int) -> list[tuple[str, bool]]:
    found = [Leftover(ref, "u", "OLM in olm") for ref in (OPERATOR, ACCOUNT, BINDING)]
    cluster: Any = Cluster(**status)
    return [(what, is_refused) for _, what, is_refused in _removed(cluster, found)]


def test_the_binding_by_which_the_namespaces_of_olm_are_known_goes_when_all_of_them_is_gone() -> None:
    assert became() == [("removed", False)] * 3
    assert became(Deployment=404) == [("gone already", False), ("removed", False), ("removed", False)]
    left = ("left until the rest is removed", False)
    assert became(Deployment=403) == [("refused: not that", True), ("removed", False), left]
