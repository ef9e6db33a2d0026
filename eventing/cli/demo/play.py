"""The demo: install, upgrade and approve sample operators in a throw-away sandbox, and explain what happened.

One of them is installed by OLM v1, as a ClusterExtension, while the others are by Subscriptions; one has webhooks,
which refuse an object of its kind.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from eventing.cli.demo.output import DemoOutput, demo_output
from eventing.cli.requests.extensions import ExtensionRequest, ask_for
from eventing.cli.requests.request import Request
from eventing.cli.requests.subscribing import approve_plan, subscribe, waiting_plan
from eventing.cli.status_text import Row, message_of, row_of
from eventing.cli.why_text import text_of
from eventing.diagnosis.status.extension_reader import extension_statuses
from eventing.diagnosis.status.package_status import PackageStatus
from eventing.diagnosis.status.reader import Sources, package_statuses
from eventing.diagnosis.why.causes import short
from eventing.diagnosis.why.explain import why
from eventing.journal import RedisJournal, Run
from eventing.local.detach import start_detached, stop
from eventing.local.processes.interrupt import Interrupt
from eventing.local.processes.supervisor import StartError
from eventing.local.state import StateDirectory
from shared.adapters.kube import ApiError, KubeClient
from shared.api.views import Object
from shared.domain.command import Command, kubectl, olmf
from shared.kinds import CATALOG_SOURCE, CLUSTER_CATALOG, DEPLOYMENT

NAMESPACE = "demo"
EXTENSION = "ledger"
"""The package that OLM v1 installs, in a namespace of its own."""
CHECKED = "lamps"
"""The package whose webhooks decide about its objects, in a namespace of its own."""
PATIENCE_SECONDS = 180.0
POLL_SECONDS = 0.1
FIRST = ("tide/0.1.0", "tide/0.2.0", "beacon/1.0.0", "ledger/2.1.0", "lamps/1.1.0")
NEWER = ("tide/0.3.0", "tide/1.0.0")
_FOLDER = Path(__file__).parent
SAMPLE_FOLDERS = (_FOLDER.parents[2] / "k8s" / "samples" / "bundles", _FOLDER.parent / "samples" / "bundles")
_LINE_WIDTH = 140


class DemoFailedError(RuntimeError):
    """A step of the demo did not end in time; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What the steps of the demo use."""

    directory: StateDirectory
    bundles: Path
    output: DemoOutput
    cluster: KubeClient
    interrupt: Interrupt


def play() -> int:
    """Run the demo and return the exit code. It leaves no process and no file, however it ends."""
    with (
        Interrupt() as interrupt,
        tempfile.TemporaryDirectory(prefix="olmf-demo-", ignore_cleanup_errors=True) as folder,
    ):
        directory = StateDirectory(Path(folder) / "state")
        try:
            _play(directory, Path(folder) / "bundles", interrupt)
        except KeyboardInterrupt:
            sys.stderr.write("interrupted; stopped everything\n")
            return 128 + interrupt.number
        except (DemoFailedError, StartError) as error:
            sys.stderr.write(f"olmf demo: {error}\n")
            return 1
    return 0


def _play(directory: StateDirectory, bundles: Path, interrupt: Interrupt) -> None:
    publish(bundles, *FIRST)
    started = time.monotonic()
    words = ("up", "--state", str(directory.root), "--bundles", str(bundles))
    with start_detached(directory, words, interrupt, watches_parent=True):
        try:
            _perform(directory, bundles, time.monotonic() - started, interrupt)
            interrupt.check()
        finally:
            stop(directory)


def _perform(directory: StateDirectory, bundles: Path, start_seconds: float, interrupt: Interrupt) -> None:
    view = demo_output()
    stage = Stage(directory, bundles, view, KubeClient.from_kubeconfig(str(directory.kubeconfig)), interrupt)
    try:
        view.print_line(f"1. Redis, sandbox, registry, watcher, worker, endpoint: ready after {start_seconds:.1f} s")
        for act in (_install, _extend, _upgrade, _approve, _extended, _refuse):
            act(stage)
    finally:
        view.close()
    _explain(stage)


def _install(stage: Stage) -> None:
    stage.output.print_line("2. Install `tide` from a catalog that has 0.1.0 and 0.2.0")
    for line in subscribe(stage.cluster, Request("tide", NAMESPACE, source="olm/local")):
        stage.output.print_line(f"   {line}")
    _wait(stage, "tide", lambda row: (row["version"], row["phase"]) == ("tide.v0.2.0", "Succeeded"), "tide.v0.2.0")


def _extend(stage: Stage) -> None:
    stage.output.print_line("3. Meanwhile OLM v1 installs `ledger` of the same catalog, as a ClusterExtension")
    source = stage.cluster.get(CATALOG_SOURCE.ref("local", "olm")) or {}
    image = {"ref": Object(source).spec["image"]}
    meta, spec = {"name": "local"}, {"source": {"type": "Image", "image": image}}
    stage.cluster.create({
        "apiVersion": CLUSTER_CATALOG.api_version, "kind": CLUSTER_CATALOG.kind, "metadata": meta, "spec": spec,
    })  # fmt: skip
    stage.output.print_line("   made ClusterCatalog local")
    for line in ask_for(stage.cluster, ExtensionRequest(EXTENSION, EXTENSION, catalog="local")):
        stage.output.print_line(f"   {line}")


def _extended(stage: Stage) -> None:
    _wait(stage, EXTENSION, lambda row: row["phase"] == "Succeeded", "ledger.v2.1.0")
    stage.output.print_line("6. `ledger` works, too; its one revision, a ClusterObjectSet, is what would go with it")


def _upgrade(stage: Stage) -> None:
    stage.output.print_line("4. Publish a newer catalog, with 0.3.0 and 1.0.0: the upgrade starts by itself")
    publish(stage.bundles, *NEWER)
    _wait(stage, "tide", lambda row: (row["version"], row["phase"]) == ("tide.v1.0.0", "Succeeded"), "tide.v1.0.0")


def _approve(stage: Stage) -> None:
    stage.output.print_line("5. Install `beacon` with Manual approval: its plan waits; `tide` is not affected")
    for line in subscribe(stage.cluster, Request("beacon", NAMESPACE, source="olm/local", is_manual=True)):
        stage.output.print_line(f"   {line}")
    _wait(stage, "beacon", lambda row: row["reason"] == "RequiresApproval", "a plan that waits")
    for line in approve_plan(stage.cluster, NAMESPACE, waiting_plan(stage.cluster, NAMESPACE, "beacon")):
        stage.output.print_line(f"   {line}")
    _wait(stage, "beacon", lambda row: row["phase"] == "Succeeded", "beacon.v1.0.0")


def _refuse(stage: Stage) -> None:
    stage.output.print_line("7. Install `lamps`, whose webhooks the API server asks about each Lamp")
    for line in subscribe(stage.cluster, Request(CHECKED, CHECKED, source="olm/local")):
        stage.output.print_line(f"   {line}")
    _wait(stage, CHECKED, lambda row: row["phase"] == "Succeeded", "lamps.v1.1.0")
    lamp = {"apiVersion": "samples.olmf.io/v1", "kind": "Lamp", "metadata": {"name": "blinding"}}
    try:
        path = f"/apis/samples.olmf.io/v1/namespaces/{CHECKED}/lamps"
        stage.cluster.request("POST", path, {**lamp, "spec": {"lumens": 5000}})
    except ApiError as error:
        stage.output.print_line(f"   a Lamp of 5000 lumens is refused: {error.message}")
    else:
        raise DemoFailedError("a Lamp of 5000 lumens was not refused by the webhook of `lamps`")


def _wait(stage: Stage, package: str, holds: Callable[[dict[str, object]], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        stage.interrupt.check()
        sources = Sources(stage.cluster)
        place = CHECKED if package == CHECKED else NAMESPACE
        found = extension_statuses(sources) if package == EXTENSION else package_statuses(sources, place)
        rows = list(map(_row, found))
        stage.output.show_packages(rows)
        if any(row["package"] == package and holds(row) for row in rows):
            return
        time.sleep(POLL_SECONDS)
    raise DemoFailedError(f"{package} never came to {what}; logs are in {stage.directory.logs}")


def _explain(stage: Stage) -> None:
    from eventing.workqueue import connect

    addresses = stage.directory.read()
    if addresses is None:
        raise DemoFailedError("the sandbox ended before its end")
    with closing(connect(addresses.redis)) as client:
        index = RedisJournal(client).brief_index()
    write = sys.stdout.write
    write("\nThe steps that ran and wrote or enqueued something:\n")
    for line in timeline(index.runs.values()):
        write(f"{line}\n")
    write(f"\nWhy is Deployment {NAMESPACE}/tide-controller as it is?\n")
    write(text_of(why(index, DEPLOYMENT.ref("tide-controller", NAMESPACE), writes=1)) + "\n")
    write("\nGo on by yourself:\n")
    for command in _next_commands():
        write(f"  {command}\n")


def _next_commands() -> Iterator[Command]:
    served = (_shown(samples()), _shown(samples().parent / "webhooks"))
    yield olmf("up", "--detach", *(word for folder in served for word in ("--bundles", folder)))
    yield Command(("export", f"KUBECONFIG={StateDirectory.default().kubeconfig}"))
    yield kubectl("get", "catsrc,sub,installplans,csv,og", "-A")
    yield olmf("install", "beacon", namespace="lights")
    yield kubectl("get", "clustercatalogs,clusterextensions,clusterobjectsets")
    yield olmf("list")
    yield olmf("down")


def _shown(folder: Path) -> str:
    """The folder as a path for a command: relative where it is below the current directory."""
    here = Path.cwd()
    return str(folder.relative_to(here) if folder.is_relative_to(here) else folder)


def samples() -> Path:
    """The folder with `<package>/<version>/{manifests,metadata}`. FileNotFoundError names the expected places."""
    for place in SAMPLE_FOLDERS:
        if place.is_dir():
            return place
    raise FileNotFoundError(f"the sample bundles are neither in {SAMPLE_FOLDERS[0]} nor in {SAMPLE_FOLDERS[1]}")


def _row(status: PackageStatus) -> Row:
    return {**row_of(status), "message": message_of(status)}


def publish(folder: Path, *versions: str) -> None:
    """Copy `package/version` of the samples into a served folder."""
    for version in versions:
        places = (samples(), samples().parent / "webhooks")
        shutil.copytree(next(place / version for place in places if (place / version).is_dir()), folder / version)


def timeline(runs: Iterable[Run]) -> Iterator[str]:
    """One line per run with writes, jobs or a failure: seconds since the first, step, object, result."""
    chosen = [run for run in runs if _sent(run) or run.jobs or run.failure]
    start = min((run.at for run in chosen), default=0)
    for run in sorted(chosen, key=lambda run: run.at):
        wrote = f"{_sent(run)} writes" if _sent(run) else "failed" if run.failure else "enqueued"
        seconds, step = (run.at - start) / 1000, run.step.partition("/")[2]
        yield f"{seconds:7.3f} s  {step:<24} {short(run.ref):<40} {wrote:<10} {run.summary}"[:_LINE_WIDTH]


def _sent(run: Run) -> int:
    return sum(write.did == "sent" for decision in run.decisions for write in decision.writes)
