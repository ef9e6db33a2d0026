"""The ClusterCatalogs of a cluster: `olmf catalog ls` and `olmf catalog refresh`."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Final

import typer

from eventing.cli.commands import quoted
from eventing.cli.failure import NEGATIVE, CliError
from eventing.cli.names import similar
from eventing.cli.output import OutputOption, print_lines, show
from eventing.cli.target import KubeconfigOption, StateOption, choose
from eventing.events.event import change_of
from shared import names
from shared.api.manifest import name_of, timestamp
from shared.api.views import ClusterCatalog
from shared.domain.cluster_catalog import PROGRESSING, SERVING
from shared.domain.command import olmf
from shared.kinds import CLUSTER_CATALOG

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventing.journal import Run
    from eventing.workqueue import Client
    from shared.adapters.kube import KubeClient

_COLUMNS = ("name", "serving", "progressing", "priority", "image", "unpacked", "message")
_STEP: Final = "cluster_catalog/unpack_catalog"
_POLL_SECONDS: Final = 0.5


def register(group: typer.Typer) -> None:
    """Add the verbs."""
    group.command()(ls)
    group.command()(refresh)


def ls(output: OutputOption = "table", *, state: StateOption = None, kubeconfig: KubeconfigOption = None) -> None:
    """List the ClusterCatalogs of a cluster: what they serve, since when, and what is wrong.

    What catalogs of OLM classic offer, `olmf list --available` says.
    """
    found = ClusterCatalog.each(choose(state, kubeconfig).cluster().list(CLUSTER_CATALOG))
    if found or output != "table":
        show(list(map(row_of, found)), output, columns=_COLUMNS)
    else:
        print_lines("no ClusterCatalog yet")


def row_of(catalog: ClusterCatalog) -> dict[str, object]:
    """One catalog: what it serves, and why it serves nothing newer."""
    serving, progressing = catalog.condition(SERVING), catalog.condition(PROGRESSING)
    troubled = progressing if progressing.reason not in ("", "Succeeded") else serving
    is_well = serving.is_true and progressing.reason == "Succeeded"
    return {
        "name": catalog.name,
        "serving": serving.status,
        "progressing": progressing.reason,
        "mode": "Unavailable" if catalog.is_disabled else "Available",
        "priority": catalog.priority,
        "image": catalog.image,
        "resolved": catalog.resolved,
        "unpacked": catalog.unpacked.isoformat(timespec="seconds") if catalog.unpacked else "",
        "message": "" if is_well else troubled.message,
    }


def refresh(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The ClusterCatalog.")],
    *,
    timeout: Annotated[int, typer.Option(min=0, help="Seconds to wait; 0 returns at once.")] = 60,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Look up the image of a ClusterCatalog now, instead of at its next poll.

    Exit code 1: it could not be read, or nobody looked in time.
    """
    target = choose(state, kubeconfig)
    cluster = target.cluster()
    catalog = asked(cluster, name.rpartition("/")[2])
    if not timeout:
        print_lines(f"{catalog.name} is looked up")
        return
    with target.redis() as client:
        print_lines(followed(cluster, catalog, lambda: _run_since(client, catalog), timedelta(seconds=timeout)))


def asked(cluster: KubeClient, name: str) -> ClusterCatalog:
    """The catalog, after it was marked: the change is what wakes its step. CliError."""
    ref = CLUSTER_CATALOG.ref_or_none(name)
    catalog = ClusterCatalog.of(cluster.get(ref)) if ref else None
    if catalog is None or ref is None:
        known = {name_of(one) for one in cluster.list(CLUSTER_CATALOG)}
        raise CliError(f"there is no ClusterCatalog {name!r}{similar(name, known)}", NEGATIVE)
    if catalog.is_disabled:
        raise CliError(f"{name} is not read: its availabilityMode is Unavailable", NEGATIVE)
    now = timestamp(datetime.now(UTC))
    return ClusterCatalog(cluster.merge(ref, {"metadata": {"annotations": {names.REFRESHED: now}}}))


def followed(
    cluster: KubeClient, before: ClusterCatalog, run_since: Callable[[], Run | None], timeout: timedelta
) -> str:
    """What came of it. CliError when it failed, or when the time is over."""
    deadline = time.monotonic() + timeout.total_seconds()
    while (run := run_since()) is None:
        if time.monotonic() > deadline:
            waits = quoted(olmf("why", f"{CLUSTER_CATALOG.kind}/{before.name}"))
            raise CliError(f"{before.name} was not looked up within {timeout.total_seconds():.0f} s; {waits}", NEGATIVE)
        time.sleep(_POLL_SECONDS)
    now = ClusterCatalog(cluster.get(CLUSTER_CATALOG.ref(before.name)) or {})
    trouble = now.condition(PROGRESSING)
    if trouble.reason != "Succeeded":
        raise CliError(f"{before.name}: {trouble.message or run.summary}", NEGATIVE)
    return f"{before.name}: {run.summary}; {'unchanged' if now.resolved == before.resolved else 'this is newer'}"


def _run_since(client: Client, catalog: ClusterCatalog) -> Run | None:
    """The first run of its step that began after the event of its mark was received."""
    from eventing.journal import RedisJournal

    index, ref = RedisJournal(client).brief_index(), str(CLUSTER_CATALOG.ref(catalog.name))
    change = (catalog.uid, catalog.resource_version)
    marked = min((event.at for event in index.events.values() if change_of(event.id) == change), default=None)
    runs = (one for one in index.runs.values() if (one.step, one.ref) == (_STEP, ref))
    later = (one for one in runs if marked is not None and one.at >= marked)
    return min(later, key=lambda one: one.at, default=None)
