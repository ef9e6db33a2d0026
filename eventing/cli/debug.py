"""What happened, and why: `why`, `capture`, `replay`."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from eventing.cli.failure import NEGATIVE, USAGE, CliError
from eventing.cli.given import opened_capture, subscribed_in
from eventing.cli.namespace import check_namespace, show, standing_of, told_of, waiting
from eventing.cli.objects import checked_step, ref_of
from eventing.cli.output import OutputOption, document, say
from eventing.cli.target import KubeconfigOption, NamespaceOption, StateOption, choose
from eventing.diagnosis.status.listing import installed
from shared.kinds import CLUSTER_SERVICE_VERSION, INSTALL_PLAN, SUBSCRIPTION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from eventing.cli.namespace import Row
    from eventing.cli.target import Target
    from eventing.diagnosis.replay import Replayed
    from eventing.diagnosis.replay.inputs import Captured
    from eventing.journal import JournalIndex
    from eventing.workqueue import Listed
    from shared.adapters.kube import KubeClient
    from shared.kinds import Ref


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (why, capture, replay):
        app.command()(verb)


def why(
    target: Annotated[
        str, typer.Argument(metavar="[KIND/NAME]", help="What we wrote, or what waits; nothing: all of the namespace.")
    ] = "",
    namespace: NamespaceOption = "",
    *,
    unfolded: Annotated[bool, typer.Option("--all", help="Also causes that concern other packages.")] = False,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="CAPTURE", help="What `olmf capture` wrote, instead of a cluster.")
    ] = None,
    output: OutputOption = "table",
    state: StateOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Tell why an object is as it is (write, run, causes, events) and what it waits for; exit 1: nothing known."""
    from eventing.diagnosis.why.explain import why as ask
    from eventing.diagnosis.why.text import text_of

    if source and (state or kubeconfig):
        raise CliError("--from asks a capture, --state and --kubeconfig a cluster: say one of them", USAGE)
    known = _captured(source) if source else _running(choose(state, kubeconfig))
    namespace = namespace or known.namespace
    if not target:
        _tell_of_namespace(known, namespace, output)
        return
    ref = ref_of(target, namespace)
    standing = _standing(known, ref)
    answer = ask(known.book, ref, known.jobs, is_folding=not unfolded).until(str(standing["nextTry"]))
    is_told_of = answer.is_known or any(ref.name in each.verdict for each in answer.last)
    if not is_told_of and known.objects.get(ref) is None:
        raise CliError(f"{ref} does not exist, and the journal knows nothing of it", NEGATIVE)
    if output == "table":
        say("\n\n".join((text_of(answer), *told_of(standing))))
    else:
        document({**answer.json(), **standing}, output)
    if not answer.writes and not answer.last:
        raise typer.Exit(NEGATIVE)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the answer is made of: the journal, the queue, the objects."""

    book: JournalIndex
    jobs: Sequence[Listed]
    objects: KubeClient | Captured
    namespace: str
    """The one that is meant without -n."""


def _running(place: Target) -> _Known:
    from eventing.journal import RedisJournal
    from eventing.workqueue import listed

    with place.redis() as client:
        return _Known(RedisJournal(client).brief_book(), listed(client), place.cluster(), place.namespace)


def _captured(path: Path) -> _Known:
    """A capture has no queue: it does not say when a step is tried next."""
    from eventing.diagnosis.replay.inputs import objects_of_capture

    capture = opened_capture(path)
    namespaces = subscribed_in(capture.objects)
    namespace = namespaces.pop() if len(namespaces) == 1 else "default"
    return _Known(capture.book, (), objects_of_capture(capture), namespace)


def _standing(known: _Known, ref: Ref) -> Row:
    """Where the package of a Subscription, version or waiting plan stands, since and until when; else nothing."""
    columns = ((SUBSCRIPTION, "subscription"), (CLUSTER_SERVICE_VERSION, "version"), (INSTALL_PLAN, "plan"))
    column = next(
        (column for kind, column in columns if (ref.api_version, ref.kind) == (kind.api_version, kind.kind)), ""
    )
    rows = installed(known.objects, ref.namespace, known.jobs) if column else []
    return standing_of(next((row for row in rows if row[column] == ref.name), {}), known.book, known.jobs)


def _tell_of_namespace(known: _Known, namespace: str, output: str) -> None:
    """What its Subscriptions wait for. CliError when it has none."""
    rows = installed(known.objects, namespace, known.jobs)
    if not rows:
        check_namespace(namespace, known.objects)
    troubled = waiting(rows, known.book, known.jobs)
    if output == "table":
        show(namespace, rows, troubled)
    else:
        subscriptions = sum(bool(row["subscription"]) for row in rows)
        document({"namespace": namespace, "waiting": troubled, "subscriptions": subscriptions}, output)


def capture(
    out: Annotated[Path, typer.Option("-o", "--out", help="The tar to write; .tar.gz is compressed.")],
    since: Annotated[int, typer.Option(min=0, help="Only the last so many seconds; 0: all that it holds.")] = 0,
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
    from eventing.journal import JournalIndex, RedisJournal, read_files

    if not out.parent.is_dir():
        raise CliError(f"-o {out}: no such folder {out.parent}", USAGE)
    if out.is_dir():
        raise CliError(f"-o {out}: this is a folder; name the file to write, e.g. {out / 'capture.tar.gz'}", USAGE)
    target = choose(state, kubeconfig)
    cluster = target.cluster()
    since_ms = int((time.time() - since) * 1000) if since else 0
    with target.redis() as client:
        book = JournalIndex.of(read_files(journal)) if journal else RedisJournal(client).book()
        count = write(book, out, present_objects(cluster, book), since_ms=since_ms)
    sys.stdout.write(f"{out}: {count} runs; `olmf replay {out}` decides them again with this version\n")


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `olmf capture` wrote.")],
    *,
    only: Annotated[str, typer.Option(help="Only this step, e.g. resolve_subscriptions.")] = "",
    until: Annotated[str, typer.Option(help="Stop after the run of this id.")] = "",
    step: Annotated[bool, typer.Option("--step", help="Show each decision and wait for Enter.")] = False,
    world: Annotated[bool, typer.Option("--world", help="In a fresh sandbox; compare the final state.")] = False,
    perturb: Annotated[str, typer.Option(help="With --world: drop, duplicate, reorder or delay events.")] = "",
    seed: Annotated[int, typer.Option(help="With --perturb: of its dice.")] = 0,
) -> None:
    """Decide a capture again with today's steps: exit 0 same Outcomes, 1 at the first that differs, with a diff."""
    from eventing.diagnosis.replay import NotACapture, NotInCapture

    if world and (only or until or step):
        raise CliError("--only, --until and --step choose decisions; --world replays them all", USAGE)
    if perturb and not world:
        raise CliError("--perturb disturbs a world: say --world, too", USAGE)
    if seed and not perturb:
        raise CliError("--seed throws the dice of --perturb: say that, too", USAGE)
    try:
        code = _replay_world(file, perturb, seed) if world else _replay_decisions(file, only, until, is_stepping=step)
    except FileNotFoundError as error:
        raise CliError(f"{file}: no such file", USAGE) from error
    except (NotACapture, NotInCapture) as error:
        raise CliError(str(error), USAGE) from error
    raise typer.Exit(code)


