"""What a version leaves behind in the cluster when it goes, and what of it is taken back (csv.md §3.1, §3.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shared import kinds, names
from shared.api.manifest import Manifest
from shared.api.views import Csv, Object, RoleBinding
from shared.domain.endpoints import conversion, sharing
from shared.domain.endpoints.changes import Change
from shared.domain.endpoints.endpoint import Endpoint, endpoints_of
from shared.domain.endpoints.facts import Facts
from shared.domain.endpoints.naming import service_name
from shared.domain.objects.ownership import is_labelled_for

_OWNER = (names.OWNER, names.OWNER_NAMESPACE, names.OWNER_KIND)


def taken_back(csv: Csv, facts: Facts) -> Iterator[Change | Object]:
    """What a version that goes gives up: changes of what others may share; as an object what nobody else shares."""
    yield from _conversions(csv, facts)
    yield from permissions(csv, facts, endpoints_of(csv))


def permissions(csv: Csv, facts: Facts, endpoints: Iterable[Endpoint]) -> Iterator[Change | Object]:
    """The rights of Deployments of the version that serve no longer, unless another version has the same ones."""
    for endpoint in (one for one in endpoints if one.account not in accounts_of_others(csv, one, facts)):
        for found in RoleBinding.each(filter(None, map(facts.objects.get, sharing.bindings(endpoint.service)))):
            left = sharing.without(found, endpoint)
            is_of_others = left and len(left) == len(found.subjects)
            if sharing.is_ours(found) and not (is_of_others or found.is_deleted):
                yield _given_up(csv, found, left) if left else found


def accounts_of_others(csv: Csv, endpoint: Endpoint, facts: Facts) -> frozenset[str]:
    """The accounts with which other living versions of the namespace run the Deployment."""
    living = (other for other in facts.namespace_csvs if _lives(other, csv))
    found = (one for other in living for one in endpoints_of(other))
    return frozenset(one.account for one in found if one.deployment == endpoint.deployment)


def _lives(other: Csv, csv: Csv) -> bool:
    return other.name != csv.name and not other.is_copy and not other.is_deleted


def _conversions(csv: Csv, facts: Facts) -> Iterator[Change]:
    """The end of conversions by this version, unless another one of its namespace has the same."""
    kept = conversion.kept_by_others(csv, facts.namespace_csvs)
    for hook, name in conversion.conversions(csv):
        found = facts.definition(name)
        if name not in kept and found and conversion.is_served_by(csv, {service_name(hook.deployment)}, found):
            yield _change(found, conversion.ENDED)


def _given_up(csv: Csv, found: Object, left: list[Manifest]) -> Change:
    """Others keep the right, and it is labelled for nobody who goes."""
    labels = {"metadata": {"labels": dict.fromkeys(_OWNER)}} if is_labelled_for(found, csv) else {}
    return _change(found, {"subjects": left, **labels})


def _change(found: Object, patch: Manifest) -> Change:
    ref = kinds.BY_IDENTITY[found.api_version, found.kind].ref(found.name, found.namespace)
    return Change(ref, dict(found.raw), patch, found.resource_version)
