"""A plan that waits for approval, and would stop after it: known before somebody approves it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from eventing.diagnosis.doctor.finding import Finding, Unknown
from eventing.diagnosis.doctor.waiting_plans import TITLE, check_waiting_plans
from shared import kinds
from shared.api.manifest import Manifest
from shared.domain.bundle.payload import payload
from shared.domain.resolver.identity import CatalogKey
from shared.domain.unpack.references import Reference
from shared.kinds import Kind
from tests.eventing.diagnosis.forecast.test_forecast import (
    ACCOUNT,
    GIVEN,
    NS,
    RULE,
    Cluster,
    a_csv,
    a_group,
    an_object,
    bound,
)

SCOPED = a_group(NS, serviceAccountName="limited")
BUT_RULE = {**GIVEN, "apiGroups": ["operators.coreos.com", "apps", "rbac.authorization.k8s.io"]}
NOW = datetime(2026, 1, 2, tzinfo=UTC)
WHO = f"waits for approval, and would stop after it: ServiceAccount {NS}/limited may not"


class Recorder(Cluster):
    """A cluster that notes what is listed."""

    def __init__(self, objects: Sequence[Manifest], hidden: str = "") -> None:
        super().__init__(objects, hidden=hidden)
        self.listed: list[Kind] = []

    def list(self, kind: Kind, namespace: str = "", **more: Any) -> tuple[Manifest, ...]:
        self.listed.append(kind)
        return super().list(kind, namespace, **more)


def a_plan(*manifests: str, phase: str = "RequiresApproval") -> Manifest:
    steps = [{"resolving": "op.v2", "status": "Unknown", "resource": {"manifest": one}} for one in manifests]
    spec = {"approved": False, "clusterServiceVersionNames": ["op.v2"]}
    return an_object(kinds.INSTALL_PLAN, "install-1", spec=spec, status={"phase": phase, "plan": steps})


def unpacked() -> tuple[str, Manifest]:
    """What the steps of a plan say of an unpacked bundle, and that one."""
    made = payload({"manifests/csv.json": json.dumps(a_csv()).encode()}, "image")
    assert isinstance(made, dict)
    content = {"metadata": {"name": "h", "namespace": "olm", "annotations": made["annotations"]}}
    stored = {"apiVersion": "v1", "kind": "ConfigMap", **content, "binaryData": made["binaryData"]}
    return str(Reference("h", "olm", CatalogKey("olm", "cat"))), stored


def everything(*objects: Manifest, hidden: str = "") -> tuple[list[Finding | Unknown], list[Kind]]:
    cluster = Recorder(objects, hidden)
    return list(check_waiting_plans(cluster)(cluster, NOW)), cluster.listed


def findings(*objects: Manifest) -> tuple[list[Finding], list[Kind]]:
    found, listed = everything(*objects)
    assert not [one for one in found if isinstance(one, Unknown)]
    return [one for one in found if isinstance(one, Finding)], listed


def test_what_the_account_lacks_is_a_finding_with_the_command_that_prints_it() -> None:
    reference, bundle = unpacked()
    accounts = {**GIVEN, "resources": ["serviceaccounts"]}
    [found], _ = findings(a_plan(reference), bundle, SCOPED, ACCOUNT, *bound(BUT_RULE, accounts))
    assert found.state == f"{WHO} get pods in namespace {NS}", "which the operator is given, and so has to be had"
    assert (str(found.fix.command), found.reason) == (f"olmf plan --grants -n {NS}", "PermissionsLacking")
    assert found.effect == "approving it does not install op.v2"
    assert findings(a_plan(reference), bundle, SCOPED, ACCOUNT, *bound(BUT_RULE, accounts, RULE))[0] == []


def nested(levels: int) -> str:
    """An object with so many levels."""
    return '{"kind": "Deep", "spec": ' + '{"a": ' * levels + "1" + "}" * (levels + 1)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param("no JSON", id="no JSON"),
        pytest.param("[1]", id="a list"),
        pytest.param("1", id="a number"),
        pytest.param("null", id="nothing"),
        pytest.param("{}", id="an object without a kind"),
        pytest.param('{"kind": 1}', id="a kind that is a number"),
        pytest.param('{"kind": "Service", "metadata": "x"}', id="metadata that are text"),
        pytest.param("[" * 200_000, id="too deep to be parsed"),
        pytest.param(nested(500), id="too deep to be walked"),
    ],
)
def test_objects_may_stand_in_the_plan(other: str) -> None:
    """Beside anything else: a tenant writes the status of a plan."""
    texts = [json.dumps(one) for one in (a_csv(), an_object(kinds.SERVICE, "s"))]
    [found], _ = findings(a_plan(other, *texts), SCOPED, ACCOUNT, *bound(BUT_RULE))
    assert found.state == f"{WHO} create services in namespace {NS}"
    assert findings(a_plan(other), SCOPED, ACCOUNT, *bound(BUT_RULE))[0] == []


def test_a_reference_may_state_properties_that_nobody_can_read() -> None:
    _, bundle = unpacked()
    reference = str(Reference("h", "olm", CatalogKey("olm", "cat"), properties="[" * 200_000))
    assert len(findings(a_plan(reference), bundle, SCOPED, ACCOUNT)[0]) == 1


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([a_plan(json.dumps(a_csv())), a_group(NS)], id="no account"),
        pytest.param([a_plan(json.dumps(a_csv())), SCOPED], id="an account that is not there"),
        pytest.param([a_plan(json.dumps(a_csv()), phase="Installing"), SCOPED, ACCOUNT], id="approved"),
        pytest.param([], id="no plan"),
    ],
)
def test_of_other_plans_no_role_is_read(objects: list[Manifest]) -> None:
    found, listed = findings(*objects)
    assert found == []
    assert set(listed).isdisjoint(kinds.RBAC)


def test_where_roles_may_not_be_read_nothing_is_claimed() -> None:
    plan = a_plan(json.dumps(a_csv()))
    assert findings(plan, SCOPED, ACCOUNT)[0] != []
    why = f"what ServiceAccount {NS}/limited may do is not known: clusterrolebindings may not be listed"
    second = {**plan, "metadata": {**plan["metadata"], "name": "install-2"}}
    found, _ = everything(plan, second, SCOPED, ACCOUNT, hidden="ClusterRoleBinding")
    assert found == [Unknown(TITLE, why)], "once for all plans of an account"
    found, _ = everything(plan, SCOPED, ACCOUNT, *bound(GIVEN), hidden="ClusterRoleBinding")
    assert found == [], "it has all that it needs in its Roles"


def test_a_bundle_that_is_lost_is_none_of_its_business() -> None:
    assert findings(a_plan(unpacked()[0]), SCOPED, ACCOUNT)[0] == []
