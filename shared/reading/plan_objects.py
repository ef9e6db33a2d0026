"""The objects that one pass over a plan needs; each is read once, and only when a step needs it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from shared import kinds
from shared.api.manifest import Manifest, ReadOnly, name_of
from shared.api.views import ConfigMap, Csv, InstallPlan, Object, OperatorGroup, PlanStep, Role
from shared.domain.bundle.model import BadBundle
from shared.domain.objects.ownership import not_taken
from shared.domain.plan import steps
from shared.domain.plan.execution import RULES, Action
from shared.domain.plan.steps import Resource
from shared.domain.unpack import references
from shared.domain.unpack.content import bundle_in, digest_in
from shared.domain.unpack.references import Reference
from shared.kinds import Kind
from shared.ports import Attempt, Cluster, Discovery, Policy
from shared.reading.acting import ActingReads
from shared.reading.authors import Bound


@dataclass(frozen=True, slots=True)
class Sources:
    """What a pass over a plan reads."""

    cluster: Cluster
    """With our own rights: versions and groups of the namespace, bundles, definitions."""
    acting: ActingReads
    """With the rights of whoever carries out the plan: all other objects."""
    discovery: Discovery
    policy: Policy
    attempt: Attempt
    """What the API server has just refused: the step that writes that cannot be carried out now."""
    bound: Bound | None = None
    """The authors beyond whose rights nothing is done; None where the namespace asks for none."""


_ROLES = (kinds.ROLE.kind, kinds.CLUSTER_ROLE.kind)


class StepFailed(Exception):
    """A step cannot be executed; the message says why."""


class BundleLost(StepFailed):
    """The ConfigMap of a bundle was deleted, or has another content."""


class Denial(StepFailed):
    """The account lacks a right, which may be granted at any time."""


class NotTaken(StepFailed):
    """OLM v1 controls an object that a step would write: nothing of the plan is written while it does."""


def check_taken(action: Action, live: ReadOnly | None) -> Action:
    """The action. NotTaken when it changes an object that OLM v1 controls."""
    if live is not None and (action.replace or action.patch) and (why := not_taken(Object(live))):
        raise NotTaken(why)
    return action


class PlanObjects:
    """The versions, groups, stored objects and unpacked bundles that the steps of a plan name."""

    def __init__(self, plan: InstallPlan, sources: Sources) -> None:
        self.plan, self.cluster, self.acting, self.namespace = plan, sources.cluster, sources.acting, plan.namespace
        self._bundles: dict[str, Mapping[Resource, Manifest]] = {}
        self._lists: dict[Kind, Mapping[str, Manifest] | None] = {}
        kinds_planned = Counter(Resource.of_step(step).kind for step in plan.steps)
        self._listed = {kind for kind, count in kinds_planned.items() if count > 1}

    @cached_property
    def csvs(self) -> Mapping[str, Csv]:
        """The ClusterServiceVersions of the namespace that are not copies, by name."""
        found = Csv.each(self.cluster.list(kinds.CLUSTER_SERVICE_VERSION, self.namespace))
        return {csv.name: csv for csv in found if not csv.is_copy}

    @cached_property
    def groups(self) -> tuple[OperatorGroup, ...]:
        """The OperatorGroups of the namespace."""
        return OperatorGroup.each(self.cluster.list(kinds.OPERATOR_GROUP, self.namespace))

    @cached_property
    def rules(self) -> Mapping[tuple[str, str], tuple[ReadOnly, ...]]:
        """The rules of the roles that the plan writes, by kind and name, but for those that others fill in."""
        found: dict[tuple[str, str], tuple[ReadOnly, ...]] = {}
        for step in self.plan.steps:
            if step.kind in _ROLES and not (role := Role(self.manifest(step, Resource.of_step(step)))).is_aggregated:
                key = step.kind, role.name
                found[key] = (*found.get(key, ()), *role.rules)
        return found

    def live(self, kind: Kind, name: str) -> ReadOnly | None:
        """The stored object, or None; several objects of a namespaced kind are read with one list.

        With an account it is what the account may see.
        """
        if self.acting.account is None and kind == kinds.CLUSTER_SERVICE_VERSION and name in self.csvs:
            return self.csvs[name].raw
        if kind.is_namespaced and kind.kind in self._listed and (found := self._all(kind)) is not None:
            return found.get(name)
        return kind.look_up(self.acting.get, name, self.namespace)

    def manifest(self, step: PlanStep, resource: Resource) -> Manifest:
        """The object of a step: in the plan itself, or in the unpacked bundle that it refers to. StepFailed."""
        text = step.manifest
        reference = references.parse(text)
        if reference is None:
            return _literal(text)
        if text not in self._bundles:
            self._bundles[text] = self._bundle(reference)
        found = self._bundles[text].get(resource)
        if found is None:
            raise StepFailed(f"couldn't find unpacked step for {resource.kind} {resource.name}")
        return found

    def _all(self, kind: Kind) -> Mapping[str, Manifest] | None:
        """The objects of a kind by name; what else will be listed for this plan is asked for with the first list.

        None when they may not be listed.
        """
        if kind not in self._lists:
            later = (rule.kind for name, rule in RULES.items() if name in self._listed and rule.kind.is_namespaced)
            asked = sorted({kind, *later} - self._lists.keys())
            for one, found in zip(asked, self.acting.list_all(asked, self.namespace), strict=True):
                self._lists[one] = None if found is None else {name_of(each): each for each in found}
        return self._lists[kind]

    def _bundle(self, reference: Reference) -> Mapping[Resource, Manifest]:
        """The objects of a referenced bundle. StepFailed when it is bad, BundleLost when it is another one."""
        where = f"{reference.namespace}/{reference.name}"
        config_map = ConfigMap.of(kinds.CONFIG_MAP.look_up(self.cluster.get, reference.name, reference.namespace))
        if config_map is None:
            raise BundleLost(f"error finding unpacked bundle configmap for ref {where}: it was deleted; while its "
                             f"catalog exists, it is unpacked again, otherwise {self._fix()}")  # fmt: skip
        bundle = bundle_in(config_map)
        if isinstance(bundle, BadBundle):
            raise StepFailed(f"error loading unpacked bundle configmap for ref {where}: {bundle.message}")
        if reference.digest != digest_in(config_map):
            raise BundleLost(f"the unpacked bundle in ConfigMap {where} is not the one that was planned: it is "
                             f"unpacked again; if its image was changed, {self._fix()}")  # fmt: skip
        return {Resource.of(one): one for one in steps.objects(bundle, self.namespace, reference)}

    def _fix(self) -> str:
        """How to get another plan: none is made for a version that exists, as that counts as installed."""
        if present := ", ".join(name for name in self.plan.csvs if name in self.csvs):
            return f"delete ClusterServiceVersion {present} and its Subscription, and create the Subscription again"
        return "delete this plan to get a new one"


def _literal(text: str) -> Manifest:
    """An object that stands in the plan itself."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise StepFailed(f"error parsing step manifest: {error}") from error
    if not isinstance(found, dict):
        raise StepFailed(f"error parsing step manifest: wanted an object, got {text}")
    return found
