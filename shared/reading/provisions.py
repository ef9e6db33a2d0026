"""Reads what versions claim to serve, and says which APIs each of them provides."""

from __future__ import annotations

from collections.abc import Sequence

from shared.api.views import ApiService, Csv, CustomResourceDefinition
from shared.domain.operator_groups.provision import Provision, aggregated, claims, provisions
from shared.kinds import API_SERVICE, Ref
from shared.ports import Cluster, Policy
from shared.reading.objects import read_all


def provisions_of(csvs: Sequence[Csv], cluster: Cluster, policy: Policy) -> dict[str, tuple[Provision, ...]]:
    """The APIs of each version, by its name; it asks only for what the answer depends on."""
    trusts = policy.grant_claimed_apis
    needs_services = any(claims(csv) or (trusts and aggregated(csv)) for csv in csvs)
    services = ApiService.each(cluster.list(API_SERVICE) if needs_services else ())
    return {
        csv.name: tuple(provisions(csv, _definitions(csv, cluster), services, trusts_claims=trusts)) for csv in csvs
    }


def _definitions(csv: Csv, cluster: Cluster) -> dict[Ref, CustomResourceDefinition | None]:
    return {ref: CustomResourceDefinition.of(found) for ref, found in read_all(cluster, claims(csv)).items()}
