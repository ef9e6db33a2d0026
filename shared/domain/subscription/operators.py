"""The Operator of what carries one component label: its name, and what its status says (csv.md §12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from shared import kinds, names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, instant
from shared.api.views import Csv, CustomResourceDefinition, Object, Subscription
from shared.domain.endpoints.owning import is_named
from shared.domain.objects.ownership import is_labelled_for, is_owned_by
from shared.domain.subscription.conditions import BUNDLE_UNPACKING
from shared.domain.subscription.state import PENDING
from shared.domain.syntax import QUALIFIED_NAME
from shared.kinds import Ref

WHOLE: Final = (
    kinds.DEPLOYMENT, kinds.SERVICE, kinds.NAMESPACE, kinds.API_SERVICE, kinds.CUSTOM_RESOURCE_DEFINITION,
    kinds.SUBSCRIPTION, kinds.INSTALL_PLAN, kinds.CLUSTER_SERVICE_VERSION, kinds.OPERATOR_CONDITION,
)  # fmt: skip
"""Kinds of components that say how they are."""
BARE: Final = (kinds.CONFIG_MAP, kinds.SERVICE_ACCOUNT, *kinds.RBAC)
"""Kinds of components of which nothing but the name is read. Secrets are left out: a right to list shows them whole."""
MOST: Final = 1_000
"""Components of one Operator that are listed: anybody may label what is his, and an object has an end."""
MOST_CONDITIONS: Final = 16
LONGEST: Final = 1_024
"""Characters of a reason or message of a condition."""
MOST_TEXT: Final = 256 * 1_024
"""Characters of all conditions together: an object has an end, and people write conditions of any length."""
MOST_OPERATORS: Final = 16
"""Operators that one object is a component of: whoever may label it wakes a step for each."""
INSTALLING: Final = (kinds.SUBSCRIPTION, kinds.CLUSTER_SERVICE_VERSION)
"""Kinds of components that say that an installation is under way."""
INSTALL_PAUSE: Final = timedelta(seconds=30)
"""How long nothing is told of an installation that goes on: each of its steps changes a component."""
_INSTALLING_PHASES: Final = ("", "Pending", "InstallReady", "Installing")
"""Phases of a version that is being installed."""
_STATUSES: Final = ("True", "False", "Unknown")
_TEXTS: Final = ("reason", "message")
_TIMES: Final = ("lastUpdateTime", "lastTransitionTime")


def key(name: str) -> str:
    """The key of the label of an Operator's components; empty when no label can have it."""
    return names.COMPONENT_PREFIX + name if QUALIFIED_NAME.fits(name) else ""


def operator(name: str) -> Manifest:
    """A new Operator, marked as ours: one that somebody else writes stays without components, too."""
    kind = kinds.OPERATOR
    meta = {"name": name, "labels": {names.MANAGED: "true"}}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": {}}


def emptied(found: Iterable[Object]) -> Iterator[Object]:
    """The Operators of our making whose last component is gone."""
    return (one for one in found if one.labels.get(names.MANAGED) == "true" and not refs_of(one.status))


def status(present: ReadOnly, name: str, found: Iterable[Object], bare: Iterable[Ref]) -> Manifest:
    """What the status has to be: `present` with the components; copies of a version are none."""
    components = (one for one in found if not (_is_version(one) and Csv(one.raw).is_copy))
    described = [(Ref.of(one.raw), [*islice(_conditions(one), MOST_CONDITIONS)]) for one in components]
    listed = sorted(
        [*described, *((ref, []) for ref in bare)], key=lambda one: (_distance(one[0], name), *_order(one[0]))
    )
    refs = [_described(*one) for one in sorted(_short(listed[:MOST]), key=lambda one: _order(one[0]))]
    selector = {"matchExpressions": [{"key": key(name), "operator": "Exists"}]}
    listing: Manifest = {"labelSelector": selector} | ({"refs": refs} if refs else {})
    return {**present, "components": listing}


def wait_for_install(name: str, found: Iterable[Object], now: datetime) -> timedelta | None:
    """How long to wait for the installation to which these components belong; None when none has just gone on.

    Those in other namespaces do not count: whoever labels what is his keeps no other Operator from being told.
    """
    near = (one for one in found if _distance(Ref.of(one.raw), name) == 0)
    moments = filter(None, map(_installing_since, near))
    ages = (now - one for one in moments if one <= now)  # what is yet to come is an error of whoever wrote it
    youngest = min(ages, default=INSTALL_PAUSE)
    return INSTALL_PAUSE - youngest if youngest < INSTALL_PAUSE else None


