"""OperatorGroups whose ServiceAccount is gone: what works goes on without it, until the next upgrade."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from eventing.diagnosis.doctor.finding import Finding
from eventing.diagnosis.status.denied_plans import lacks_account, making_account
from eventing.diagnosis.status.package_status import ref_of
from shared.api.views import OperatorGroup
from shared.domain.command import Fix
from shared.domain.operator_groups.targets import SERVICE_ACCOUNT
from shared.kinds import OPERATOR_GROUP


def missing_accounts(groups: Iterable[OperatorGroup], advised: Collection[Fix]) -> Iterator[Finding]:
    """The groups whose condition says so, but for those whose fix is advised already."""
    for group in groups:
        if not lacks_account(group) or (fix := making_account(group)) in advised:
            continue
        condition = group.condition(SERVICE_ACCOUNT)
        yield Finding(
            ref_of(OPERATOR_GROUP, group), f"names an account that is not there: {condition.message}",
            "what works in its namespace goes on, and nothing is installed or upgraded there", fix,
            reason=condition.reason,
        )  # fmt: skip
