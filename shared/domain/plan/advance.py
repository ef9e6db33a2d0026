"""One pass over the steps of a plan, in order, up to the first one that fails; it reads only through its arguments."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Protocol

from shared import kinds
from shared.api.manifest import Manifest, ReadOnly, name_of, namespace_of
from shared.domain.bundle.model import BadBundle
from shared.domain.crd_safety import stored
from shared.domain.csv.admission import joined
from shared.domain.go_types.decoding import check_object
from shared.domain.go_types.goscalars import MisfitError
from shared.domain.objects.install_plan import FINISHED, planned_csvs
from shared.domain.plan import crds, execution, steps
from shared.domain.plan.competition import competing
from shared.domain.plan.execution import INVALID_PLAN, Action, Place, rule_for
from shared.domain.plan.steps import Resource
from shared.domain.resolver.copies import home_of, is_copy, occupied, way_out
from shared.domain.unpack import references
from shared.domain.unpack.content import bundle_in, digest_in
from shared.domain.unpack.references import Reference
from shared.kinds import Kind, Ref
from shared.refs import misnamed


class World(Protocol):
    """The reads of the cluster that a pass makes."""

    def get(self, ref: Ref) -> Manifest | None:
        """The object, or None when it does not exist."""
        ...

    def list(self, kind: Kind, namespace: str = "") -> tuple[Manifest, ...]:
        """All objects of a kind."""
        ...


class Served(Protocol):
    """The discovery that a pass uses."""

    def find(self, api_version: str, kind: str) -> Kind | None:
        """The kind, or None when the API server does not serve it."""
        ...


class _Failure(Exception):
    """A step cannot be executed; the message says why."""


class _Invalid(_Failure):
    """No bundle may contain such an object, or no step may have such a status."""

    def __init__(self, resource: Resource) -> None:
        super().__init__(f"{INVALID_PLAN}: {resource.kind} {resource.name} cannot be a step of a plan")


class _Lost(_Failure):
    """The ConfigMap of a bundle was deleted, or has another content."""


class _Occupied(_Failure):
    """Another object has the name of the object to create, and may be deleted at any time."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The result of a pass."""

    actions: tuple[Action, ...]
    """The actions of the steps up to the one that failed; the other steps stay unchanged."""
    statuses: tuple[str, ...]
    """The status of all steps after the actions."""
    error: str = ""
    is_curable: bool = False
    """The error may go away at any time, by a change somewhere else."""
    warnings: tuple[str, ...] = ()
    """Warnings for people; they stopped no step."""
    is_bundle_lost: bool = False
    """A bundle of the plan has to be unpacked again."""


class _Pass:
    """One pass: the plan, and the objects read so far; each is read once, and only when a step needs it."""

    def __init__(self, plan: ReadOnly, world: World, served: Served, home: str) -> None:
        self.plan, self.world, self.served, self.home = plan, world, served, home
        self._bundles: dict[str, Mapping[Resource, Manifest]] = {}
        self.warnings: list[str] = []
        self.is_held = False
        """A definition is not served yet, so that this pass is not the last one: it need not read the others."""
        self._lists: dict[Kind, Mapping[str, Manifest]] = {}
        kinds_planned = Counter(Resource.stated(step).kind for step in _steps(plan))
        self._listed = {kind for kind, count in kinds_planned.items() if count > 1}

    @cached_property
    def csvs(self) -> Mapping[str, Manifest]:
        """The ClusterServiceVersions of the namespace that are not copies, by name."""
        found = self.world.list(kinds.CLUSTER_SERVICE_VERSION, namespace_of(self.plan))
        return {name_of(csv): csv for csv in found if not is_copy(csv)}

    @cached_property
    def groups(self) -> tuple[Manifest, ...]:
        """The OperatorGroups of the namespace."""
        return self.world.list(kinds.OPERATOR_GROUP, namespace_of(self.plan))

    def live(self, kind: Kind, name: str) -> Manifest | None:
        """The stored object, or None; several objects of a namespaced kind are read with one list."""
        if kind == kinds.CLUSTER_SERVICE_VERSION and name in self.csvs:
            return self.csvs[name]
        if kind.is_namespaced and kind.kind in self._listed:
            return self._all(kind).get(name)
        return kind.look_up(self.world.get, name, namespace_of(self.plan))

    def objects(self, text: str, reference: Reference) -> Mapping[Resource, Manifest]:
        """The objects of a referenced bundle."""
        if text not in self._bundles:
            self._bundles[text] = _objects(self, reference)
        return self._bundles[text]

    def _all(self, kind: Kind) -> Mapping[str, Manifest]:
        if kind not in self._lists:
            found = self.world.list(kind, namespace_of(self.plan))
            self._lists[kind] = {name_of(one): one for one in found}
        return self._lists[kind]


