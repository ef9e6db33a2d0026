"""One pass over the steps of a plan, in order, up to the first one that fails; it reads only through its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from shared import kinds
from shared.api.manifest import Manifest
from shared.api.views import Csv, InstallPlan, Object, PlanStep
from shared.domain.authors.needs import Writing
from shared.domain.conditions import Condition
from shared.domain.csv.admission import joined
from shared.domain.objects.install_plan import FINISHED
from shared.domain.plan import bundle_kinds, crds, execution, refusals, safety
from shared.domain.plan.crds import competing
from shared.domain.plan.execution import INVALID_PLAN, Action, Rule, StepOwner
from shared.domain.plan.refusals import Refusal
from shared.domain.plan.steps import Resource
from shared.domain.resolver.copies import fix_text, occupied
from shared.kinds import BY_IDENTITY
from shared.ports import FailureKind, WriteFailure
from shared.reading.plan_definitions import PlanDefinitions
from shared.reading.plan_objects import BundleLost, Denial, NotTaken, PlanObjects, Sources, StepFailed, check_taken
from shared.refs import misnamed

MOST_ASKED = 50
"""Steps that are tried out when one was denied: each is a request."""
_UNASKED = (kinds.CLUSTER_SERVICE_VERSION.kind, crds.RULE.kind.kind)


class InvalidStep(StepFailed):
    """No step may have such a status, or be about such an object."""

    def __init__(self, resource: Resource, *more: str) -> None:
        sentence = f"{INVALID_PLAN}: {resource.kind} {resource.name} cannot be a step of a plan"
        super().__init__("; ".join(filter(None, (sentence, *more))))


class UnsupportedKind(InvalidStep):
    """No bundle may hold such an object, until an administrator allows its kind."""


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
    safety: Condition | None = None
    """What its definitions do to what is stored; None when it changes none that exists."""


class Unanswered(StepFailed):
    """A webhook that has to allow a write does not answer, and may do so at any time."""


_REFUSALS: Mapping[FailureKind, type[StepFailed]] = {"forbidden": Denial, "unanswered": Unanswered}


class _Pass:
    """One pass: what it reads, and what it found so far."""

    def __init__(self, plan: InstallPlan, sources: Sources) -> None:
        self.plan, self.discovery, self.acting = plan, sources.discovery, sources.acting
        self.policy, self.bound = sources.policy, sources.bound
        self.objects = PlanObjects(plan, sources)
        self.definitions = PlanDefinitions(self.objects, sources)
        self.warnings: list[str] = []


def statuses_of(plan: InstallPlan) -> tuple[str, ...]:
    """The status of each step of a plan."""
    return tuple(step.status or "Unknown" for step in plan.steps)


def looked_ahead(plan: InstallPlan, sources: Sources) -> Condition | None:
    """What the definitions of a plan that waits would do to what is stored; None when it changes none that exists."""
    return _look_ahead(_Pass(plan, sources))[0]


def _look_ahead(going: _Pass) -> tuple[Condition | None, StepFailed | None]:
    """The same, and why nothing of the plan may be written."""
    try:
        found = going.definitions.safety(going.plan.steps)
    except Denial as denial:
        return safety.unknown(str(denial)), denial
    return safety.condition(found), StepFailed(found.refusal) if found.problems else None


def advance(plan: InstallPlan, sources: Sources) -> Progress:
    """The actions of the next pass over a plan; none while what it does to stored objects forbids it."""
    statuses, index = list(statuses_of(plan)), -1
    going = _Pass(plan, sources)
    actions: list[Action] = []
    condition, stop = _look_ahead(going)
    if sources.policy.crd_safety == "step":
        stop = None
    for index, step in enumerate(() if stop else plan.steps):
        if statuses[index] in FINISHED:
            continue
        try:
            action = _act(going, step)
            _check_refusals(sources, action)
            _check_authors(going, step, action)
        except StepFailed as failure:
            statuses[index] = "UnsupportedResource" if isinstance(failure, UnsupportedKind) else statuses[index]
            stop = failure
            break
        actions.append(replace(action, index=index))
        statuses[index] = action.status
    if isinstance(stop, NotTaken):
        actions, statuses = [], list(statuses_of(plan))
    behind = plan.steps[index + 1 :] if isinstance(stop, Denial) else ()
    return Progress(
        tuple(actions),
        tuple(statuses),
        error=refusals.with_others(str(stop or ""), _denied(going, behind)),
        is_curable=isinstance(stop, NameOccupied | NotTaken | Denial | Unanswered),
        is_denied=isinstance(stop, Denial),
        warnings=tuple(going.warnings),
        is_bundle_lost=isinstance(stop, BundleLost),
        safety=condition,
    )


def _denied(going: _Pass, steps: Iterable[PlanStep]) -> Iterator[Refusal]:
    """What else whoever carries out the plan may not write, of the steps behind the one that stopped.

    Not of versions and definitions: those of this namespace are ours to write, or alike.
    """
    is_asked = _UNASKED if going.bound is None else ()
    asked = (one for one in steps if one.status not in FINISHED and one.kind not in is_asked)
    for step in islice(asked, MOST_ASKED):
        what = f"{step.kind} {step.name}"
        try:
            found = list(_refusals(going, step))
        except Denial as denial:
            yield Refusal(what, str(denial).removeprefix(f"{what}: "))
        except StepFailed:
            continue  # it is told when its turn comes
        else:
            yield from (Refusal(what, why) for why in found)


def _refusals(going: _Pass, step: PlanStep) -> Iterator[str]:
    """Why the account, or an author, may not write what a step writes."""
    action = _act(going, step)
    written = action.create or action.replace
    if written and not action.is_ours and (why := going.acting.refusal(written)):
        yield why
    if why := _refused_to_authors(going, step, action):
        yield why


def _check_authors(going: _Pass, step: PlanStep, action: Action) -> None:
    """Denial when an author of the plan may not do what the step does, or what follows of it."""
    if why := _refused_to_authors(going, step, action):
        raise Denial(f"{step.kind} {step.name}: {why}")


def _refused_to_authors(going: _Pass, step: PlanStep, action: Action) -> str:
    if going.bound is None or (ref := action.ref) is None:
        return ""
    written = action.create or action.replace or {"metadata": {"name": ref.name}}
    known = BY_IDENTITY.get((ref.api_version, ref.kind))
    kind = known or _discovered(going, Resource.of_step(step), written).kind
    verb = "create" if action.create else "update" if action.replace else "patch"
    return going.bound.refusal(Writing(written, kind, verb), going.objects.rules)


def _check_refusals(sources: Sources, action: Action) -> None:
    """StepFailed when the API server has just refused what the step writes, or denied a look at what is there."""
    if (ref := action.ref) is None:
        return
    if (refused := sources.attempt.failure) and refused.ref == ref:
        error = f"{ref.kind} {ref.name}: {refused.message}{_hint(sources, refused)}"
        raise _REFUSALS.get(refused.kind, StepFailed)(error)
    met = sources.attempt.conflict
    if met and met.ref == ref and ref in sources.acting.denied:
        raise Denial(f"{ref.kind} {ref.name}: {sources.acting.denied[ref]}")


def _hint(sources: Sources, refused: WriteFailure) -> str:
    """What helps where we lack the right ourselves: of a kind that has no name in code nobody may have granted it."""
    ref = refused.ref
    if sources.acting.account is not None or refused.kind != "forbidden" or (ref.api_version, ref.kind) in BY_IDENTITY:
        return ""
    found = sources.discovery.find(ref.api_version, ref.kind)
    return f"; {bundle_kinds.how_to_grant(found)}" if found else ""


def _act(going: _Pass, step: PlanStep) -> Action:
    resource = Resource.of_step(step)
    owner = StepOwner(going.plan.namespace, going.plan.name, step.csv)
    if resource.kind == crds.RULE.kind.kind:
        action, judged = going.definitions.act(step, resource, owner)
        going.warnings += judged.warnings
        return action
    manifest = going.objects.manifest(step, resource)
    if step.status == "WaitingForApi":
        return Action("Present")  # only CRDs wait, but a plan that OLM wrote may have this status on any step
    if step.status not in ("Unknown", "NotPresent", "UnsupportedResource"):
        raise InvalidStep(resource)
    if resource.kind == "Secret":
        return _copy_secret(going, resource, owner)
    rule = execution.RULES.get(resource.kind) or _discovered(going, resource, manifest)
    desired = execution.with_uids(execution.prepared(manifest, rule, owner), going.objects.csvs)
    if why := misnamed(desired):
        raise StepFailed(why)
    live = going.objects.live(rule.kind, resource.name)
    if rule.kind == kinds.CLUSTER_SERVICE_VERSION:
        desired = _version(going, Csv(desired), Csv.of(live))
    return check_taken(execution.act(desired, live, rule), live)


def _discovered(going: _Pass, resource: Resource, manifest: Manifest) -> Rule:
    """The rule of a kind that has no name in code: one that bundles may hold, and that the API server serves."""
    api_version = Object(manifest).api_version or "/".join(filter(None, (resource.group, resource.version)))
    api_group, more = api_version.rpartition("/")[0], going.policy.bundle_kinds
    if not bundle_kinds.is_allowed(resource.kind, api_group, more):
        hint = bundle_kinds.how_to_allow(resource.kind, api_group, more, going.policy.global_namespace)
        raise UnsupportedKind(resource, hint)
    found = going.discovery.find(api_version, resource.kind)
    if found is None:
        raise StepFailed(execution.not_served(resource.kind, resource.name, resource.group, resource.version))
    return execution.rule_for(found)


def _version(going: _Pass, csv: Csv, live: Csv | None) -> Manifest:
    """A version as a member of its group. Only a plan made by hand contains a version that it does not name."""
    if live is not None and live.is_copy:
        raise NameOccupied(f"{occupied(csv.name, live.origin)}. {fix_text(live.origin)}")
    if csv.name not in going.plan.csvs and (rivalry := competing(csv, going.objects.csvs.values())):
        raise StepFailed(rivalry)
    return joined(csv, going.objects.groups)


def _copy_secret(going: _Pass, resource: Resource, owner: StepOwner) -> Action:
    """Copy a pull secret from the namespace of the global catalogs; an existing secret is not changed."""
    if kinds.SECRET.look_up(going.acting.get, resource.name, owner.namespace) is not None:
        return Action("Present")
    source = kinds.SECRET.look_up(going.acting.get, resource.name, going.policy.global_namespace)
    if source is None:
        if why := going.acting.denied.get(kinds.SECRET.ref(resource.name, going.policy.global_namespace)):
            raise Denial(f"Secret {resource.name}: {why}")
        raise StepFailed(f'secret {resource.name} does not exist - secrets "{resource.name}" not found')
    return Action("Created", create=execution.copied(source, owner))
