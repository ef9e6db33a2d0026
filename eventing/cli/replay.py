"""`olmf replay`: runs the decisions of a capture again, or its whole world with disturbed events."""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventing.cli.commands import shown
from eventing.cli.failure import NEGATIVE, USAGE, CliError
from eventing.cli.objects import checked_step
from eventing.local.state import Addresses, AlreadyRunningError, StateDirectory
from shared.domain.command import kubectl, olmf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventing.diagnosis.replay import Replayed
    from eventing.diagnosis.replay.perturbation import Kind, Perturbation
    from eventing.diagnosis.replay.search import Found
    from eventing.diagnosis.replay.world import WorldReport


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(replay)


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `olmf capture` wrote.")],
    *,
    only: Annotated[str, typer.Option(help="Only this step, e.g. resolve_subscriptions.")] = "",
    until: Annotated[
        str,
        typer.Option(metavar="ID", help="Stop after this run; with --world also after an event, and keep the world."),
    ] = "",
    step: Annotated[bool, typer.Option("--step", help="Show each decision and wait for Enter.")] = False,
    code: Annotated[
        str, typer.Option(metavar="PATH|REF", help="Decide with this folder's code, or a git revision's.")
    ] = "",
    world: Annotated[bool, typer.Option("--world", help="In a fresh sandbox; compare the final state.")] = False,
    perturb: Annotated[str, typer.Option(help="With --world: drop, duplicate, reorder or delay events.")] = "",
    seed: Annotated[int, typer.Option(help="With --perturb: of its random choices.")] = 0,
    runs: Annotated[int, typer.Option(min=1, help="With --perturb: so many worlds, of the seeds from --seed on.")] = 1,
    state: Annotated[
        Path | None, typer.Option(file_okay=False, help="With --world --until: keep the world in this directory.")
    ] = None,
) -> None:
    """Decide a capture again with today's steps: exit 0 same Outcomes, 1 at the first that differs, with a diff.

    With --perturb the fewest events are looked for after which a world still ends otherwise. With --world --until the
    world stops there, and is served until Ctrl-C: `olmf` and `kubectl` show it.
    """
    _check(
        only=only,
        until=until,
        step=step,
        code=code,
        world=world,
        perturb=perturb,
        draws=bool(seed) or runs > 1,
        state=state,
    )
    with _sentences(file):
        if world:
            raise typer.Exit(_lived(file, until, state, perturb, seeds=range(seed, seed + runs)))
        raise typer.Exit(_other_code(file, code, only) if code else _decisions(file, only, until, is_stepping=step))


def _check(
    *, only: str, until: str, step: bool, code: str, world: bool, perturb: str, draws: bool, state: Path | None
) -> None:
    """CliError where options do not go together."""
    mistakes = {
        "--only, --step and --code choose decisions; --world replays them all": world and (only or step or code),
        "--until and --step are for the code of today; with --code all decisions are shown": code and (until or step),
        "--perturb disturbs a world: give --world, too": perturb and not world,
        "--seed and --runs only matter with --perturb: give that, too": draws and not perturb,
        "--until stops a world where the recording was; give it without --perturb": until and perturb,
        "--state is for a world that stops: give --world and --until, too": state and not (world and until),
    }
    if sentence := next((sentence for sentence, is_so in mistakes.items() if is_so), ""):
        raise CliError(sentence, USAGE)


@contextmanager
def _sentences(file: Path) -> Iterator[None]:
    """What is wrong with what was given, as CliError."""
    from eventing.diagnosis.replay import NotACapture, NotInCapture
    from eventing.diagnosis.replay.other_code import NoSuchCode

    try:
        yield
    except FileNotFoundError as error:
        raise CliError(f"{file}: no such file", USAGE) from error
    except (NotACapture, NotInCapture, NoSuchCode) as error:
        raise CliError(str(error), USAGE) from error


def _lived(file: Path, until: str, state: Path | None, perturb: str, *, seeds: range) -> int:
    if until:
        return _stopped(file, until, state)
    return _perturbed(file, _kind(perturb), seeds) if perturb else _world(file)


def _decisions(file: Path, only: str, until: str, *, is_stepping: bool) -> int:
    from eventing.diagnosis.replay import replay as decide

    only = checked_step("--only", only)

    def on_each(each: Replayed) -> bool:
        if is_stepping or each.result == "different":
            sys.stdout.write("\n".join(_lines_of(each)) + "\n")
        goes_on = not (is_stepping and sys.stdin.isatty()) or bool(sys.stdin.readline())  # end of input: enough
        return goes_on and each.result != "different"

    report = decide(file, only=only, until=until, on_each=on_each)
    _count(*map(report.count, ("same", "different", "skipped")))
    return report.exit_code


def _count(same: int, different: int, skipped: int) -> None:
    sys.stdout.write(f"decisions: {same} same, {different} different, {skipped} without a full recording\n")


