"""The work queue as people see it: `queue ls`, `queue dead`, `queue retry`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.objects import checked_step
from eventing.cli.output import OutputOption, show
from eventing.cli.target import KubeconfigOption, StateOption, choose
from eventing.events.job import Job

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
    group.command()(retry)
    app.add_typer(group)


def list_jobs(output: OutputOption = "table", state: StateOption = None, kubeconfig: KubeconfigOption = None) -> None:
    """List every job: running, ready, blocked behind its ref, or delayed with its next try and last error."""
    with choose(state, kubeconfig).redis() as client:
        show(_rows(_queue(client).ls()), output, columns=("state", "step", "ref", "attempts", "due", "error"))


def dead(output: OutputOption = "table", state: StateOption = None, kubeconfig: KubeconfigOption = None) -> None:
    """List the dead letters: jobs that failed too often; an outside event or `queue retry` releases them."""
    with choose(state, kubeconfig).redis() as client:
        show(_rows(_queue(client).dead()), output, columns=("step", "ref", "attempts", "since", "error"))


def retry(
    step: Annotated[str, typer.Option(help="Only letters of this step, e.g. bundle/unpack_bundle.")] = "",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Release the dead letters."""
    step = checked_step("--step", step)
    with choose(state, kubeconfig).redis() as client:
        queue = _queue(client)
        chosen = [Job(letter.step, letter.ref) for letter in queue.dead() if step in ("", letter.step)]
        sys.stdout.write(f"released {queue.retry_dead(chosen) if chosen else 0}\n")


def _queue(client: Client) -> WorkQueue:
    from eventing import wiring
    from eventing.workqueue import WorkQueue

    return WorkQueue(client, wiring.settings())


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
            "error": job.error,
            "worker": job.worker,
            "causes": list(job.causes),
        }
        for job in jobs
    ]


def _instant(when: datetime | None) -> str:
    return when.isoformat(timespec="seconds") if when else ""
