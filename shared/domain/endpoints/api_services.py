"""The APIServices of the aggregated APIs that a version serves, and to whom they belong (csv.md §7.4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from shared import names
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import ApiEntry, ApiService, Csv
from shared.domain.endpoints.naming import service_name
from shared.domain.endpoints.webhooks import encoded
from shared.domain.objects.ownership import CSV_KIND, owner_labels
from shared.domain.operator_groups.provision import BUILT_IN
from shared.kinds import API_SERVICE

_PRIORITIES: Final = {"groupPriorityMinimum": 2000, "versionPriority": 15}
_LEAVING: Final = ("Replacing", "Deleting")


def registered(csv: Csv) -> tuple[ApiEntry, ...]:
    """One entry for each APIService, which several kinds share: the last one, as in OLM (csv.md §2.1)."""
    return tuple({api.service: api for api in csv.owned_services}.values())


def desired(csv: Csv, api: ApiEntry, present: ApiService | None, *, bundle: str, annotations: ReadOnly) -> Manifest:
    """The APIService of an aggregated API whose server proves itself to who trusts `bundle`, PEM.

    Priorities and annotations (those of the Subscription's configuration) are stated when it is created only. One that
    is there may skip what `caBundle` is for, beside which the API server does not take it.
    """
    meta: Manifest = {"name": api.service, "labels": {**owner_labels(csv), names.MANAGED: "true"}}
    if present is None and annotations:
        meta["annotations"] = dict(annotations)
    service = {"namespace": csv.namespace, "name": service_name(api.deployment), "port": api.port}
    spec = {"group": api.group, "version": api.version, "service": service, "caBundle": encoded(bundle)}
    kept = _PRIORITIES if present is None else {"insecureSkipTLSVerify": None}
    identity = {"apiVersion": API_SERVICE.api_version, "kind": API_SERVICE.kind, "metadata": meta}
    return {**identity, "spec": {**spec, **kept}}


def refusal(csv: Csv, api: ApiEntry, present: ApiService | None, namespace_csvs: Iterable[Csv]) -> str:
    """Why the version must not serve an API; empty when it may. `namespace_csvs`: the versions of its namespace."""
    if api.group in BUILT_IN:
        return f"APIService {api.service} is of an API group that the API server serves itself"
    if present is None or is_adoptable(csv, present, namespace_csvs):
        return ""
    return f"pre-existing APIService {api.service} is not adoptable"


def is_adoptable(csv: Csv, present: ApiService, namespace_csvs: Iterable[Csv]) -> bool:
    """Whether an APIService is that of the version, of the one it replaces, or of one of its namespace that leaves.

    OLM also takes those of other namespaces' versions while these are being replaced: so an operator could take over
    the API of another one in the middle of an upgrade.
    """
    owner = present.labels.get(names.OWNER, "")
    if (present.labels.get(names.OWNER_KIND), present.labels.get(names.OWNER_NAMESPACE)) != (CSV_KIND, csv.namespace):
        return False
    found = [one for one in namespace_csvs if one.name == owner]
    return bool(owner) and (owner in (csv.name, csv.predecessor) or not found or found[0].phase in _LEAVING)
