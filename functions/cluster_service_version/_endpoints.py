"""What a step reads about webhooks and aggregated APIs, and what it decides about those of working Deployments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta

from functions.cluster_service_version._endpoint_writes import stage_writes, writes_of
from functions.cluster_service_version._outcome import outcome_of
from shared import kinds
from shared.api import fields
from shared.api.views import ApiService, Csv, Deployment, OperatorGroup, Subscription, WebhookConfiguration
from shared.domain.csv import serving
from shared.domain.csv.health import Problem
from shared.domain.csv.overrides import config_of
from shared.domain.csv.phases import Status
from shared.domain.endpoints import retreat, work
from shared.domain.endpoints.certificates import StoredPair
from shared.domain.endpoints.endpoint import endpoints_of, given_up, has_served, serves
from shared.domain.endpoints.facts import Facts, named_versions, required_objects
from shared.domain.objects.ownership import owner_labels
from shared.ports import Cluster, Discovery, Keys, Listing
from shared.reading.objects import read_all
from shared.step import Outcome

_SOON = timedelta(seconds=1)


def pairs_of(csv: Csv, keys: Keys) -> dict[str, StoredPair | None]:
    """The certificates of the Deployments that serve."""
    return {one.deployment: kinds.SECRET.look_up(keys.stored, one.secret, csv.namespace) for one in endpoints_of(csv)}


def facts_of(
    csv: Csv, cluster: Cluster, pairs: Mapping[str, StoredPair | None], subscriptions: Iterable[Subscription]
) -> Facts:
    """Everything about the endpoints; nothing is read for a version that never had any."""
    if not (serves(csv) or has_served(csv)):
        return Facts()
    leading = (*kinds.WEBHOOK_CONFIGURATIONS, kinds.API_SERVICE)
    listed = cluster.list_all([Listing(kind, labels=owner_labels(csv)) for kind in leading])
    groups = OperatorGroup.each(cluster.list(kinds.OPERATOR_GROUP, csv.namespace))
    facts = Facts(
        pairs,
        read_all(cluster, required_objects(csv)),
        WebhookConfiguration.each(sum(listed[:-1], ())),
        ApiService.each(listed[-1]),
        groups[0] if len(groups) == 1 else None,
        Csv.each(cluster.list(kinds.CLUSTER_SERVICE_VERSION, csv.namespace)),
        fields.part(config_of(csv, subscriptions), "annotations"),
    )
    return replace(facts, objects={**facts.objects, **read_all(cluster, named_versions(facts, csv))})


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
    problem = serving.problem(csv, facts, lambda api: discovery.find(api.api_version, api.kind) is not None)
    stage = None if problem else serving.next_stage(status, facts, deployments)
    return outcome_of(csv, stage.transition, before=stage_writes(csv, facts, stage)) if stage else problem