def _steps(plan: ReadOnly) -> Sequence[ReadOnly]:
    return (plan.get("status") or {}).get("plan") or ()


def statuses_of(plan: ReadOnly) -> tuple[str, ...]:
    """The status of each step of a plan."""
    return tuple(str(step.get("status") or "Unknown") for step in _steps(plan))


def advance(plan: ReadOnly, world: World, served: Served, *, home: str) -> Progress:
    """The actions of the next pass over a plan; `home` is the namespace from which pull secrets are copied."""
    statuses = list(statuses_of(plan))
    going, stop = _Pass(plan, world, served, home), None
    actions: list[Action] = []
    for index, step in enumerate(_steps(plan)):
        if statuses[index] in FINISHED:
            continue
        try:
            action = _act(going, step)
        except _Failure as failure:
            statuses[index] = "UnsupportedResource" if isinstance(failure, _Invalid) else statuses[index]
            stop = failure
            break
        actions.append(replace(action, index=index))
        statuses[index] = action.status
    return Progress(
        tuple(actions),
        tuple(statuses),
        error=str(stop or ""),
        is_curable=isinstance(stop, _Occupied),
        warnings=tuple(going.warnings),
        is_bundle_lost=isinstance(stop, _Lost),
    )


def _act(going: _Pass, step: ReadOnly) -> Action:
    resource = Resource.stated(step)
    place = Place(namespace_of(going.plan), name_of(going.plan), str(step.get("resolving") or ""))
    if resource.kind == crds.RULE.kind.kind:
        return _act_on_crd(going, step, resource, place)
    manifest = _manifest(going, step, resource)
    if step.get("status") == "WaitingForApi":
        return Action("Present")  # only CRDs wait, but a plan that OLM wrote may have this status on any step
    if step.get("status") not in ("Unknown", "NotPresent"):
        raise _Invalid(resource)
    if resource.kind == "Secret":
        return _copy_secret(going, resource, place)
    api_version = str(manifest.get("apiVersion") or "") or "/".join(filter(None, (resource.group, resource.version)))
    is_known = resource.kind in execution.RULES
    found = None if is_known else going.served.find(api_version, resource.kind)
    if resource.kind in execution.SUPPORTED and found is None:
        raise _Failure(execution.not_served(resource.kind, resource.name, resource.group, resource.version))
    rule = rule_for(resource.kind, found)
    if rule is None:
        raise _Invalid(resource)
    if rule.owner != "none" and not place.csv:
        raise _Failure(f"{resource.kind} {resource.name} names no ClusterServiceVersion that is to own it")
    wanted = execution.with_uids(execution.prepared(manifest, rule, place), going.csvs)
    if why := misnamed(wanted):
        raise _Failure(why)
    live = going.live(rule.kind, resource.name)
    if rule.kind == kinds.CLUSTER_SERVICE_VERSION:
        wanted = _version(going, wanted, live)
    return execution.act(wanted, live, rule)


def _version(going: _Pass, csv: Manifest, live: ReadOnly | None) -> Manifest:
    """A version as a member of its group. Only a plan made by hand contains a version that it does not name."""
    if live is not None and is_copy(live):
        raise _Occupied(f"{occupied(name_of(csv), home_of(live))}. {way_out(home_of(live))}")
    if name_of(csv) not in planned_csvs(going.plan) and (rivalry := competing(csv, going.csvs.values())):
        raise _Failure(rivalry)
    return joined(csv, going.groups)


