"""A role of an API that somebody deleted or edited enqueues the groups that provide the API, and no other."""

from __future__ import annotations

import pytest

from functions.fanout.notify_providers import notify_providers
from shared import names
from shared.kinds import API_SERVICE, CUSTOM_RESOURCE_DEFINITION, OPERATOR_GROUP, Ref
from shared.step import Emit
from tests.functions.operator_group.builders import a_csv, a_group
from tests.kit.cluster import FakeCluster

GEESE = CUSTOM_RESOURCE_DEFINITION.ref("geese.birds.com")
OWNER = a_csv(owns=["geese.birds.com/v1/Goose"])
HATS = {"name": "hats", "group": "heads.com", "version": "v1", "kind": "Hat"}
COPY = a_csv(namespace="other", owns=["geese.birds.com/v1/Goose"], labels={"olm.copiedFrom": "ns"})


@pytest.mark.parametrize(
    ("csv", "ref", "enqueues"),
    [
        pytest.param(OWNER, GEESE, True, id="csv.md 8.8: a member owns the definition"),
        pytest.param(OWNER, CUSTOM_RESOURCE_DEFINITION.ref("cows.m.com"), False, id="it owns another definition"),
        pytest.param(a_csv(services=[HATS]), API_SERVICE.ref("v1.heads.com"), True, id="it serves the aggregated API"),
        pytest.param(a_csv(), GEESE, False, id="it owns none"),
    ],
)
def test_notify_providers(csv: dict[str, object], ref: Ref, *, enqueues: bool) -> None:
    outcome = notify_providers(ref, FakeCluster([a_group(), a_group("h", "other"), csv, COPY]))
    assert outcome.emits == ((Emit(names.GRANT_DUE, OPERATOR_GROUP.ref("g", "ns")),) if enqueues else ())
    assert outcome.writes == ()
