"""The work queue as people see it: `queue ls`, `queue dead`, `queue cancel`, `queue retry`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.commands import quoted
from eventing.cli.failure import NEGATIVE, CliError
from eventing.cli.objects import checked_step, ref_of
from eventing.cli.output import OutputOption, show
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption, choose
from eventing.events.former import step_now
from eventing.events.job import Job
from eventing.wiring.environment import settings
from shared.domain.command import olmf

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from eventing.workqueue import Client, Listed, WorkQueue


def register(app: typer.Typer) -> None:
    """Add the group of verbs."""
    group = typer.Typer(
        name="queue", help="The work queue: what waits, runs, is delayed or dead.", no_args_is_help=True
    )
    group.command("ls")(list_jobs)
    group.command()(dead)
    group.command()(cancel)
    group.command()(retry)
    app.add_typer(group)


def list_jobs(output: OutputOption = "table", state: StateOption = None, kubeconfig: KubeconfigOption = None) -> None:
    """List every job: running (a long one says how far), ready, blocked behind its ref, or delayed."""
    with choose(state, kubeconfig).redis() as client:
        show(
            _rows(_queue(client).ls()), output, columns=("state", "step", "ref", "attempts", "progress", "due", "error")
        )


def dead(output: OutputOption = "table", state: StateOption = None, kubeconfig: KubeconfigOption = None) -> None:
    """List the dead letters: jobs that failed too often; an outside event or `queue retry` releases them."""
    with choose(state, kubeconfig).redis() as client:
        show(_rows(_queue(client).dead()), output, columns=("step", "ref", "attempts", "since", "error"))


def cancel(
    target: Annotated[str, typer.Argument(metavar="KIND/NAME", help="What the long run is about.")],
    namespace: NamespaceOption = "",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """End the long run about an object, or keep it from beginning: it becomes a dead letter. Exit 1: there is none."""
    from eventing.workqueue import rq_long

    place = choose(state, kubeconfig)
    ref = ref_of(target, namespace or place.namespace)
    with place.redis() as client:
        jobs = [Job(one.step, one.ref, "long") for one in _queue(client).ls() if one.lane == "long" and one.ref == ref]
        found = sum(rq_long.cancel(client, job) for job in dict.fromkeys(jobs))
    if not found:
        raise CliError(f"no long run about {ref}; {quoted(olmf('queue', 'ls'))} shows what runs", NEGATIVE)
    sys.stdout.write(f"canceled {found}\n")


def retry(
    step: Annotated[str, typer.Option(help="Only letters of this step, e.g. bundle/unpack_bundle.")] = "",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Release the dead letters."""
    step = checked_step("--step", step)
    with choose(state, kubeconfig).redis() as client:
        queue = _queue(client)
        chosen = [Job(dead.step, dead.ref) for dead in queue.dead() if step in ("", step_now(dead.step))]
        sys.stdout.write(f"released {queue.retry_dead(chosen) if chosen else 0}\n")


def _queue(client: Client) -> WorkQueue:
    from eventing.workqueue import WorkQueue

    return WorkQueue(client, settings())


def _rows(jobs: Iterable[Listed]) -> list[dict[str, object]]:
    return [
        {
            "state": job.state,
            "step": job.step,
            "ref": str(job.ref),
            "lane": job.lane,
            "attempts": job.attempts,
            "since": _instant(job.since),
            "due": _instant(job.due),
            "progress": str(job.progress or ""),
            "error": job.error,
            "worker": job.worker,
            "causes": list(job.causes),
        }
        for job in jobs
    ]


def _instant(when: datetime | None) -> str:
    return when.isoformat(timespec="seconds") if when else ""
