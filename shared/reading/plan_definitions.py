"""The definitions of a plan: created, or changed where nothing that is stored in them would be lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from shared import kinds
from shared.api.manifest import Manifest
from shared.api.views import Csv, CustomResourceDefinition, PlanStep
from shared.domain.crd_safety import stored
from shared.domain.endpoints.conversion import conversions
from shared.domain.objects.install_plan import FINISHED
from shared.domain.plan import crds, execution, safety
from shared.domain.plan.execution import Action, StepOwner
from shared.domain.plan.safety import Safety
from shared.domain.plan.steps import Resource
from shared.kinds import Kind
from shared.ports import Denied
from shared.reading.plan_objects import Denial, PlanObjects, Sources, StepFailed, check_taken
from shared.refs import misnamed

_Listed: TypeAlias = Callable[[Kind], tuple[Manifest, ...] | Denied]
_WAITING = "WaitingForApi"


class PlanDefinitions:
    """The definitions of one pass over a plan; each is read and judged once."""

    def __init__(self, objects: PlanObjects, sources: Sources) -> None:
        self._objects, self._sources, self._namespace = objects, sources, objects.namespace
        self._live: dict[str, CustomResourceDefinition | None] = {}
        self._judged: dict[tuple[str, str, str], Safety] = {}
        """By what each step brings: two bundles of a plan may describe one definition in two ways."""
        self._is_one_waiting = False
        """A definition is not served yet, so that this pass is not the last one: it need not read the others."""

    def safety(self, steps: Iterable[PlanStep]) -> Safety:
        """What the steps that are left do to what is stored. Denial when that may not be looked at.

        What else is wrong with a step is told when its turn comes.
        """
        return sum(self._safeties(steps), Safety())

    def _safeties(self, steps: Iterable[PlanStep]) -> Iterator[Safety]:
        for step in steps:
            resource = Resource.of_step(step)
            if resource.kind != crds.RULE.kind.kind or step.status in (*FINISHED, _WAITING):
                continue
            try:
                manifest = self._manifest(step, resource)
                live = self._found(resource.name)
                if live is not None:
                    yield self._safety(step, manifest, live)
            except Denial:
                raise
            except StepFailed:
                continue

    def act(self, step: PlanStep, resource: Resource, owner: StepOwner) -> tuple[Action, Safety]:
        """The action of a step, and what it does to what is stored. StepFailed when that would be lost."""
        if step.status == _WAITING and (action := self._served(step, resource)):
            return action, Safety()
        manifest, live = self._manifest(step, resource), self._found(resource.name)
        is_converted = live is not None and self._is_converted(live, owner.csv)
        action = crds.act(manifest, live, owner, self._objects.csvs.keys(), is_converted=is_converted)
        if live is None:
            return action, Safety()
        if self._is_guest(live):
            action = crds.as_a_guest(action, live.raw)
        check_taken(action, live.raw)
        if action.replace is None:
            return action, Safety()
        found = self._safety(step, manifest, live)
        if found.problems:
            raise StepFailed(found.refusal)
        return action, found

    def _served(self, step: PlanStep, resource: Resource) -> Action | None:
        """The action for a definition that was created; None when it is gone."""
        manifest = self._objects.manifest(step, resource)
        if (apis := crds.apis(manifest)) and all(self._sources.discovery.find(*api) for api in apis):
            return Action("Created")  # one discovery request covers all CRDs of a group
        if self._is_one_waiting:
            return Action("WaitingForApi")
        live = self._found(resource.name)
        if live is None:
            return None
        if problem := crds.rejected(live):
            raise StepFailed(problem)
        action = crds.establish(live)
        self._is_one_waiting = action.status == "WaitingForApi"
        return action

    def _manifest(self, step: PlanStep, resource: Resource) -> Manifest:
        """The definition that a step brings. StepFailed when no API server takes it."""
        manifest = self._objects.manifest(step, resource)
        if problem := crds.unsupported(manifest):
            raise StepFailed(problem)
        if crds.version_of(manifest) != crds.RULE.kind.version:
            raise StepFailed(execution.not_served(resource.kind, resource.name, resource.group, resource.version))
        if why := misnamed(manifest):
            raise StepFailed(why)
        return manifest

    def _is_converted(self, live: CustomResourceDefinition, csv: str) -> bool:
        """Whether the version of that name, as the plan brings it, goes on with the conversion of the definition."""
        if not live.converts_by_webhook:
            return False
        named = ((step, Resource.of_step(step)) for step in self._objects.plan.steps)
        found = [one for one in named if one[1].kind == kinds.CLUSTER_SERVICE_VERSION.kind and one[1].name == csv]
        versions = (Csv(self._objects.manifest(*one)) for one in found)
        return any(name == live.name for one in versions for _, name in conversions(one))

    def _found(self, name: str) -> CustomResourceDefinition | None:
        if name not in self._live:
            get = self._sources.cluster.get
            self._live[name] = CustomResourceDefinition.of(crds.RULE.kind.look_up(get, name))
        return self._live[name]

    def _is_guest(self, live: CustomResourceDefinition) -> bool:
        """An account changes what other namespaces rest on by its own rights."""
        return self._sources.acting.account is not None and not crds.is_of(self._namespace, live)

    def _safety(self, step: PlanStep, new: Manifest, live: CustomResourceDefinition) -> Safety:
        """What the change that would be written does to what is stored; it is judged once for each step."""
        key = live.name, step.csv, step.manifest
        if key not in self._judged:
            written = crds.with_what_works(new, live, is_converted=self._is_converted(live, step.csv))
            self._judged[key] = self._judge(new, live) if crds.changes(written, live.raw) else Safety()
        return self._judged[key]

    def _judge(self, new: Manifest, live: CustomResourceDefinition) -> Safety:
        """What does not fit is told with its values: a guest is told what it may see."""
        acting = self._sources.acting
        listed = acting.list if self._is_guest(live) else acting.ours.list
        checked = stored.to_check(live.raw, new)
        return safety.judged(new, live.raw, ((kind, _all(listed, kind)) for kind in checked))


def _all(listed: _Listed, kind: Kind) -> tuple[Manifest, ...]:
    """The objects of a kind. Denial when they may not be listed."""
    found = listed(kind)
    if isinstance(found, Denied):
        raise Denial(found.message)
    return found