def _replay_decisions(file: Path, only: str, until: str, *, is_stepping: bool) -> int:
    from eventing.diagnosis.replay import replay as decide

    only = checked_step("--only", only)

    def on_each(each: Replayed) -> bool:
        if is_stepping or each.result == "different":
            sys.stdout.write("\n".join(_told(each)) + "\n")
        is_wanted = not (is_stepping and sys.stdin.isatty()) or bool(sys.stdin.readline())  # end of input: enough
        return is_wanted and each.result != "different"

    report = decide(file, only=only, until=until, on_each=on_each)
    sys.stdout.write(f"decisions: {report.count('same')} same, {report.count('different')} different")
    sys.stdout.write(f", {report.count('skipped')} without a full recording\n")
    return report.exit_code


def _told(each: Replayed) -> Iterator[str]:
    """One decision: which, what came of it then, and the diff."""
    yield f"{each.result:<10} {each.run.step} {each.run.ref} ({each.run.id})"
    if each.decision.verdict:
        yield f"  {each.decision.verdict}"
    for write in each.decision.writes:
        yield f"  {write.op} {write.ref}: {write.did or 'not tried'}"
    if each.detail:
        yield each.detail


def _replay_world(file: Path, perturb: str, seed: int) -> int:
    from eventing.diagnosis.replay.sandboxed import replay_in_sandbox
    from eventing.diagnosis.replay.world import Perturbation
    from shared.telemetry import configure_logging

    configure_logging("critical")  # the answer is the difference; it names the steps that failed
    found: Perturbation | None = next((each for each in get_args(Perturbation) if each == perturb), None)
    if found is None:
        wanted = ", ".join(filter(None, get_args(Perturbation)))
        raise CliError(f"--perturb {perturb}: wanted one of {wanted}", USAGE)
    report = replay_in_sandbox(file, perturb=found, seed=seed)
    for ref, difference in report.differences:
        sys.stdout.write(f"{ref}\n{difference}\n")
    for failure in report.failures:
        sys.stdout.write(f"failed: {failure}\n")
    if not report.is_settled:
        sys.stdout.write("the steps kept ringing each other and were stopped\n")
    sys.stdout.write(f"{report.runs} runs, {len(report.differences)} objects ended differently\n")
    return report.exit_code
