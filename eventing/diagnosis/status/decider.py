"""Decides where a package stands, why it does not go on and what helps: from what was read, by the table of rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from textwrap import shorten
from typing import TYPE_CHECKING

from eventing.diagnosis.status.chain import package_named_by
from eventing.diagnosis.status.fixes import NONE, Explanation
from eventing.diagnosis.status.groups import groups_are_reason
from eventing.diagnosis.status.package_status import Code, Package, PackageStatus, ref_of
from eventing.diagnosis.status.rules import (
    INSTALLED,
    INSTALLING,
    OF_ANNOTATION,
    OF_CONDITION,
    OF_CSV,
    OF_PHASE,
    RESOLVING,
    TO_APPROVE,
    Rule,
    Topic,
    explanation_of,
    hold_of,
    rule_of_condition,
)
from shared import names
from shared.api.views import ABSENT, Csv, StoredCondition, Subscription
from shared.domain.command import Command, olmf
from shared.domain.csv.lacking import lacking
from shared.domain.csv.phases import not_working_since
from shared.domain.objects.denials import plain
from shared.domain.resolver.explain.findings import without_command
from shared.domain.resolver.model import UNSATISFIABLE
from shared.domain.resolver.subscription_policy import subscription_policy_of, unknown
from shared.domain.subscription import conditions, health
from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION, Ref

if TYPE_CHECKING:  # why: the journal is not needed to decide
    from eventing.diagnosis.why.facts import LastRun

WORKS = "Succeeded"
SETTLED = (WORKS, "Replacing", "Deleting")
"""Phases of an installed version that nobody waits for."""
_MAY_BE_A_PULL = frozenset({Code.RESOLVING, Code.RESOLUTION_PREVENTED, Code.CATALOG_UNHEALTHY, Code.UNPACKING})
AT_EVENT = "at the next event"
WHEN_APPROVED = "when approved"
_LONGEST = 300
"""The most letters of a refusal in a row."""
RETRY = olmf("queue", "retry")
"""Releases what failed too often."""


@dataclass(frozen=True, slots=True)
class _Cause:
    """The rule that applies, the object or condition whose reason it is, and its message."""

    rule: Rule
    source: StoredCondition | Csv = ABSENT
    message: str = ""
    brief: str = ""
    """The message for a row, where it has lines."""

    @property
    def since(self) -> str:
        """Since when."""
        return _text(self.source.since)

    def for_row(self) -> _Cause:
        """The same with the message for a row."""
        return replace(self, message=self.brief)


def _joined(messages: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(filter(None, messages)))


def _text(moment: datetime | None) -> str:
    return moment.isoformat(timespec="seconds") if moment else ""


def decide(package: Package) -> PackageStatus:
    """The status of a package. What was not read (`topics`) is not advised; everything else is the same."""
    active = _conditions(package)
    cause = _cause(package, active)
    explanation, code = _explained(cause.rule, package)
    status = replace(
        _identity(package, active),
        code=Code.PULLING if package.pull and code in _MAY_BE_A_PULL else code,
        reason=cause.source.reason,
        since=cause.since,
        not_working_since=_text(not_working_since(package.csv)) if package.csv else "",
        message=_joined(_messages(package, cause, active, explanation)),
        brief=_joined(_messages(package, cause.for_row(), active, explanation)) if cause.brief else "",
        until=explanation.until or cause.rule.until,
        evidence=tuple(dict.fromkeys((*_evidence(package, cause), *explanation.evidence))),
        fixes=explanation.fixes,
        is_failing=package.job is not None,
    )
    return timed(replace(status, is_stuck=_is_stuck(package, cause, status)), package)


def topics(package: Package) -> frozenset[Topic]:
    """What else is to be read before `decide` knows all that helps."""
    asking = (_cause(package, _conditions(package)).rule, _rule_of_version(package.csv))
    return frozenset(topic for rule in asking if rule for topic in rule.reads)


def _identity(package: Package, active: Mapping[str, StoredCondition]) -> PackageStatus:
    """The names of the package and its versions, its phase, and what keeps it where it is."""
    subscription, csv = package.subscription, package.csv or Csv({})
    if subscription is None:
        name = csv.name
        return PackageStatus(csv.namespace, "", package_named_by(csv), name, name, csv.phase or "Pending")
    installed, current, hold = subscription.installed_csv, subscription.current_csv, hold_of(subscription)
    phase = (csv.phase or "Pending") if package.csv else _gravest(active).type or subscription.state or "Resolving"
    is_to_approve = active.get(conditions.PLAN_PENDING, ABSENT).reason == TO_APPROVE
    return PackageStatus(
        subscription.namespace, subscription.name, subscription.package, installed, current, phase,
        channel=subscription.channel,
        approval="Manual" if subscription.is_manual else "Automatic",
        catalog=f"{subscription.source_namespace}/{subscription.source}",
        plan=subscription.plan if is_to_approve else "",
        held=f"{installed or 'no version yet'}: {hold}" if hold else "",
        pinned=_pinned(subscription, active),
        moves=subscription.annotation(names.RELEASES) or "",
        pin=subscription_policy_of(subscription).version,
        stranded=active.get(conditions.STRANDED, ABSENT).message,
        deprecated="; ".join(active[kind].message for kind in conditions.DEPRECATIONS if kind in active),
        is_done=phase == WORKS and installed == current and conditions.RESOLUTION_FAILED not in active,
    )  # fmt: skip


def _conditions(package: Package) -> dict[str, StoredCondition]:
    """The conditions of the Subscription that hold; that other catalogs are ill does not concern the package."""
    subscription = package.subscription or Subscription({})
    found = {each.type: each for each in subscription.conditions if each.is_true}
    if not health.concerns(subscription):
        found.pop(conditions.CATALOGS_UNHEALTHY, None)
    if _is_carried_out(package.csv, found.get(conditions.PLAN_PENDING, ABSENT)):
        del found[conditions.PLAN_PENDING]
    return found


def _is_carried_out(csv: Csv | None, pending: StoredCondition) -> bool:
    """Whether a plan made the version work, and the condition that it waits is only not written anew yet."""
    return bool(csv and csv.is_succeeded and csv.since and pending.since and csv.since >= pending.since)


def _gravest(active: Mapping[str, StoredCondition]) -> StoredCondition:
    """The gravest of the conditions that say why it does not go on; one that states nothing without any."""
    return next((active[kind] for kind, _ in OF_CONDITION if kind in active), ABSENT)


def _cause(package: Package, active: Mapping[str, StoredCondition]) -> _Cause:
    """What the package waits for: its version, unless its plan failed; else a condition, or an annotation."""
    csv, gravest = package.csv, _gravest(active)
    works = csv is not None and csv.is_succeeded
    of_plan = (active.get(kind, ABSENT) for kind in (conditions.PLAN_FAILED, conditions.PLAN_PENDING))
    if csv is not None and not works and not any(one.message for one in of_plan):
        return _Cause(_rule_of_version(csv) or OF_PHASE.get(csv.phase, INSTALLING), csv, lacking(csv))
    if gravest.type:
        whole, brief = gravest.message, ""
        if gravest.type == conditions.RESOLUTION_FAILED:
            whole = without_command(gravest.message)
            brief = _in_a_sentence(whole)
        sentence = partial(_sentence, gravest, package, works=works)
        return _Cause(rule_of_condition(gravest), gravest, sentence(whole), sentence(brief) if brief else "")
    if package.subscription is None:
        return _Cause(INSTALLED, csv or ABSENT)
    subscription = package.subscription
    kind = conditions.HELD if hold_of(subscription) else conditions.PINNED if _pinned(subscription, active) else ""
    return _Cause(OF_ANNOTATION.get(kind, INSTALLED if works else RESOLVING), active.get(kind, ABSENT))


def _rule_of_version(csv: Csv | None) -> Rule | None:
    return OF_CSV.get(csv.reason) if csv else None


def _in_a_sentence(refusal: str) -> str:
    """A refusal for a row: not OLM's words, where lines below them say the same plainly; empty where none do."""
    _, *lines = refusal.splitlines()
    heading, facts = lines[:1], (line.removeprefix("- ") for line in lines[1:])
    return shorten(" ".join((*heading, "; ".join(facts))), _LONGEST, placeholder=" …") if lines[1:] else ""


