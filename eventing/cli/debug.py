"""What happened, and why: `why`, `capture`."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Annotated, cast

import typer

from eventing.cli.commands import quoted
from eventing.cli.extension.cluster import content_of_cluster, listed_extensions
from eventing.cli.failure import NEGATIVE, USAGE, CliError
from eventing.cli.names import check_namespace, similar
from eventing.cli.namespace import paragraphs, show, show_extensions, waiting
from eventing.cli.namespace_inputs import opened_capture, subscribed_in
from eventing.cli.objects import ref_of, subscription_meant
from eventing.cli.output import CaptureOption, OutputOption, document, print_lines
from eventing.cli.status_text import next_try_of, row_of
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption, choose
from eventing.cli.why_catalog import catalog_paragraphs
from eventing.cli.why_text import text_of
from eventing.diagnosis.status.reader import Sources, detailed, package_statuses
from shared.api.manifest import name_of
from shared.api.views import Subscription
from shared.domain.command import olmf
from shared.kinds import CLUSTER_SERVICE_VERSION, INSTALL_PLAN, KINDS, SUBSCRIPTION, Ref

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from eventing.cli.extension.answer import Answer
    from eventing.cli.target import Target
    from eventing.diagnosis.replay.inputs import CaptureObjects
    from eventing.diagnosis.status.package_status import PackageStatus
    from eventing.journal import JournalIndex
    from eventing.workqueue import Listed
    from shared.adapters.kube import KubeClient
    from shared.ports import Discovery
    from shared.reading.extension import Sources as Content

_MOST_NAMED = 5
_TARGET = "What we wrote, or what waits, a Subscription without KIND; nothing: all of the namespace."


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (why, capture):
        app.command()(verb)


def why(
    target: Annotated[str, typer.Argument(metavar="[[KIND/]NAME]", help=_TARGET)] = "",
    namespace: NamespaceOption = "",
    *,
    unfolded: Annotated[bool, typer.Option("--all", help="Also causes that concern other packages.")] = False,
    source: CaptureOption = None,
    output: OutputOption = "table",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Tell why an object is as it is (write, run, causes, events) and what it waits for; exit 1: nothing known."""
    from eventing.diagnosis.why.explain import why as ask

    if source and (state or kubeconfig):
        raise CliError("--from reads a capture, --state and --kubeconfig a cluster: give only one", USAGE)
    known = _known_of_capture(source) if source else _running(choose(state, kubeconfig))
    namespace = namespace or known.namespace
    if not target:
        _print_namespace(known, namespace, output)
        return
    ref = ref_of(target if "/" in target else _subscription(known, target, namespace), namespace)
    about = _extension(known, ref)
    status = about.status if about else _status(known, ref)
    until = next_try_of(status) if status else ""
    answer = ask(known.index, ref, known.jobs, is_folding=not unfolded).until(until)
    if not answer.is_known and known.objects.get(ref) is None:
        hint = similar(ref.name, _same_kind(known, ref))
        raise CliError(f"{ref} does not exist, and the journal knows nothing of it{hint}", NEGATIVE)
    if output == "table":
        of_catalog = catalog_paragraphs(ref, known.objects, datetime.now(UTC))
        rest = (*(paragraphs(status) if status else ()), *(about.paragraphs() if about else ()), *of_catalog)
        print_lines("\n\n".join((text_of(answer), *rest)))
    else:
        package = {"package": row_of(status) if status else None}
        document({**answer.json(), **package, **(about.json() if about else {})}, output)
    if not answer.writes and not answer.last and about is None:
        raise typer.Exit(NEGATIVE)


def _subscription(known: _Known, word: str, namespace: str) -> str:
    """`Subscription/NAME` for the name of a Subscription or of its package."""
    found = Subscription.each(known.objects.list(SUBSCRIPTION, namespace))
    return f"{SUBSCRIPTION.kind}/{subscription_meant(word, {one.name: one.package for one in found})}"


def _same_kind(known: _Known, ref: Ref) -> set[str]:
    """The names of the objects of that kind and namespace, as the journal and the cluster know them."""
    parsed = map(Ref.parse, known.index.refs())
    there = {one.name for one in parsed if replace(one, name=ref.name) == ref}
    kind = next((one for one in KINDS if (one.api_version, one.kind) == (ref.api_version, ref.kind)), None)
    return there | {name_of(one) for one in known.objects.list(kind, ref.namespace)} if kind else there


@dataclass(frozen=True, slots=True)
class _Known:
    """What the answer is made of: the journal, the queue, the objects."""

    index: JournalIndex
    jobs: Sequence[Listed]
    objects: KubeClient | CaptureObjects
    namespace: str
    """The one that is meant without -n."""
    content: Callable[[], Content]
    """The catalogs of OLM v1, for who needs them."""
    discovery: Discovery | None = None
    """Which kinds there are; a capture does not say."""

    def sources(self) -> Sources:
        """What statuses are read from, without the journal."""
        return Sources(self.objects, tuple(self.jobs))


def _running(place: Target) -> _Known:
    from eventing.journal import RedisJournal
    from eventing.workqueue import listed

    with place.redis() as client:
        cluster = place.cluster()
        index, jobs = RedisJournal(client).brief_index(), listed(client)
        return _Known(index, jobs, cluster, place.namespace, partial(content_of_cluster, cluster), cluster)