def _lines_of(each: Replayed) -> Iterator[str]:
    """One decision: which, what came of it then, and the diff."""
    yield f"{each.result:<10} {each.run.step} {each.run.ref} ({each.run.id})"
    if each.decision.message:
        yield f"  {each.decision.message}"
    for write in each.decision.writes:
        yield f"  {write.op} {write.ref}: {write.did or 'not tried'}"
    if each.detail:
        yield each.detail


def _other_code(file: Path, code: str, only: str) -> int:
    """Every decision that other code makes otherwise than it was recorded."""
    from eventing.diagnosis.replay import open_capture
    from eventing.diagnosis.replay.other_code import decided, tree_of

    runs = open_capture(file).index.runs  # what is wrong with the file is not the fault of that code
    _note(f"deciding {len(runs)} recorded runs with the code of {code}")
    counts = {"same": 0, "different": 0, "skipped": 0}
    with tree_of(code) as tree:
        for each in decided(tree, file, checked_step("--only", only)):
            counts[each.result] += 1
            if each.result == "different":
                sys.stdout.write(f"different  {each.step} {each.ref} ({each.id})\n{each.detail}\n")
    _count(**counts)
    return 1 if counts["different"] else 0 if counts["same"] else 3


def _world(file: Path) -> int:
    from eventing.diagnosis.replay.sandboxed import replay_in_sandbox

    _quiet()
    _note(f"living {file} again in a fresh sandbox")
    report = replay_in_sandbox(file)
    _print_report(report)
    sys.stdout.write(f"{report.runs} runs, {len(report.differences)} objects ended differently\n")
    return report.exit_code


def _stopped(file: Path, until: str, state: Path | None) -> int:
    """Serve the world as it was at that event; of a directory that nobody named nothing stays."""
    from eventing.diagnosis.replay.stopped import NotEmpty, serve_stopped

    def print_addresses(found: Addresses, runs: int) -> None:
        tries = (
            olmf("list", "--state", str(found.state)),
            olmf("queue", "ls", "--state", str(found.state)),
            kubectl("--kubeconfig", found.kubeconfig, "get", "sub,installplans,csv,og", "-A"),
        )
        sys.stdout.write(f"stopped after {runs} runs; no program works on it; it is served until Ctrl-C\ntry: ")
        sys.stdout.write("\n     ".join(map(shown, tries)) + "\n")
        sys.stdout.flush()

    _quiet()
    _note(f"living {file} again until {until}")
    with tempfile.TemporaryDirectory(prefix="olmf-replay-") as scratch:
        try:
            serve_stopped(file, until, StateDirectory((state or Path(scratch)).resolve()), print_addresses)
        except (AlreadyRunningError, NotEmpty) as error:
            raise CliError(str(error), NEGATIVE) from error
    return 0


def _perturbed(file: Path, kind: Kind, seeds: range) -> int:
    from eventing.diagnosis.replay.sandboxed import replay_in_sandbox
    from eventing.diagnosis.replay.search import changes_of, search, story

    _quiet()
    changes = changes_of(file)

    def replayed(perturbed: Perturbation | None) -> WorldReport:
        return replay_in_sandbox(file, perturbed=perturbed)

    found = search(replayed, len(changes), kind, seeds, report_progress=_note)
    if found.perturbed:
        sys.stdout.write("\n".join(story(changes, found.perturbed)) + "\n")
    _print_report(found.report)
    sys.stdout.write(_summary(found, kind))
    return found.report.exit_code


def _summary(found: Found, kind: Kind) -> str:
    differing = f"{len(found.report.differences)} objects ended differently"
    if found.perturbed:
        count = len(found.perturbed.places)
        end = f"{differing} after these {count} events ({kind}), in world {found.worlds}"
        return f"{end}\n" if found.is_fewest else f"{end}; fewer may do: only {found.tried} more worlds were tried\n"
    if found.report.exit_code:
        return f"{differing} although no event was perturbed\n"
    return f"{found.worlds} worlds, {found.worlds - 1} of them with disturbed events ({kind}): all ended alike\n"


def _note(sentence: str) -> None:
    """What is being done, at once, beside the answer."""
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


def _print_report(report: WorldReport) -> None:
    for ref, difference in report.differences:
        sys.stdout.write(f"{ref}\n{difference}\n")
    for failure in report.failures:
        sys.stdout.write(f"failed: {failure}\n")
    if not report.is_settled:
        sys.stdout.write("the steps kept enqueueing each other and were stopped\n")


def _quiet() -> None:
    from shared.telemetry import configure_logging

    configure_logging("critical")  # the answer is the difference; it names the steps that failed


def _kind(word: str) -> Kind:
    from eventing.diagnosis.replay.perturbation import KINDS

    found: Kind | None = next((each for each in KINDS if each == word), None)
    if found is None:
        raise CliError(f"--perturb {word}: wanted one of {', '.join(KINDS)}", USAGE)
    return found
