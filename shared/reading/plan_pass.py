"""One pass over the steps of a plan, in order, up to the first one that fails; it reads only through its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

from shared import kinds
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import Csv, CustomResourceDefinition, InstallPlan, Object, PlanStep
from shared.domain.crd_safety import stored
from shared.domain.csv.admission import joined
from shared.domain.go_types.dialects import JSON
from shared.domain.go_types.engine import MisfitError
from shared.domain.objects.install_plan import FINISHED
from shared.domain.plan import crds, execution, refusals
from shared.domain.plan.crds import competing
from shared.domain.plan.execution import INVALID_PLAN, Action, StepOwner, rule_for
from shared.domain.plan.refusals import Refusal
from shared.domain.plan.steps import Resource
from shared.domain.resolver.copies import fix_text, occupied
from shared.kinds import Kind
from shared.ports import Attempt, Cluster, Denied, Discovery, FailureKind
from shared.reading.acting import ActingReads
from shared.reading.plan_objects import BundleLost, PlanObjects, StepFailed
from shared.refs import misnamed

MOST_ASKED = 50
"""Steps that are tried out when one was denied: each is a request."""
_UNASKED = (kinds.CLUSTER_SERVICE_VERSION.kind, crds.RULE.kind.kind)
_Listed: TypeAlias = Callable[[Kind], tuple[Manifest, ...] | Denied]


class InvalidStep(StepFailed):
    """No bundle may contain such an object, or no step may have such a status."""

    def __init__(self, resource: Resource) -> None:
        super().__init__(f"{INVALID_PLAN}: {resource.kind} {resource.name} cannot be a step of a plan")


class NameOccupied(StepFailed):
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
    is_denied: bool = False
    """Who carries out the plan lacks a right."""
    warnings: tuple[str, ...] = ()
    """Warnings for people; they stopped no step."""
    is_bundle_lost: bool = False
    """A bundle of the plan has to be unpacked again."""


class Denial(StepFailed):
    """The account lacks a right, which may be granted at any time."""


class Unanswered(StepFailed):
    """A webhook that has to allow a write does not answer, and may do so at any time."""


_REFUSALS: Mapping[FailureKind, type[StepFailed]] = {"forbidden": Denial, "unanswered": Unanswered}


@dataclass(frozen=True, slots=True)
class Sources:
    """What a pass reads."""

    cluster: Cluster
    """With our own rights: versions and groups of the namespace, bundles, definitions."""
    acting: ActingReads
    """With the rights of whoever carries out the plan: all other objects."""
    discovery: Discovery
    global_namespace: str
    """The namespace from which pull secrets are copied."""
    attempt: Attempt
    """What the API server has just refused: the step that writes that cannot be carried out now."""


class _Pass:
    """One pass: what it reads, and what it found so far."""

    def __init__(self, plan: InstallPlan, sources: Sources) -> None:
        self.plan, self.cluster, self.discovery = plan, sources.cluster, sources.discovery
        self.global_namespace, self.acting = sources.global_namespace, sources.acting
        self.objects = PlanObjects(plan, sources.cluster, sources.acting)
        self.warnings: list[str] = []
        self.is_lease_valid = False
        """A definition is not served yet, so that this pass is not the last one: it need not read the others."""


def statuses_of(plan: InstallPlan) -> tuple[str, ...]:
    """The status of each step of a plan."""
    return tuple(step.status or "Unknown" for step in plan.steps)


def advance(plan: InstallPlan, sources: Sources) -> Progress:
    """The actions of the next pass over a plan."""
    statuses = list(statuses_of(plan))
    going, stop = _Pass(plan, sources), None
    actions: list[Action] = []
    for index, step in enumerate(plan.steps):
        if statuses[index] in FINISHED:
            continue
        try:
            action = _act(going, step)
            _check_refusals(sources, action)
        except StepFailed as failure:
            statuses[index] = "UnsupportedResource" if isinstance(failure, InvalidStep) else statuses[index]
            stop = failure
            break
        actions.append(replace(action, index=index))
        statuses[index] = action.status
    behind = plan.steps[index + 1 :] if isinstance(stop, Denial) else ()
    return Progress(
        tuple(actions),
        tuple(statuses),
        error=refusals.with_others(str(stop or ""), _denied(going, behind)),
        is_curable=isinstance(stop, NameOccupied | Denial | Unanswered),
        is_denied=isinstance(stop, Denial),
        warnings=tuple(going.warnings),
        is_bundle_lost=isinstance(stop, BundleLost),
    )


def _denied(going: _Pass, steps: Iterable[PlanStep]) -> Iterator[Refusal]:
    """What else whoever carries out the plan may not write, of the steps behind the one that stopped.

    Not of versions and definitions: those of this namespace are ours to write, or alike.
    """
    asked = (one for one in steps if one.status not in FINISHED and one.kind not in _UNASKED)
    for step in islice(asked, MOST_ASKED):
        what = f"{step.kind} {step.name}"
        try:
            action = _act(going, step)
        except Denial as denial:
            yield Refusal(what, str(denial).removeprefix(f"{what}: "))
        except StepFailed:
            continue  # it is told when its turn comes
        else:
            written = action.create or action.replace
            if written and not action.is_ours and (why := going.acting.refusal(written)):
                yield Refusal(what, why)


def _check_refusals(sources: Sources, action: Action) -> None:
    """StepFailed when the API server has just refused what the step writes, or denied a look at what is there."""
    if (ref := action.ref) is None:
        return
    if (refused := sources.attempt.failure) and refused.ref == ref:
        error = f"{ref.kind} {ref.name}: {refused.message}"
        raise _REFUSALS.get(refused.kind, StepFailed)(error)
    met = sources.attempt.conflict
    if met and met.ref == ref and ref in sources.acting.denied:
        raise Denial(f"{ref.kind} {ref.name}: {sources.acting.denied[ref]}")


def _act(going: _Pass, step: PlanStep) -> Action:
    resource = Resource.of_step(step)
    owner = StepOwner(going.plan.namespace, going.plan.name, step.csv)
    if resource.kind == crds.RULE.kind.kind:
        return _act_on_crd(going, step, resource, owner)
    manifest = going.objects.manifest(step, resource)
    if step.status == "WaitingForApi":
        return Action("Present")  # only CRDs wait, but a plan that OLM wrote may have this status on any step
    if step.status not in ("Unknown", "NotPresent"):
        raise InvalidStep(resource)
    if resource.kind == "Secret":
        return _copy_secret(going, resource, owner)
    api_version = Object(manifest).api_version or "/".join(filter(None, (resource.group, resource.version)))
    is_known = resource.kind in execution.RULES
    found = None if is_known else going.discovery.find(api_version, resource.kind)
    if resource.kind in execution.SUPPORTED and found is None:
        raise StepFailed(execution.not_served(resource.kind, resource.name, resource.group, resource.version))
    rule = rule_for(resource.kind, found)
    if rule is None:
        raise InvalidStep(resource)
    desired = execution.with_uids(execution.prepared(manifest, rule, owner), going.objects.csvs)
    if why := misnamed(desired):
        raise StepFailed(why)
    live = going.objects.live(rule.kind, resource.name)
    if rule.kind == kinds.CLUSTER_SERVICE_VERSION:
        desired = _version(going, Csv(desired), Csv.of(live))
    return execution.act(desired, live, rule)


def _version(going: _Pass, csv: Csv, live: Csv | None) -> Manifest:
    """A version as a member of its group. Only a plan made by hand contains a version that it does not name."""
    if live is not None and live.is_copy:
        raise NameOccupied(f"{occupied(csv.name, live.origin)}. {fix_text(live.origin)}")
    if csv.name not in going.plan.csvs and (rivalry := competing(csv, going.objects.csvs.values())):
        raise StepFailed(rivalry)
    return joined(csv, going.objects.groups)


def _act_on_crd(going: _Pass, step: PlanStep, resource: Resource, owner: StepOwner) -> Action:
    manifest = going.objects.manifest(step, resource)
    is_waiting = step.status == "WaitingForApi"
    if is_waiting and (apis := crds.apis(manifest)) and all(going.discovery.find(*api) for api in apis):
        return Action("Created")  # one discovery request covers all CRDs of a group
    if is_waiting and going.is_lease_valid:
        return Action("WaitingForApi")
    live = CustomResourceDefinition.of(crds.RULE.kind.look_up(going.cluster.get, resource.name))
    if is_waiting and live is not None:
        if problem := crds.rejected(live):
            raise StepFailed(problem)
        action = crds.establish(live)
        going.is_lease_valid = action.status == "WaitingForApi"
        return action
    if problem := crds.unsupported(manifest):
        raise StepFailed(problem)
    if crds.version_of(manifest) != crds.RULE.kind.version:
        raise StepFailed(execution.not_served(resource.kind, resource.name, resource.group, resource.version))
    if why := misnamed(manifest):
        raise StepFailed(why)
    action = crds.act(manifest, live, owner, going.objects.csvs.keys())
    return action if live is None else _update(going, manifest, live, action)


def _update(going: _Pass, manifest: Manifest, live: CustomResourceDefinition, action: Action) -> Action:
    """The change of a definition that exists: an account changes what other namespaces rest on by its own rights."""
    is_guest = going.acting.account is not None and not crds.is_of(going.plan.namespace, live)
    if is_guest:
        action = crds.as_a_guest(action, live.raw)
    if action.replace is not None:
        going.warnings += _checked(going.acting.list if is_guest else going.cluster.list, manifest, live.raw)
    return action


def _checked(listed: _Listed, new: Manifest, live: ReadOnly) -> Iterator[str]:
    """Warnings about a safe update of a CRD; StepFailed when the update is not safe.

    What does not fit is told with its values: `listed` tells what whoever carries out the plan may see.
    """
    try:
        JSON.read(new, crds.RULE.kind.kind)
    except MisfitError as error:
        raise StepFailed(f"error parsing step manifest: {error}") from error
    for kind in stored.to_check(live, new):
        found = listed(kind)
        if isinstance(found, Denied):
            raise Denial(found.message)
        for misfit in islice(stored.misfits(new, kind, found), 1):
            if not stored.converts_by_webhook(new):
                raise StepFailed(misfit.sentence(new))
            yield (
                "Validation of existing CRs against the new CRD's schema failed, but a webhook conversion strategy "
                f"was specified in the new CRD. {misfit.sentence(new)}"
            )
    if risk := crds.risk(new, live):
        raise StepFailed(risk)


def _copy_secret(going: _Pass, resource: Resource, owner: StepOwner) -> Action:
    """Copy a pull secret from the namespace of the global catalogs; an existing secret is not changed."""
    if kinds.SECRET.look_up(going.acting.get, resource.name, owner.namespace) is not None:
        return Action("Present")
    source = kinds.SECRET.look_up(going.acting.get, resource.name, going.global_namespace)
    if source is None:
        if why := going.acting.denied.get(kinds.SECRET.ref(resource.name, going.global_namespace)):
            raise Denial(f"Secret {resource.name}: {why}")
        raise StepFailed(f'secret {resource.name} does not exist - secrets "{resource.name}" not found')
    return Action("Created", create=execution.copied(source, owner))
