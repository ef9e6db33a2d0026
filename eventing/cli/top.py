"""`olmf top`: what the pipeline is busy with, drawn again and again in a terminal."""

from __future__ import annotations

import io
import shutil
import sys
import time
from contextlib import redirect_stdout
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer

from eventing.cli.output import OutputOption, document, table
from eventing.cli.target import KubeconfigOption, StateOption, choose
from eventing.cli.visible import Own
from eventing.wiring.environment import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventing.diagnosis.top import Frame

_TO_TOP, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"
_FIRST_SCREEN: Final = "\x1b[2J"
_ROWS: Final = 8
"""Rows of each table; on a terminal no more than fit."""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(top)


def top(
    *,
    once: Annotated[bool, typer.Option("--once", help="Print it once; so it is where stdout is no terminal.")] = False,
    every: Annotated[float, typer.Option(min=0.5, help="Seconds between two looks.")] = 2.0,
    output: OutputOption = "table",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Show what the pipeline is busy with: queue, workers, waiting namespaces, slowest steps; until Ctrl-C."""
    from eventing.diagnosis.top import look
    from eventing.workqueue import WorkQueue

    target = choose(state, kubeconfig, quiet=True)
    with target.redis() as client:
        queue = WorkQueue(client, settings())
        frame = look(queue, datetime.now(UTC))
        if output != "table":
            document(as_json(frame), output)
        elif once or not sys.stdout.isatty():
            sys.stdout.write("\n".join(lines(frame, target.where)) + "\n")
        else:
            screen = Own(sys.stdout)
            screen.write(_FIRST_SCREEN)
            while True:
                screen.write(drawn(list(lines(frame, target.where)), *shutil.get_terminal_size()))
                screen.flush()
                time.sleep(every)
                frame = look(queue, datetime.now(UTC), frame)


def drawn(shown: list[str], columns: int, rows: int) -> str:
    """What a terminal of that size gets: each line in place of the one before, and nothing below the last."""
    fitting = [line[:columns] for line in shown[: rows - 1]]
    return _TO_TOP + "".join(f"{line}{_CLEAR_LINE}\r\n" for line in fitting) + _CLEAR_BELOW


def lines(frame: Frame, where: str) -> Iterator[str]:
    """The frame for people; what has no rows is left out."""
    depth = frame.depth
    ready = ", ".join(f"{group} {count}" for group, count in depth.ready.items() if count)
    total = sum(depth.ready.values())
    yield f"{frame.at:%H:%M:%S}  {where}"
    yield (
        f"queue: {depth.running} running, {total} ready{f' ({ready})' if ready else ''}, {depth.long} long, "
        f"{depth.delayed} delayed, {depth.dead} dead"
    )
    tables = {
        ("worker", "lane", "running", "heard"): workers_of(frame),
        ("running", "ref", "progress"): running_of(frame),
        ("namespace", "ready", "blocked", "delayed", "dead", "waits"): waiting_of(frame),
        ("slowestStep", "mean", "runs", "failed", "now"): steps_of(frame),
    }
    for columns, found in tables.items():
        if found:
            yield ""
            yield from _table(found[:_ROWS], columns)
        if len(found) > _ROWS:
            yield f"… {len(found) - _ROWS} more"


def _table(rows: list[dict[str, object]], columns: tuple[str, ...]) -> list[str]:
    with redirect_stdout(io.StringIO()) as written:
        table(rows, columns)
    return written.getvalue().splitlines()


def workers_of(frame: Frame) -> list[dict[str, object]]:
    """A row for each worker."""
    return [
        {
            "worker": busy.worker.name,
            "lane": busy.worker.lane,
            "running": busy.running,
            "heard": _ago(frame.at, busy.worker.heard),
        }
        for busy in frame.workers
    ]


def running_of(frame: Frame) -> list[dict[str, object]]:
    """A row for each run."""
    return [{"running": job.step, "ref": str(job.ref), "progress": str(job.progress or "")} for job in frame.running]


def waiting_of(frame: Frame) -> list[dict[str, object]]:
    """A row for each namespace in which something waits."""
    return [
        {
            "namespace": one.namespace or "(cluster)",
            **{name: getattr(one, name) for name in ("ready", "blocked", "delayed", "dead")},
            "waits": _ago(frame.at, one.since),
        }
        for one in frame.waiting
    ]


def steps_of(frame: Frame) -> list[dict[str, object]]:
    """A row for each step that ran, the slowest first; `now`: runs since the look before."""
    return [
        {
            "slowestStep": one.step,
            "mean": f"{one.mean * 1000:.1f} ms",
            "runs": one.runs,
            "failed": one.failed or "",
            "now": one.recent or "",
        }
        for one in frame.steps
    ]


def as_json(frame: Frame) -> dict[str, object]:
    """The frame for machines: times in UTC, durations in seconds."""
    depth = frame.depth
    running = [{"step": job.step, "ref": str(job.ref), "progress": str(job.progress or "")} for job in frame.running]
    return {
        "at": frame.at.isoformat(timespec="seconds"),
        "queue": {
            "ready": dict(depth.ready), "running": depth.running, "long": depth.long, "delayed": depth.delayed,
            "dead": depth.dead,
        },
        "workers": [
            {"name": one.worker.name, "lane": one.worker.lane, "running": one.running, "since": one.worker.since}
            for one in frame.workers
        ],
        "running": running,
        "namespaces": [
            {
                "namespace": one.namespace, "ready": one.ready, "blocked": one.blocked, "delayed": one.delayed,
                "dead": one.dead, "since": one.since,
            }
            for one in frame.waiting
        ],
        "steps": [
            {"step": one.step, "runs": one.runs, "failed": one.failed, "meanSeconds": round(one.mean, 6)}
            for one in frame.steps
        ],
    }  # fmt: skip


def _ago(now: datetime, then: datetime | None) -> str:
    """How long ago, in seconds or minutes."""
    if then is None:
        return ""
    seconds = max(0.0, (now - then).total_seconds())
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
