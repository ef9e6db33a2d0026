"""The programs: `olmf run watch|worker|endpoint|…`, in pods and in local mode; and `olmf unpack`."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from eventing.catalogs import tls_profile
from eventing.cli.failure import USAGE, CliError
from eventing.local.processes.parent_watch import READY_FILE, WATCH_PARENT, announce, end_with_supervisor
from eventing.local.state import is_alive
from eventing.wiring import environment
from shared.config import Settings
from shared.kinds import CONFIG_MAP

StatePathOption = Annotated[Path | None, typer.Option("--state", help="Where it keeps its data.")]


def register(app: typer.Typer) -> None:
    """Add the programs."""
    group = typer.Typer(name="run", help="Run one program until SIGTERM.", no_args_is_help=True)
    group.callback()(end_with_supervisor)
    for program in (watch, worker, endpoint, scheduler, content, catalogs, packages, kubelet, api, redis):
        group.command()(program)
    app.add_typer(group)
    app.command()(unpack)


def _settings(**options: str) -> Settings:
    from shared.telemetry import configure_logging

    values = environment.settings(**options)
    configure_logging(values.log_level, as_json=values.log_json)
    return values


def _of_pipeline(**options: str) -> Settings:
    """The settings of a program that works with the queue. NewerFormat when a newer release wrote what that holds."""
    from eventing.workqueue import check_format

    values = _settings(**options)
    if values.redis_url:
        check_format(values.redis_url)
    return values


def watch() -> None:
    """Watch the Kubernetes API and enqueue the steps of every change."""
    from eventing.wiring import watcher

    watcher.main(_of_pipeline(), lambda address, probe: announce(address, probe=probe))


def worker(
    lane: Annotated[
        str, typer.Option(envvar="OLMF_LANE", help="direct, or long: what may take minutes, e.g. pulls of catalogs.")
    ] = "direct",
) -> None:
    """Run steps."""
    from eventing.wiring import worker

    raise typer.Exit(worker.main(_of_pipeline(lane=lane), announce))


def endpoint(
    *,
    drain: Annotated[bool, typer.Option("--drain", help="Work the queue off before each answer (Knative).")] = False,
) -> None:
    """Accept CloudEvents over HTTP."""
    from eventing.wiring import endpoint

    command = (sys.executable, "-m", "eventing.cli.main", "run", "worker")
    drainer = (command, {WATCH_PARENT: "1", READY_FILE: ""}) if drain else None
    endpoint.main(_of_pipeline(), lambda address, probe: announce(address, probe=probe), drainer)


def scheduler() -> None:
    """Enqueue what is due, take back lost leases, start audits, post notifications to the sink, wake what rests."""
    from eventing.wiring import scheduler

    scheduler.main(_of_pipeline(), announce)


def kubelet() -> None:
    """Simulate the kubelet of a cluster without Nodes."""
    from eventing.local.kubelet.program import run

    run(_settings(), announce)


def content(
    bundles: Annotated[
        list[Path] | None, typer.Option(envvar="OLMF_BUNDLES", help="Folder of bundles to serve as images.")
    ] = None,
    catalog: Annotated[
        list[Path] | None, typer.Option(envvar="OLMF_CATALOGS", help="Folder of a file-based catalog.")
    ] = None,
) -> None:
    """Serve folders as images from a registry on loopback."""
    from eventing.local import image_registry  # why: the programs of a cluster have no use for it

    settings = _settings()
    folders = {image_registry.name_of(folder.resolve().name): folder for folder in catalog or ()}
    if len(folders) < len(catalog or ()):
        raise CliError(f"--catalog: two folders would be called the same; got {', '.join(folders)}", USAGE)
    image_registry.serve(image_registry.Sources(tuple(bundles or ()), folders), settings.port, on_ready=announce)


def catalogs(
    certificate: Annotated[Path | None, typer.Option("--tls-cert", help="PEM file of the serving certificate.")] = None,
    key: Annotated[Path | None, typer.Option("--tls-key", help="PEM file of its private key.")] = None,
    *,
    profile: Annotated[str, typer.Option("--tls-profile", help="modern, intermediate or custom.")] = "intermediate",
    version: Annotated[str, typer.Option("--tls-custom-version", help="Profile custom: TLSv1.2|TLSv1.3.")] = "TLSv1.2",
    ciphers: Annotated[str, typer.Option("--tls-custom-ciphers", help="Of TLS 1.2, with commas.")] = "",
    curves: Annotated[str, typer.Option("--tls-custom-curves", help="One, e.g. prime256v1.")] = "",
) -> None:
    """Serve ClusterCatalogs over HTTP, as OLM v1's catalogd does, and CatalogSources over gRPC, as OLM's pods do."""
    from eventing.wiring import catalogs

    if (certificate is None) != (key is None):
        raise CliError("--tls-cert and --tls-key come together", USAGE)
    try:
        lists = ([word for word in text.split(",") if word] for text in (ciphers, curves))
        tls = tls_profile.profile_of(profile, version, *lists)
    except tls_profile.TlsProfileError as error:
        raise CliError(f"--tls-profile: {error}", USAGE) from None
    catalogs.main(_settings(), announce, certificate=certificate, key=key, tls=tls)


def packages(
    certificate: Annotated[Path, typer.Option("--tls-cert", help="PEM file of the serving certificate.")],
    key: Annotated[Path, typer.Option("--tls-key", help="PEM file of its private key.")],
) -> None:
    """Serve PackageManifests as an aggregated API."""
    from eventing.wiring import packages

    packages.main(_settings(), announce, certificate, key)


def api(state: StatePathOption = None) -> None:
    """Serve the sandbox, a small Kubernetes API."""
    from eventing.local.apiserver import server

    settings = _settings()
    place = server.Settings(
        state or Path("olmf-sandbox"), settings.port, is_kept=state is not None, pod_network=settings.pod_network
    )
    asyncio.run(server.serve(place, lambda kubeconfig: announce(str(kubeconfig))))


def redis(state: StatePathOption = None) -> None:
    """Run the Redis that is on this machine, or in the wheel."""
    from eventing.local.redis_server import start

    _settings()
    server = start(state)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    announce(server.url)
    while not stop.wait(1) and is_alive(server.pid):
        pass
    server.stop()
    sys.exit(0 if stop.is_set() else 1)


def unpack(
    image: Annotated[str, typer.Option(help="The bundle image.")],
    namespace: Annotated[str, typer.Option(help="Namespace of the ConfigMap.")],
    config_map: Annotated[str, typer.Option(help="Name of the ConfigMap.")],
    mirrors: Annotated[str, typer.Option(help="Mirror sets about the image: a list in JSON.")] = "[]",
) -> None:
    """Read a bundle image and write it into a ConfigMap: the program of an unpack Job."""
    from eventing.content.unpack import main

    raise typer.Exit(main(image, CONFIG_MAP.ref(config_map, namespace), mirrors))
