"""What of OLM, of us and of the cluster is in a state that will hurt: `doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import typer

from eventing.cli.commands import fix_text, fix_value, quoted, values
from eventing.cli.failure import NEGATIVE, UNKNOWN, CliError
from eventing.cli.output import TextOption, document, print_lines
from eventing.cli.target import KubeconfigOption, StateOption, Target, choose
from eventing.deploy import rbac
from eventing.diagnosis.doctor.finding import Finding, Unknown
from eventing.diagnosis.doctor.permissions import check_bindings, check_permissions
from eventing.diagnosis.doctor.versions import check_server
from eventing.diagnosis.status.decider import RETRY
from shared.domain.command import Fix, olmf


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(doctor)


def doctor(output: TextOption = "text", state: StateOption = None, kubeconfig: KubeconfigOption = None) -> None:
    """Look for what will hurt: two OLMs, missing definitions or rights, stuck deletions, dead webhooks and jobs.

    Exit code 0: nothing found; 1: something, each with its fix; 3: something could not be looked at, and nothing found.
    """
    everything = list(_examined(choose(state, kubeconfig)))
    findings = [one for one in everything if isinstance(one, Finding)]
    unknown = [one for one in everything if not isinstance(one, Finding)]
    if output == "text":
        print_lines(*_lines(findings, unknown))
    else:
        shown = [{**values(one), "ref": str(one.ref), "fix": fix_value(one.fix)} for one in findings]
        document({"findings": shown, "unknown": values(unknown)}, output)
    if everything:
        raise typer.Exit(NEGATIVE if findings else UNKNOWN)


def _examined(target: Target) -> Iterator[Finding | Unknown]:
    from eventing.diagnosis.doctor.checks import CHECKS, examine

    cluster = target.cluster()
    more = {
        "the version of the API server": check_server(cluster.version),
        "our rights": check_permissions(rbac.rules_by_role()),
        "who has our rights": check_bindings(rbac.bindings()),
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


def _lines(findings: list[Finding], unknown: list[Unknown]) -> Iterator[str]:
    for one in findings:
        place = f"{one.ref.namespace}/" if one.ref.namespace else ""
        yield f"{one.ref.kind} {place}{one.ref.name} {one.state}"
        yield f"  so {one.effect}"
        yield f"  {fix_text(one.fix)}"
    for each in unknown:
        yield f"not looked at: {each.title}: {each.message}"
    if not (findings or unknown):
        yield "nothing found that will hurt"
