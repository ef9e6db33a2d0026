"""What some versions would do to a namespace: each object before and after, and what stands in the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from eventing.diagnosis.forecast.account import Lacking
from eventing.diagnosis.forecast.checks import CHECKS, Check, Finding, Version, check_account
from eventing.diagnosis.forecast.leaving import leaving
from eventing.diagnosis.forecast.present_objects import PresentObjects, definitions
from eventing.diagnosis.forecast.version_objects import installed_objects, our_objects
from eventing.diagnosis.status.siblings import doubled, package_of, siblings
from shared import kinds
from shared.api.manifest import Manifest, name_of
from shared.api.views import Csv, CustomResourceDefinition, Namespace, OperatorGroup, Subscription
from shared.domain.csv.admission import joined
from shared.domain.endpoints.outline import converted
from shared.domain.extension.outlook import Change, Effect, changes, differences, identity_of
from shared.domain.extension.scopes import group_kind
from shared.domain.operator_groups import targets
from shared.domain.plan import crds
from shared.domain.plan.execution import RULES, StepOwner
from shared.policy import Policy

_WHOLE: Final = {kinds.CONFIG_MAP.kind: ("data", "binaryData"), kinds.SECRET.kind: ("data", "stringData")}
"""Fields that a plan replaces as they are: the API server adds nothing to them."""
_NOT_UPDATED: Final = {(one.kind.group, one.kind.kind) for one in RULES.values() if not one.is_updated}
"""Kinds that a plan only creates: an object that is there stays as it is."""
_MOST_NAMED: Final = 10


@dataclass(frozen=True, slots=True)
class Upcoming:
    """A version that was chosen, as its bundle has it."""

    steps: Sequence[Manifest]
    """The objects of its plan, the version among them."""
    served: Sequence[Manifest]
    """What leads the API server to its webhooks and aggregated APIs."""
    replaces: str
    subscribers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forecast:
    """What would happen."""

    changes: tuple[Change, ...]
    permissions: tuple[Mapping[str, Any], ...]
    findings: tuple[Finding, ...]

    @property
    def lacking(self) -> tuple[Lacking, ...]:
        """What the account of the group lacks."""
        return tuple(each for one in self.findings for each in one.lacking)


def forecast(
    upcoming: Iterable[Upcoming], present: PresentObjects, policy: Policy, checks: Sequence[Check] = CHECKS
) -> Forecast:
    """What the versions would do, one after the other."""
    group = _with_targets(present.group(), present)
    found: list[Change] = []
    findings: dict[Finding, None] = {}
    permissions: list[Mapping[str, Any]] = []
    for one in upcoming:
        version, changed = _version(one, group, present)
        found += changed
        permissions += _permissions(version)
        checked = [each for check in checks for each in check(version, present, policy)]
        hidden = (Finding("remark", text) for text in present.unknown([*version.steps, *version.installed]))
        findings |= dict.fromkeys((*checked, *_copies(version, present), *_doubled(version, present), *hidden))
    findings |= dict.fromkeys(Finding("unknown", text) for text in present.refused)
    return Forecast(tuple(found), tuple(permissions), tuple(findings))


def lacking_of_versions(csvs: Iterable[Csv], present: PresentObjects, policy: Policy) -> Iterator[Lacking]:
    """What the account of the group lacks to install versions that are there."""
    group = _with_targets(present.group(), present)
    for one in csvs:
        version, _ = _version(Upcoming([dict(one.raw)], (), "", ()), group, present)
        found = check_account(replace(version, steps=()), present, policy)
        yield from (each for one in found for each in one.lacking)


def _version(one: Upcoming, group: OperatorGroup | None, present: PresentObjects) -> tuple[Version, list[Change]]:
    """A version as it would be, and what that changes."""
    groups = [group] if group else []
    is_csv = [each["kind"] == kinds.CLUSTER_SERVICE_VERSION.kind for each in one.steps]
    csv = Csv(joined(Csv(next(each for each, is_it in zip(one.steps, is_csv, strict=True) if is_it)), groups))
    steps = [dict(csv.raw) if is_it else each for each, is_it in zip(one.steps, is_csv, strict=True)]
    subscriptions = _about_to_install(csv, one, present)
    installed = [*one.served, *installed_objects(csv, group, subscriptions)]
    known = {name_of(each): each for each in (*definitions(present.objects), *definitions(steps))}
    ours = list(our_objects(csv, known))
    desired = [*steps, *installed, *ours]
    before = {identity_of(each): each for each in present.present(desired)}
    version = Version(csv, steps, installed, group, before)
    return version, [*_changes(version, desired), *_removed(one, desired, present)]


def _about_to_install(csv: Csv, one: Upcoming, present: PresentObjects) -> list[Subscription]:
    """The Subscriptions that the version is for, as they will be: their configuration reaches its Deployments."""
    found = present.all_of(kinds.SUBSCRIPTION, present.namespace)
    mine = (each for each in found if name_of(each) in one.subscribers)
    return [Subscription({**each, "status": {"currentCSV": csv.name}}) for each in mine]


def _changes(version: Version, desired: Sequence[Manifest]) -> Iterator[Change]:
    """What happens to each object; a definition that exists becomes what the plan makes of it."""
    of_definitions = {identity_of(one): _definition(one, version) for one in definitions(desired)}
    for change in changes(version.before.values(), desired):
        identity = identity_of(change.manifest)
        before = version.before.get(identity)
        if change.effect is Effect.REMOVE:
            continue  # it is what was read, and not what goes
        if identity in of_definitions:
            yield of_definitions[identity]
        elif before is not None:
            yield _replaced(change, before)
        else:
            yield change


def _definition(new: Manifest, version: Version) -> Change:
    """A definition as the plan makes it, with the conversion that the version gives it."""
    live = CustomResourceDefinition.of(version.before.get(identity_of(new)))
    owner = StepOwner(version.csv.namespace, "", version.csv.name)
    action = crds.act(converted(version.csv, new), live, owner, ())
    if live is None:
        return Change(Effect.CREATE, action.create or new)
    written = action.replace or live.raw
    if not crds.changes(written, live.raw):
        return Change(Effect.KEEP, new)
    before, after = crds.defined(live.raw), crds.defined(written)
    return Change(Effect.CHANGE, written, tuple(differences(before, after, "spec", is_whole=True)))


def _replaced(change: Change, before: Manifest) -> Change:
    """The same change with the entries that go; what differs in nothing that is wanted stays, or is not updated."""
    fields = _WHOLE.get(str(change.manifest.get("kind")), ())
    whole = [one for name in fields for one in _of_field(change, before, name)]
    others = [one for one in change.differs if one.path.partition(".")[0] not in fields]
    if group_kind(change.manifest) in _NOT_UPDATED or not (whole or others):
        return replace(change, effect=Effect.KEEP, differs=())
    return replace(change, effect=Effect.CHANGE, differs=(*others, *whole))


def _of_field(change: Change, before: Manifest, name: str) -> Iterator[Any]:
    yield from differences(before.get(name) or {}, change.manifest.get(name) or {}, name, is_whole=True)


def _removed(one: Upcoming, desired: Sequence[Manifest], present: PresentObjects) -> Iterator[Change]:
    """What goes with the version that is replaced."""
    kept = set(map(identity_of, desired))
    seen: set[tuple[str, ...]] = set()
    for csv in Csv.each(present.csvs()):
        for each in leaving(csv, present) if one.replaces and csv.name == one.replaces else ():
            identity = identity_of(each)
            if identity not in kept and identity not in seen:
                seen.add(identity)
                yield Change(Effect.REMOVE, each)


def _permissions(version: Version) -> Iterator[Mapping[str, Any]]:
    for one in (*version.steps, *version.installed):
        if one.get("kind") in (kinds.ROLE.kind, kinds.CLUSTER_ROLE.kind):
            yield {"kind": one["kind"], "name": name_of(one), "rules": one.get("rules")}


def _copies(version: Version, present: PresentObjects) -> Iterator[Finding]:
    """The namespaces that get a copy of the version."""
    group = version.group
    selected = group.selected if group else None
    if group is None or selected is None:
        return
    others = [one for one in selected if one not in ("", group.namespace)]
    if "" in selected:
        others = sorted({name_of(one) for one in present.all_of(kinds.NAMESPACE)} - {group.namespace})
    if others:
        named = ", ".join(others[:_MOST_NAMED]) + (", …" if len(others) > _MOST_NAMED else "")
        yield Finding("remark", f"{version.csv.name} is copied to {len(others)} namespaces: {named}")


def _doubled(version: Version, present: PresentObjects) -> Iterator[Finding]:
    """Other versions of its package that another namespace installed for this one, too."""
    package, name = package_of(version.csv), version.csv.name
    for one in siblings(package, Csv.each(present.csvs()), name):
        yield Finding("remark", doubled(one, name))


def _with_targets(group: OperatorGroup | None, present: PresentObjects) -> OperatorGroup | None:
    """The group with the namespaces that it selects, by its spec where its status does not say so yet."""
    if group is None or group.selected is not None:
        return group
    namespaces = Namespace.each(present.all_of(kinds.NAMESPACE) if targets.needs_namespaces(group) else ())
    selected = targets.selection(group, namespaces)
    if not selected:
        return group
    return OperatorGroup({**group.raw, "status": {**group.status, "namespaces": list(selected)}})
