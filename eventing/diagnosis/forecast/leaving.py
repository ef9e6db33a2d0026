"""What goes with a version that is replaced: what it alone owns, and what carries its labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eventing.diagnosis.forecast.present_objects import PresentObjects
from shared import kinds
from shared.api.manifest import Manifest, without_content
from shared.api.views import Csv, InstallPlan, Object
from shared.domain.objects.ownership import is_labelled_for, owner_labels
from shared.kinds import BY_IDENTITY, Ref

_NAMESPACED: Final = (
    kinds.DEPLOYMENT, kinds.OPERATOR_CONDITION, kinds.SERVICE_ACCOUNT, kinds.ROLE, kinds.ROLE_BINDING, kinds.SERVICE,
    kinds.CONFIG_MAP,
)  # fmt: skip
_CLUSTER_SCOPED: Final = (
    kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING, kinds.API_SERVICE, *kinds.WEBHOOK_CONFIGURATIONS,
)  # fmt: skip
_NAMED_ALIKE: Final = (kinds.OPERATOR_CONDITION.kind, kinds.ROLE.kind, kinds.ROLE_BINDING.kind)
"""What has the name of its version."""
_PLANNED: Final = (None, kinds.SECRET, kinds.NETWORK_POLICY)
"""What only plans name: Secrets, and the kinds that not every operator has."""
_OWNERS: Final = (kinds.CLUSTER_SERVICE_VERSION.kind, kinds.OPERATOR_CONDITION.kind)


def leaving(csv: Csv, present: PresentObjects) -> Iterator[Manifest]:
    """The objects of a version that is deleted, and the version, last; Secrets as its plan names them, without data."""
    for kind in _NAMESPACED:
        yield from (one for one in present.all_of(kind, present.namespace) if is_of(Object(one), csv))
    for kind in _CLUSTER_SCOPED:
        yield from present.all_of(kind, labels=owner_labels(csv))
    planned = present.read(list(_planned(csv, present)))
    yield from (without_content(one) for one in planned if is_of(Object(one), csv))
    yield dict(csv.raw)


def is_of(one: Object, csv: Csv) -> bool:
    """Whether nobody but the version, or its OperatorCondition, owns an object; without owners its labels say it."""
    if one.owners:
        return all(each.kind in _OWNERS and each.name == csv.name for each in one.owners)
    return is_labelled_for(one, csv) or (one.kind in _NAMED_ALIKE and one.name == csv.name)


def _planned(csv: Csv, present: PresentObjects) -> Iterator[Ref]:
    """What the plans of the version wrote of kinds that are not listed."""
    for plan in InstallPlan.each(present.all_of(kinds.INSTALL_PLAN, present.namespace)):
        for step in plan.steps:
            kind = "Secret" if step.kind == "BundleSecret" else step.kind
            api_version = "/".join(filter(None, (step.group, step.version)))
            if step.csv != csv.name or BY_IDENTITY.get((api_version, kind)) not in _PLANNED:
                continue
            found = present.kind_of({"apiVersion": api_version, "kind": kind})
            if found and (ref := found.ref_or_none(step.name, present.namespace if found.is_namespaced else "")):
                yield ref