def _sentence(condition: StoredCondition, package: Package, message: str, *, works: bool) -> str:
    """A condition in a sentence: its reason, unless its type or its message says the same, and its message."""
    if condition.type == conditions.PLAN_MISSING:  # OLM gives it no message
        return "its InstallPlan was deleted" + ("; nothing needs to be done" if works else "")
    plan = package.subscription.plan if package.subscription and condition.reason == TO_APPROVE else ""
    heading = "" if condition.reason in (UNSATISFIABLE, condition.type) else condition.reason
    message = message or (plan and f"InstallPlan {plan}")
    if condition.type == conditions.RESOLUTION_FAILED:
        heading = ": ".join(filter(None, ("the next version cannot be resolved" if works else "", heading)))
    return ": ".join(filter(None, (heading, message)))


def _messages(
    package: Package, cause: _Cause, active: Mapping[str, StoredCondition], explanation: Explanation
) -> Iterator[str]:
    """What is to be said, the gravest first."""
    subscription, job = package.subscription, package.job
    if subscription is None:
        yield "no Subscription"
    if package.pull and cause.rule.code in _MAY_BE_A_PULL:
        yield f"its catalog: {package.pull}"
    yield explanation.instead or cause.message
    csv = package.csv
    yield _left_behind(csv) if csv and csv.phase == "Failed" and cause.source is not csv else ""
    yield "" if explanation.fixes else active.get(conditions.BLOCKED, ABSENT).message
    yield _left_behind(package.kept)
    if subscription is not None:
        yield f"held: {hold}" if (hold := hold_of(subscription)) else ""
        pin = subscription_policy_of(subscription).version
        yield _pinned(subscription, active) or (f"pinned to {pin}" if pin else "")
        yield unknown(subscription)
    yield explanation.message
    # why: a plan that is retried says itself what its runs fail with
    is_in_message = job and cause.rule.code is Code.PLAN_UNFINISHED and job.ref in explanation.evidence
    if job and not is_in_message and job.error != cause.source.message:
        yield " ".join(job.error.split())


