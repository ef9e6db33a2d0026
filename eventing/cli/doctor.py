"""What of OLM, of us and of the cluster is in a state that will hurt: `doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import typer

from eventing.cli.commands import fix_text, fix_value, quoted, values
from eventing.cli.failure import NEGATIVE, UNKNOWN, CliError
from eventing.cli.output import TextOption, document, print_lines
from eventing.cli.target import KubeconfigOption, StateOption, Target, choose
from eventing.deploy import rbac
from eventing.diagnosis.doctor.finding import Finding, Unknown
from eventing.diagnosis.doctor.packages import check_extensions, check_packages
from eventing.diagnosis.doctor.permissions import check_bindings, check_permissions
from eventing.diagnosis.doctor.versions import check_server
from eventing.diagnosis.doctor.waiting_plans import TITLE, check_waiting_plans
from eventing.diagnosis.status.decider import RETRY
from shared.domain.command import Fix, olmf
from shared.kinds import Ref

_MOST_NAMED: Final = 5


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(doctor)


def doctor(output: TextOption = "text", state: StateOption = None, kubeconfig: KubeconfigOption = None) -> None:
    """Look for what hurts: broken catalogs, stuck or waiting packages, two OLMs, missing rights, dead webhooks, jobs.

    Exit code 0: nothing found; 1: something, each with its fix; 3: something could not be looked at, and nothing found.
    """
    everything = list(_examined(choose(state, kubeconfig)))
    findings = [one for one in everything if isinstance(one, Finding)]
    unknown = [one for one in everything if not isinstance(one, Finding)]
    if output == "text":
        print_lines(*_lines(findings, unknown))
    else:
        document({"findings": list(map(_row, findings)), "unknown": values(unknown)}, output)
    if everything:
        raise typer.Exit(NEGATIVE if findings else UNKNOWN)


def _examined(target: Target) -> Iterator[Finding | Unknown]:
    from eventing.diagnosis.doctor.checks import CHECKS, examine

    cluster, jobs = target.cluster(), target.jobs()
    more = {
        "the version of the API server": check_server(cluster.version),
        "our rights": check_permissions(rbac.rules_by_role()),
        "who has our rights": check_bindings(rbac.bindings()),
        "Subscriptions and installed versions": check_packages(jobs),
        TITLE: check_waiting_plans(cluster),
        "ClusterExtensions": check_extensions(jobs),
    }
    yield from examine(cluster, datetime.now(UTC), {**CHECKS, **more})
    yield from _dead_letters(target)


def _dead_letters(target: Target) -> Iterator[Finding | Unknown]:
    from eventing.workqueue import REFUSED, listed
    from eventing.workqueue.listing import DEAD

    try:
        with target.redis() as client:
            dead = listed(client, states=DEAD)
    except (CliError, REFUSED) as error:
        yield Unknown("the work queue", str(error))
        return
    for one in dead:
        why = olmf("why", f"{one.ref.kind}/{one.ref.name}", namespace=one.ref.namespace)
        state = f"is a dead letter of {one.step} after {one.attempts} attempts: {one.error}"
        effect = f"nothing is done about it until it changes, or until {quoted(RETRY)}"
        yield Finding(one.ref, state, effect, Fix("see what happened", why))


def _row(finding: Finding) -> dict[str, object]:
    return {
        "ref": str(finding.ref),
        "state": finding.state,
        "reason": finding.reason,
        "effect": finding.effect,
        "evidence": list(map(str, finding.evidence)),
        "fix": fix_value(finding.fix),
        "moreFixes": list(map(fix_value, finding.more_fixes)),
    }


def _lines(findings: list[Finding], unknown: list[Unknown]) -> Iterator[str]:
    for one in findings:
        yield f"{_named(one.ref)} {one.state}".replace("\n", "\n    ")
        yield f"  so {one.effect}"
        if one.evidence:
            more = f" and {len(one.evidence) - _MOST_NAMED} more" if len(one.evidence) > _MOST_NAMED else ""
            yield f"  see {', '.join(map(_named, one.evidence[:_MOST_NAMED]))}{more}"
        yield from (f"  {fix_text(fix)}" for fix in (one.fix, *one.more_fixes))
    for each in unknown:
        yield f"not looked at: {each.title}: {each.message}"
    if not (findings or unknown):
        yield "nothing found that will hurt"


def _named(ref: Ref) -> str:
    return f"{ref.kind} {f'{ref.namespace}/' if ref.namespace else ''}{ref.name}"
