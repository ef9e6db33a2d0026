"""What is decided about the webhooks and aggregated APIs of working Deployments."""

from __future__ import annotations

from datetime import timedelta

from functions.cluster_service_version._endpoint_writes import stage_writes, writes_of
from functions.cluster_service_version._outcome import outcome_of
from shared.api.views import Csv, Deployment
from shared.domain.csv import serving
from shared.domain.csv.health import Problem
from shared.domain.csv.phases import Status
from shared.domain.endpoints import retreat, work
from shared.domain.endpoints.endpoint import given_up
from shared.domain.endpoints.facts import Facts
from shared.ports import Discovery
from shared.reading.endpoints import unserved
from shared.step import Outcome

_SOON = timedelta(seconds=1)


def looked_at(
    csv: Csv,
    status: Status,
    facts: Facts,
    discovery: Discovery,
    *,
    refused: Problem | None,
    deployments: tuple[Deployment, ...],
) -> Outcome | Problem | None:
    """What is to be done about the endpoints of Deployments that work, or why they do not serve; None when they do.

    With `refused` they do not work: the API server takes no Pods, so webhooks that were described anew come first.
    """
    dropped = (*work.given_up(csv, facts), *work.surplus(csv, facts), *retreat.permissions(csv, facts, given_up(csv)))
    if dropped:
        return Outcome(tuple(writes_of(dropped)), again_in=_SOON, summary="removes what led to what it serves no more")
    if refused:
        edits = [one for one in work.served(csv, facts, work.stored(facts)) if work.is_in_force(one)]
        return Outcome(tuple(writes_of(edits)), summary="its webhooks follow its description") if edits else refused
    if status.phase == "Succeeded" and (moved := work.moved(csv, facts, work.stored(facts))):
        return Outcome(tuple(writes_of(moved)), summary="its webhooks follow its OperatorGroup")
    problem = unserved(csv, facts, discovery) or serving.unconfigured(csv, facts)
    stage = None if problem else serving.next_stage(status, facts, deployments)
    return outcome_of(csv, stage.transition, before=stage_writes(csv, facts, stage)) if stage else problem