def _act_on_crd(going: _Pass, step: ReadOnly, resource: Resource, place: Place) -> Action:
    manifest = _manifest(going, step, resource)
    is_waiting = step.get("status") == "WaitingForApi"
    if is_waiting and (apis := crds.apis(manifest)) and all(going.served.find(*api) for api in apis):
        return Action("Created")  # one discovery request covers all CRDs of a group
    if is_waiting and going.is_held:
        return Action("WaitingForApi")
    live = going.live(crds.RULE.kind, resource.name)
    if is_waiting and live is not None:
        if problem := crds.rejected(live):
            raise _Failure(problem)
        action = crds.establish(live)
        going.is_held = action.status == "WaitingForApi"
        return action
    if problem := crds.unsupported(manifest):
        raise _Failure(problem)
    if manifest["apiVersion"] != crds.RULE.kind.api_version:
        raise _Failure(execution.not_served(resource.kind, resource.name, resource.group, resource.version))
    if why := misnamed(manifest):
        raise _Failure(why)
    if live is not None:
        going.warnings += _checked(going.world, manifest, live)
    return crds.act(manifest, live, place, going.csvs.keys())


def _checked(world: World, new: Manifest, live: Manifest) -> Iterator[str]:
    """Warnings about a safe update of a CRD; _Failure when the update is not safe."""
    try:
        check_object(new, crds.RULE.kind.kind)
    except MisfitError as error:
        raise _Failure(f"error parsing step manifest: {error}") from error
    for kind in stored.to_check(live, new):
        for misfit in islice(stored.misfits(new, kind, world.list(kind)), 1):
            if not stored.converts_by_webhook(new):
                raise _Failure(misfit.sentence(new))
            yield (
                "Validation of existing CRs against the new CRD's schema failed, but a webhook conversion strategy "
                f"was specified in the new CRD. {misfit.sentence(new)}"
            )
    if risk := crds.risk(new, live):
        raise _Failure(risk)


def _copy_secret(going: _Pass, resource: Resource, place: Place) -> Action:
    """Copy a pull secret from the namespace of the global catalogs; an existing secret is not changed."""
    if kinds.SECRET.look_up(going.world.get, resource.name, place.namespace) is not None:
        return Action("Present")
    source = kinds.SECRET.look_up(going.world.get, resource.name, going.home)
    if source is None:
        raise _Failure(f'secret {resource.name} does not exist - secrets "{resource.name}" not found')
    return Action("Created", create=execution.copied(source, place))


def _manifest(going: _Pass, step: ReadOnly, resource: Resource) -> Manifest:
    text = str((step.get("resource") or {}).get("manifest") or "")
    reference = references.parse(text)
    if reference is None:
        try:
            literal = json.loads(text)
        except ValueError as error:
            raise _Failure(f"error parsing step manifest: {error}") from error
        if not isinstance(literal, dict):
            raise _Failure(f"error parsing step manifest: wanted an object, got {text}")
        return literal
    found = going.objects(text, reference).get(resource)
    if found is None:
        raise _Failure(f"couldn't find unpacked step for {resource.kind} {resource.name}")
    return found


def _objects(going: _Pass, reference: Reference) -> Mapping[Resource, Manifest]:
    where = f"{reference.namespace}/{reference.name}"
    config_map = kinds.CONFIG_MAP.look_up(going.world.get, reference.name, reference.namespace)
    if config_map is None:
        raise _Lost(f"error finding unpacked bundle configmap for ref {where}: it was deleted; while its catalog "
                    f"exists, it is unpacked again, otherwise {_way_out(going)}")  # fmt: skip
    bundle = bundle_in(config_map)
    if isinstance(bundle, BadBundle):
        raise _Failure(f"error loading unpacked bundle configmap for ref {where}: {bundle.message}")
    if reference.digest != digest_in(config_map):
        raise _Lost(f"the unpacked bundle in ConfigMap {where} is not the one that was planned: it is unpacked again; "
                    f"if its image was changed, {_way_out(going)}")  # fmt: skip
    return {Resource.of(one): one for one in steps.objects(bundle, namespace_of(going.plan), reference)}


def _way_out(going: _Pass) -> str:
    """How to get another plan: none is made for a version that exists, as that counts as installed."""
    if present := ", ".join(name for name in planned_csvs(going.plan) if name in going.csvs):
        return f"delete ClusterServiceVersion {present} and its Subscription, and create the Subscription again"
    return "delete this plan to get a new one"
