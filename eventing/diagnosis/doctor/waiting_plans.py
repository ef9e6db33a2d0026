"""Whether plans that wait for approval would stop after it, because the account of their group lacks permissions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from eventing.diagnosis.doctor.finding import Check, Finding, Unknown
from eventing.diagnosis.forecast.account import Lacking, is_known, sentence
from eventing.diagnosis.forecast.checks import check_account
from eventing.diagnosis.forecast.forecast import Upcoming, forecast
from eventing.diagnosis.forecast.present_objects import PresentObjects, Server, placed
from eventing.diagnosis.status.denied_plans import granting
from eventing.diagnosis.status.package_status import Code, ref_of
from eventing.diagnosis.status.rules import TO_APPROVE
from shared.api.manifest import Manifest
from shared.api.views import ConfigMap, Csv, InstallPlan, OperatorGroup
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.bundle.shape import defect, is_deep
from shared.domain.endpoints.outline import outline
from shared.domain.plan import steps
from shared.domain.unpack import references
from shared.domain.unpack.content import bundle_in
from shared.kinds import CLUSTER_SERVICE_VERSION, CONFIG_MAP, INSTALL_PLAN, OPERATOR_GROUP, SERVICE_ACCOUNT
from shared.policy import Policy
from shared.ports import Cluster

TITLE: Final = "plans that wait for approval"


def check_waiting_plans(server: Server) -> Check:
    """The check; only a plan of an account takes more reads: its bundles, what they change, roles and bindings."""

    def check(cluster: Cluster, _: datetime) -> Iterator[Finding | Unknown]:
        waiting = (one for one in InstallPlan.each(cluster.list(INSTALL_PLAN)) if one.phase == TO_APPROVE)
        found = (each for plan in waiting for each in _judged(plan, PresentObjects(plan.namespace, server)))
        yield from dict.fromkeys(found)  # why: what may not be read of an account is so for each of its plans

    return check


def _judged(plan: InstallPlan, present: PresentObjects) -> Iterator[Finding | Unknown]:
    """What the account lacks for the plan and to install its versions, or why nobody knows."""
    group = present.group()
    if group is None or not is_known(group, present):
        return
    found = forecast(_versions(plan, group, present), present, Policy(), (check_account,)).findings
    if lacks := tuple(each for one in found if one.grade == "blocks" for each in one.lacking):
        yield _finding(plan, group, lacks)
    yield from (Unknown(TITLE, one.text) for one in found if one.grade == "unknown" and one.lacking)


def _versions(plan: InstallPlan, group: OperatorGroup, present: PresentObjects) -> Iterator[Upcoming]:
    """The versions of a plan, with the objects that it and their installation write."""
    for name in plan.csvs:
        texts = dict.fromkeys(step.manifest for step in plan.steps if step.csv == name)
        found = [placed(one, plan.namespace) for text in texts for one in _objects(text, present)]
        csv = next((one for one in found if one.get("kind") == CLUSTER_SERVICE_VERSION.kind), None)
        if csv is not None:
            yield Upcoming(found, [*outline(Csv(csv), group)], "", ())


def _objects(text: str, present: PresentObjects) -> Iterator[Manifest]:
    """The object of a step, or all of the bundle that it refers to; none where that is lost, which the plan says."""
    reference = references.parse(text)
    if reference is None:
        yield from _object_in(text)
        return
    stored = CONFIG_MAP.ref_or_none(reference.name, reference.namespace)
    for one in present.read([stored] if stored else []):
        if isinstance(bundle := bundle_in(ConfigMap(one)), UnpackedBundle):
            yield from steps.objects(bundle, present.namespace, reference)


def _object_in(text: str) -> Iterator[Manifest]:
    """The object that a step states; none where it is no object: a tenant may write anything into a plan."""
    try:
        one = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(one, dict) and one.get("kind") and not is_deep(one) and not defect(one):
        yield one


def _finding(plan: InstallPlan, group: OperatorGroup, lacks: Sequence[Lacking]) -> Finding:
    evidence = (ref_of(OPERATOR_GROUP, group), SERVICE_ACCOUNT.ref(group.service_account, group.namespace))
    return Finding(
        ref_of(INSTALL_PLAN, plan), f"waits for approval, and would stop after it: {sentence(lacks)}",
        f"approving it does not install {', '.join(plan.csvs)}", granting(plan.namespace),
        reason=str(Code.PERMISSIONS_LACKING), evidence=evidence,
    )  # fmt: skip