def _known_of_capture(path: Path) -> _Known:
    """A capture has no queue: it does not say when a step is tried next."""
    from eventing.diagnosis.replay.inputs import content_of_capture, objects_of_capture

    capture = opened_capture(path)
    namespaces = subscribed_in(capture.objects)
    namespace = namespaces.pop() if len(namespaces) == 1 else "default"
    return _Known(capture.index, (), objects_of_capture(capture), namespace, partial(content_of_capture, capture))


def _extension(known: _Known, ref: Ref) -> Answer | None:
    """What there is about a ClusterExtension, or that of a revision; None for anything else."""
    from eventing.cli.extension.answer import answer_about, extension_behind

    extension = extension_behind(ref, known.objects)
    sources = replace(known.sources(), index=known.index)
    return answer_about(extension, sources, known.content(), known.discovery) if extension else None


def _status(known: _Known, ref: Ref) -> PackageStatus | None:
    """Where the package of a Subscription, version or unfinished plan stands; None for anything else."""
    sources = known.sources()
    found = package_statuses(sources, ref.namespace) if ref.namespace else []
    named = {SUBSCRIPTION: "subscription", CLUSTER_SERVICE_VERSION: "version", INSTALL_PLAN: "plan"}
    field = next(
        (field for kind, field in named.items() if (ref.api_version, ref.kind) == (kind.api_version, kind.kind)), ""
    )
    is_plan = field == "plan"  # which a status names when it waits for approval, and shows else
    mine = (one for one in found if field and (getattr(one, field) == ref.name or (is_plan and ref in one.evidence)))
    status = next(mine, None)
    return detailed(replace(sources, index=known.index), status) if status else None


def _print_namespace(known: _Known, namespace: str, output: str) -> None:
    """What its Subscriptions wait for, and the ClusterExtensions that install into it. CliError when it has none."""
    sources = known.sources()
    statuses, extensions = package_statuses(sources, namespace), listed_extensions(sources, namespace)
    if not (statuses or extensions):
        check_namespace(namespace, known.objects)
    troubled = waiting(statuses, replace(sources, index=known.index))
    if output == "table":
        if statuses:
            show(namespace, statuses, troubled)
        show_extensions(extensions)
    else:
        subscriptions = sum(bool(one.subscription) for one in statuses)
        rows = list(map(row_of, troubled))
        of_v1 = {"extensions": list(map(row_of, extensions))}
        document({"namespace": namespace, "waiting": rows, "subscriptions": subscriptions, **of_v1}, output)


def capture(
    out: Annotated[Path, typer.Option("-o", "--out", help="The tar to write; .tar.gz is compressed.")],
    since: Annotated[int, typer.Option(min=0, help="Only the last so many seconds; 0: all that it holds.")] = 0,
    *,
    journal: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="Folder of OLMF_JOURNAL_FILES, which reaches further back."),
    ] = None,
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Write what was seen, asked, decided and written, and the present objects, to a tar without Secret data."""
    from eventing.diagnosis.replay import capture as write
    from eventing.diagnosis.replay import present_objects
    from eventing.journal import RedisJournal, read_files
    from eventing.journal.stream import KEY
    from eventing.workqueue import listed
    from eventing.workqueue.listing import LIVE

    if not out.parent.is_dir():
        raise CliError(f"-o {out}: no such folder {out.parent}", USAGE)
    if out.is_dir():
        raise CliError(f"-o {out}: this is a folder; name the file to write, e.g. {out / 'capture.tar.gz'}", USAGE)
    if not _has_room_for_temporary_files():
        raise CliError("there is no folder for temporary files: name one by TMPDIR", USAGE)
    target = choose(state, kubeconfig)
    cluster = target.cluster()
    since_ms = int((time.time() - since) * 1000) if since else 0
    with target.redis() as client:
        unfinished = listed(client, states=LIVE)
        entries = read_files(journal) if journal else RedisJournal(client).entries()
        key = cast("bytes", client.get(KEY) or b"")  # why: to make one is a write, which a Redis that is full refuses
        count = write(entries, out, partial(present_objects, cluster), key=key, since_ms=since_ms)
    sys.stdout.write(
        f"{out}: {count} runs; `{olmf('replay', str(out))}` runs their decisions again with this version\n"
    )
    print_lines(*unfinished_note(unfinished, out))


def _has_room_for_temporary_files() -> bool:
    with suppress(FileNotFoundError):
        return bool(gettempdir())
    return False


def unfinished_note(jobs: Sequence[Listed], out: Path) -> Iterator[str]:
    """A line about jobs whose writes the capture does not have; none without any."""
    if not jobs:
        return
    due = max((job.due for job in jobs if job.due), default=None)
    until = f", the last until {due.isoformat(timespec='seconds')}" if due else ""
    steps = ", ".join(sorted({job.step for job in jobs})[:_MOST_NAMED])
    replay, queue = olmf("replay", str(out), "--world"), olmf("queue", "ls")
    yield (
        f"jobs that wait or run: {len(jobs)} ({steps}{until}); what they will write is not in it, so "
        f"`{replay}` may end otherwise; {quoted(queue)} lists them"
    )
