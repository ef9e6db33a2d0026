"""What a step reads about webhooks and aggregated APIs, and what becomes of their changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from functions.cluster_service_version._outcome import outcome_of
from shared import kinds
from shared.api import fields
from shared.api.views import Csv, OperatorGroup, Subscription, WebhookConfiguration
from shared.domain.csv import serving
from shared.domain.csv.health import Problem
from shared.domain.csv.overrides import config_of
from shared.domain.csv.phases import Status
from shared.domain.endpoints import work
from shared.domain.endpoints.certificates import Content, StoredPair
from shared.domain.endpoints.changes import Change
from shared.domain.endpoints.endpoint import endpoints_of, serves
from shared.domain.endpoints.facts import Facts, named_versions, wanted_objects
from shared.domain.objects.ownership import owner_labels
from shared.ports import Cluster, Discovery, Keys, Listing
from shared.reading.objects import read_all
from shared.step import Create, Merge, Outcome, StoreKeys, Write


def pairs_of(csv: Csv, keys: Keys) -> dict[str, StoredPair | None]:
    """The certificates of the Deployments that serve."""
    return {one.deployment: kinds.SECRET.look_up(keys.stored, one.secret, csv.namespace) for one in endpoints_of(csv)}


def facts_of(
    csv: Csv, cluster: Cluster, pairs: Mapping[str, StoredPair | None], subscriptions: Iterable[Subscription]
) -> Facts:
    """Everything about the endpoints; nothing is read for a version without any."""
    if not serves(csv):
        return Facts()
    listed = cluster.list_all([Listing(kind, labels=owner_labels(csv)) for kind in kinds.WEBHOOK_CONFIGURATIONS])
    groups = OperatorGroup.each(cluster.list(kinds.OPERATOR_GROUP, csv.namespace))
    facts = Facts(
        pairs,
        read_all(cluster, wanted_objects(csv)),
        WebhookConfiguration.each(sum(listed, ())),
        groups[0] if len(groups) == 1 else None,
        Csv.each(cluster.list(kinds.CLUSTER_SERVICE_VERSION, csv.namespace)),
        fields.part(config_of(csv, subscriptions), "annotations"),
    )
    return replace(facts, objects={**facts.objects, **read_all(cluster, named_versions(facts, csv))})


def secret_writes(csv: Csv, facts: Facts, held: Mapping[str, Content]) -> Iterator[StoreKeys]:
    """The writes of Secrets."""
    return (StoreKeys(one.manifest, one.texts, one.keys) for one in work.secrets(csv, facts, held))


def looked_at(csv: Csv, status: Status, facts: Facts, discovery: Discovery) -> Outcome | Problem | None:
    """What is to be done about the endpoints of Deployments that work, or why they do not serve; None when they do."""
    if status.phase == "Succeeded" and (moved := work.moved(csv, facts, work.stored(facts))):
        return Outcome(tuple(writes_of(moved)), summary="its webhooks follow its OperatorGroup")
    problem = serving.problem(csv, facts, lambda api: discovery.find(api.api_version, api.kind) is not None)
    stage = None if problem else serving.next_stage(status, facts)
    return outcome_of(csv, stage.transition, before=_stage_writes(csv, facts, stage.held)) if stage else problem


def _stage_writes(csv: Csv, facts: Facts, held: Mapping[str, Content]) -> tuple[Write, ...]:
    """The writes of a stage of a rotation: clients first forget what the servers do not use any more."""
    if not held:
        return ()
    told = (*work.aggregated(csv, facts, held), *work.served(csv, facts, held))
    is_last = not any(content.is_rotating for content in held.values())
    return (*(writes_of(told) if is_last else ()), *secret_writes(csv, facts, held))


def writes_of(changes: Iterable[Change]) -> Iterator[Write]:
    """The writes of other objects."""
    for one in changes:
        if one.patch is None:
            yield Create(one.wanted, must_be_new=True)
        else:
            yield Merge(one.ref, one.patch, one.version)