def _installing_since(component: Object) -> datetime | None:
    """When an installation went on that is not over; None where none is under way."""
    if _is_version(component):
        csv = Csv(component.raw)
        return csv.since or csv.created if csv.phase in _INSTALLING_PHASES and not csv.is_copy else None
    subscription = Subscription(component.raw)
    is_over = subscription.state != PENDING and not subscription.condition(BUNDLE_UNPACKING).is_true
    return None if is_over else fields.moment(subscription.status, "lastUpdated")


def is_current(present: ReadOnly, desired: ReadOnly) -> bool:
    """Whether a status says what it has to; the name and the time of a ReplicaSet that is rolled out may be older.

    Every change of a template makes a ReplicaSet: that is how a Deployment works, not how it is.
    """
    return _compared(present) == _compared(desired)


def _compared(status: ReadOnly) -> ReadOnly:
    refs = [{**one, "conditions": [*map(_lasting, fields.parts(one, "conditions"))]} for one in refs_of(status)]
    return {**status, "components": {**fields.part(status, "components"), "refs": refs}}


def _lasting(condition: ReadOnly) -> ReadOnly:
    if fields.text(condition, "reason") != names.ROLLED_OUT:
        return condition
    return {name: value for name, value in condition.items() if name not in ("message", "lastUpdateTime")}


def _order(ref: Ref) -> tuple[str, ...]:
    return ref.kind, ref.api_version, ref.namespace, ref.name


def _distance(ref: Ref, name: str) -> int:
    """How far a component is from the namespace of the Operator, which its name ends with: near ones are listed first.

    Else whoever may write objects in any namespace could crowd out those that belong there.
    """
    if not ref.namespace:
        return 1
    return 0 if name.endswith(f".{ref.namespace}") else 2


def _short(listed: Iterable[tuple[Ref, list[Manifest]]]) -> Iterator[tuple[Ref, list[Manifest]]]:
    """The components, with conditions as long as there is room for them."""
    room = MOST_TEXT
    for ref, conditions in listed:
        room -= sum(len(str(text)) for one in conditions for text in one.values())
        yield ref, conditions if room >= 0 else []


def refs_of(status: ReadOnly) -> tuple[ReadOnly, ...]:
    """The components that a status lists."""
    return fields.parts(status, "components", "refs")


def _is_version(component: Object) -> bool:
    return component.kind == kinds.CLUSTER_SERVICE_VERSION.kind


def _described(ref: Ref, conditions: list[Manifest]) -> Manifest:
    place = {"namespace": ref.namespace} if ref.namespace else {}
    described = {"conditions": conditions} if conditions else {}
    return {"apiVersion": ref.api_version, "kind": ref.kind, "name": ref.name, **place, **described}


def _conditions(component: Object) -> Iterator[Manifest]:
    if _is_version(component):
        if phase := fields.text(component.status, "phase"):
            yield {"type": phase, "status": "True", **_details(component.status)}
        return
    for one in component.conditions:
        if one.type and one.status in _STATUSES:
            yield {"type": one.type[:LONGEST], "status": one.status, **_details(one.raw)}


def _details(condition: ReadOnly) -> Manifest:
    """What the definition of an Operator has room for; an object of somebody else's definition may say anything."""
    texts = {name: text[:LONGEST] for name in _TEXTS if (text := fields.text(condition, name))}
    return texts | {name: text for name in _TIMES if instant(text := fields.text(condition, name))}


def names_of(labels: Iterable[str]) -> tuple[str, ...]:
    """The names of the Operators that an object is a component of, by the keys of its labels."""
    found = sorted(one.removeprefix(names.COMPONENT_PREFIX) for one in labels if one.startswith(names.COMPONENT_PREFIX))
    return tuple(one for one in found if kinds.OPERATOR.ref_or_none(one))[:MOST_OPERATORS]


def adoptable(csv: Csv, found: Iterable[Object]) -> Iterator[tuple[Ref, Manifest]]:
    """The objects that belong to a version and lack its component labels, each with the patch that adds them."""
    keys = [key(name) for name in names_of(csv.labels)]
    for one in found:
        missing = {label: "" for label in keys if label not in one.labels}
        if missing and not one.is_deleted and _belongs(one, csv):
            yield Ref.of(one.raw), {"metadata": {"labels": missing}}


def _belongs(one: Object, csv: Csv) -> bool:
    if one.kind == kinds.CUSTOM_RESOURCE_DEFINITION.kind:
        return is_named(csv, CustomResourceDefinition(one.raw))
    return is_owned_by(one, csv) or is_labelled_for(one, csv)
