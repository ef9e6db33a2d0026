"""Reads what a version's webhooks and aggregated APIs depend on: certificates, what leads to them, whose they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from shared import kinds
from shared.api import fields
from shared.api.views import ApiService, Csv, OperatorGroup, Subscription, WebhookConfiguration
from shared.domain.csv import serving
from shared.domain.csv.health import Problem
from shared.domain.csv.overrides import config_of
from shared.domain.endpoints.certificates import StoredPair
from shared.domain.endpoints.endpoint import endpoints_of, has_served, serves
from shared.domain.endpoints.facts import Facts, named_versions, required_objects
from shared.domain.objects.ownership import owner_labels
from shared.ports import Cluster, Discovery, Keys, Listing
from shared.reading.objects import read_all


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


def unserved(csv: Csv, facts: Facts, discovery: Discovery) -> Problem | None:
    """Why the first aggregated API cannot be used yet; None when all can."""
    for api in csv.owned_services:
        if not serving.is_available(api, facts) or discovery.find(api.api_version, api.kind) is None:
            return serving.UNSERVED
    return None