def _pinned(subscription: Subscription, active: Mapping[str, StoredCondition]) -> str:
    """What is newer than what its annotation asks for; empty when nothing is, or it asks for nothing."""
    return active.get(conditions.PINNED, ABSENT).message if subscription_policy_of(subscription).version else ""


def _left_behind(csv: Csv | None) -> str:
    """Why a version does not work, beside what is said of the plan or of the next one."""
    phase = (csv.phase or "Pending") if csv else ""
    return f"{csv.name} is {phase}: {plain(lacking(csv))}" if csv and phase not in SETTLED else ""


def _explained(rule: Rule, package: Package) -> tuple[Explanation, Code]:
    """What helps the version, else the Subscription; and the code."""
    for each in (_rule_of_version(package.csv), rule):
        if each and (found := explanation_of(each, package)) != NONE:
            return replace(found, until=found.until or each.until), found.code or rule.code
    return NONE, rule.otherwise or rule.code


def _evidence(package: Package, cause: _Cause) -> Iterator[Ref]:
    """The object whose status says it."""
    if package.csv and cause.source is package.csv:
        yield ref_of(CLUSTER_SERVICE_VERSION, package.csv)
    elif package.subscription:
        yield ref_of(SUBSCRIPTION, package.subscription)


def _is_stuck(package: Package, cause: _Cause, status: PackageStatus) -> bool:
    """Whether only a person can help; a version that is being installed is not stuck, whatever comes after it."""
    if groups_are_reason(cause.source.reason, package.csv, package.context):
        return True
    return cause.rule.is_stuck or bool(status.held and not status.version)


def timed(status: PackageStatus, package: Package) -> PackageStatus:
    """With since when it waits and when it is tried next; what no status says is told as its steps said it."""
    if status.phase == WORKS and not status.message:
        return status
    if last := _last_wait(package):
        message = status.message or last.waits_for or last.message
        status = replace(status, message=message, since=status.since or last.since)
    return replace(status, next_try=_next_try(status, package))


def _last_wait(package: Package) -> LastRun | None:
    """The last run of a step that waits, or that has failed; of its version rather than its Subscription."""
    return next((one for one in package.last if one.waits_for or one.attempts), None)


def _next_try(status: PackageStatus, package: Package) -> str | Command:
    job, last = package.job, _last_wait(package)
    if job or (last and last.attempts):
        if job is None or job.state == "dead":
            return RETRY
        return job.due.isoformat(timespec="seconds") if job.state == "delayed" and job.due else "now"
    if status.code is Code.PLAN_FAILED:
        return status.until
    if status.plan:
        return WHEN_APPROVED
    # why: a step on a namespace says what the first package waits for, and tries all of them at once
    own = next((one.when for one in ([last] if last else package.last) if one.next_try), "")
    if last:
        return own or package.catalog_due or status.until or AT_EVENT
    return package.catalog_due or status.until or own or package.due or AT_EVENT
