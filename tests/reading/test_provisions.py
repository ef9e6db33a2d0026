"""APIServices are listed where the answer depends on them, and nowhere else: a cluster has hundreds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.kinds import API_SERVICE, Kind
from shared.ports import Policy
from shared.reading.provisions import provisions_of
from tests.functions.operator_group.builders import a_csv, a_definition
from tests.kit.cluster import FakeCluster

HATS = {"name": "hats", "group": "heads.com", "version": "v1", "kind": "Hat"}


class Listed(FakeCluster):
    """Counts the lists of APIServices."""

    services = 0

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        self.services += kind == API_SERVICE
        return super().list(kind, namespace, labels=labels, most=most)


@pytest.mark.parametrize(
    ("csv", "trusts", "lists"),
    [
        pytest.param(a_csv(owns=["geese.birds.com/v1/Goose"]), False, 1, id="who else serves the group decides"),
        pytest.param(a_csv(services=[HATS]), False, 0, id="an aggregated API alone counts only where claims do"),
        pytest.param(a_csv(services=[HATS]), True, 1, id="there it is looked for"),
        pytest.param(a_csv(), True, 0, id="no API"),
    ],
)
def test_api_services_are_listed_where_they_decide(csv: dict[str, Any], trusts: bool, lists: int) -> None:
    cluster = Listed([a_definition()])
    provisions_of(Csv.each([csv]), cluster, Policy(grant_claimed_apis=trusts))
    assert cluster.services == lists
