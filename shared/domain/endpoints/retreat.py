"""What a version leaves behind in the cluster when it goes, and what of it is taken back (csv.md §3.1, §3.5)."""

from __future__ import annotations

from collections.abc import Iterator

from shared import kinds, names
from shared.api.manifest import Manifest
from shared.api.views import Csv, Object, RoleBinding
from shared.domain.endpoints import conversion, naming, objects
from shared.domain.endpoints.changes import Change
from shared.domain.endpoints.endpoint import endpoints_of
from shared.domain.endpoints.facts import Facts
from shared.domain.endpoints.naming import service_name
from shared.domain.objects.ownership import is_labelled_for

_OWNER = (names.OWNER, names.OWNER_NAMESPACE, names.OWNER_KIND)


def taken_back(csv: Csv, facts: Facts) -> Iterator[Change | Object]:
    """Conversions and rights that others may share, as changes; as an object what nobody else shares."""
    yield from _conversions(csv, facts)
    living = (other for other in facts.neighbours if _lives(other, csv))
    heirs = {(one.deployment, one.account) for other in living for one in endpoints_of(other)}
    for endpoint in endpoints_of(csv):
        if (endpoint.deployment, endpoint.account) in heirs:
            continue
        name = endpoint.deployment
        for found in (
            facts.find(kinds.CLUSTER_ROLE_BINDING, RoleBinding, naming.delegator_name(name)),
            facts.find(kinds.ROLE_BINDING, RoleBinding, naming.reader_name(name), objects.SYSTEM),
        ):
            if found and not found.is_deleted:
                left = objects.without(found, endpoint)
                if not left:
                    yield found
                elif len(left) < len(found.subjects):
                    yield _given_up(csv, found, left)


def is_shared(found: Object) -> bool:
    """Whether a binding gives a right to others than the namespace of the version that it is labelled for."""
    home, subjects = found.labels.get(names.OWNER_NAMESPACE), RoleBinding(found.raw).subjects
    is_delegator = found.kind == kinds.CLUSTER_ROLE_BINDING.kind and found.name.endswith(naming.DELEGATOR)
    return is_delegator and any(one.namespace != home for one in subjects)


def _lives(other: Csv, csv: Csv) -> bool:
    return other.name != csv.name and not other.is_copy and not other.is_deleted


def _conversions(csv: Csv, facts: Facts) -> Iterator[Change]:
    """The end of conversions by this version, unless another one of its namespace has the same."""
    kept = conversion.kept_by_others(csv, facts.neighbours)
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
