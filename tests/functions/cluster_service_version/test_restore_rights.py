"""Deleted rights come back while their version stays, and only then."""

from __future__ import annotations

import pytest

from functions.cluster_service_version.restore_rights import restore_rights
from shared import names
from shared.api.manifest import Manifest
from shared.domain.lifecycle.rbac import objects_for
from shared.kinds import OPERATOR_GROUP, Ref
from shared.step import NOTHING, Create, Emit
from tests.domain.lifecycle.builders import MEMBERSHIP, a_component, a_csv, a_permission, a_status
from tests.functions.cluster_service_version.world import csv_ref
from tests.kit.cluster import FakeCluster

REF = csv_ref("a.v1")
STRATEGY = {"deployments": [a_component()], "permissions": [a_permission()], "clusterPermissions": [a_permission()]}
CSV = a_csv(strategy=STRATEGY, status=a_status("Succeeded"))
RIGHTS = objects_for(CSV, REF.namespace)


def without(index: int) -> FakeCluster:
    return FakeCluster([CSV, *(each for at, each in enumerate(RIGHTS) if at != index)])


@pytest.mark.parametrize("index", range(len(RIGHTS)), ids=[each["kind"] for each in RIGHTS])
def test_what_is_gone_is_made_again_and_nothing_else(index: int) -> None:
    assert restore_rights(REF, without(index)).writes == (Create(RIGHTS[index]),)


def test_nothing_is_written_where_nothing_is_gone() -> None:
    assert restore_rights(REF, FakeCluster([CSV, *RIGHTS])).writes == ()


def test_the_group_looks_whether_it_lacks_a_role() -> None:
    outcome = restore_rights(REF, FakeCluster([CSV, *RIGHTS]))
    assert outcome.emits == (Emit(names.GRANT_DUE, OPERATOR_GROUP.ref("og", REF.namespace)),)


def test_a_version_in_no_group_rings_none() -> None:
    assert restore_rights(REF, FakeCluster([a_csv(annotations={})])).emits == ()


def test_beside_a_copy_the_group_of_the_original_is_rung_csv_md_8_9() -> None:
    copy = a_csv(annotations={**MEMBERSHIP, names.OPERATOR_NAMESPACE: "home"}, strategy=STRATEGY)
    outcome = restore_rights(REF, FakeCluster([copy]))
    assert outcome.writes == ()
    assert outcome.emits == (Emit(names.GRANT_DUE, OPERATOR_GROUP.ref("og", "home")),)


@pytest.mark.parametrize(
    "csv",
    [
        pytest.param(a_csv(status=a_status("Replacing")), id="it is being replaced"),
        pytest.param(a_csv(status=a_status("Deleting")), id="it is on its way out"),
        pytest.param(a_csv(meta={"deletionTimestamp": "x"}), id="it is being deleted"),
    ],
)
def test_a_version_that_goes_takes_its_rights_along(csv: Manifest) -> None:
    assert restore_rights(Ref.of(csv), FakeCluster([csv])) == NOTHING


def test_a_version_that_is_gone_gets_nothing() -> None:
    assert restore_rights(REF, FakeCluster()) == NOTHING
