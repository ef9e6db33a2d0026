"""What the doctor finds of an OperatorGroup whose ServiceAccount is gone: once, with the command that makes it."""

from __future__ import annotations

import pytest

from eventing.diagnosis.doctor.packages import check_packages
from shared import kinds
from shared.api.manifest import Manifest
from shared.api.views import OperatorGroup
from shared.domain.operator_groups import targets
from tests.eventing.diagnosis.doctor.test_packages import (
    HERE,
    LONG_AGO,
    NOW,
    a_condition,
    a_subscription,
    a_version,
    an_object,
    findings,
)

MAKE_IT = "kubectl -n ns create serviceaccount limited"
WORKS = [a_subscription(**HERE), a_version("Succeeded")]


def a_group(*, account: str = "limited", is_there: bool = False) -> Manifest:
    """With the status that our step writes about it."""
    group = an_object(kinds.OPERATOR_GROUP, "mine", spec={"serviceAccountName": account})
    present = OperatorGroup(an_object(kinds.SERVICE_ACCOUNT, account)) if is_there else None
    status = targets.status(OperatorGroup(group), ("ns",), account=present, has_siblings=False, now=NOW)
    return {**group, "status": status}


def test_an_account_that_is_deleted_while_its_operators_work() -> None:
    (found,) = findings(check_packages(), a_group(), *WORKS)
    assert (found.ref, found.reason) == (kinds.OPERATOR_GROUP.ref("mine", "ns"), "ServiceAccountNotFound")
    assert found.state == "names an account that is not there: ServiceAccount limited not found"
    assert str(found.fix.command) == MAKE_IT


@pytest.mark.parametrize(
    "package",
    [
        pytest.param([a_subscription(**HERE), a_version("Failed", "ComponentFailed", "")], id="a version that failed"),
        pytest.param(
            [a_subscription(a_condition("InstallPlanPending", "Installing", since=LONG_AGO), currentCSV="p.v1")],
            id="a plan that waits",
        ),
    ],
)  # fmt: skip
def test_a_package_that_waits_for_the_account_is_the_one_finding(package: list[Manifest]) -> None:
    (found,) = findings(check_packages(), a_group(), *package)
    assert found.ref.kind == "Subscription"
    assert str(found.fix.command) == MAKE_IT


def test_a_plan_that_just_began_to_wait_leaves_it_to_the_group() -> None:
    pending = a_condition("InstallPlanPending", "Installing")
    (found,) = findings(check_packages(), a_group(), a_subscription(pending, currentCSV="p.v1"))
    assert found.ref.kind == "OperatorGroup"


@pytest.mark.parametrize(
    "group",
    [pytest.param(a_group(is_there=True), id="it is there"), pytest.param(a_group(account=""), id="it has none")],
)
def test_a_group_whose_account_is_there_or_that_names_none(group: Manifest) -> None:
    assert findings(check_packages(), group, *WORKS) == []
