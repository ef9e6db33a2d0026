"""Reads what versions claim to serve, and says which APIs each of them provides."""

from __future__ import annotations

from collections.abc import Sequence

from shared.api.views import ApiService, Csv, CustomResourceDefinition
from shared.domain.operator_groups.provision import Provision, claims, provisions
from shared.kinds import API_SERVICE, CUSTOM_RESOURCE_DEFINITION, Ref
from shared.ports import Cluster, Policy
from shared.reading.objects import read_all


def provided_apis(csvs: Sequence[Csv], cluster: Cluster, policy: Policy) -> dict[str, tuple[Provision, ...]]:
    """The APIs of each version, by its name."""
    services = ApiService.each(cluster.list(API_SERVICE) if any(map(claims, csvs)) else ())
    trusts = policy.grant_claimed_apis
    return {
        csv.name: tuple(provisions(csv, _definitions(csv, cluster), services, trusts_claims=trusts)) for csv in csvs
    }


def _definitions(csv: Csv, cluster: Cluster) -> dict[Ref, CustomResourceDefinition | None]:
    refs = [ref for ref in claims(csv) if ref.kind == CUSTOM_RESOURCE_DEFINITION.kind]
    return {ref: CustomResourceDefinition.of(found) for ref, found in read_all(cluster, refs).items()}
