"""`olmf catalog serve`: a catalog for clients of the registry API, as `opm serve` has it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from eventing.cli.catalog.cache import default_store
from eventing.cli.failure import NEGATIVE, USAGE, CliError
from eventing.cli.inputs.failures import cli_errors
from eventing.cli.inputs.pulling import pulling
from eventing.content import catalog_server
from eventing.content.catalog_server import Serving
from shared.adapters.catalog_api.cache_folder import CacheError
from shared.adapters.catalog_api.errors import PortTakenError

PathArgument = Annotated[str, typer.Argument(metavar="PATH", help="Folder, file, image or oci:DIR[:TAG].")]
CacheOption = Annotated[Path | None, typer.Option("--cache-dir", help="Where the index is, apart from all others.")]
EnforceOption = Annotated[
    bool | None,
    typer.Option(
        "--cache-enforce-integrity/--no-cache-enforce-integrity",
        help="Refuse an index that is missing or old; the default with --cache-dir.",
    ),
]
TerminationOption = Annotated[Path, typer.Option("-t", "--termination-log", help="File for the message of a failure.")]
ProfileOption = Annotated[str, typer.Option("--pprof-addr", hidden=True)]
_TERMINATION_LOG = Path("/dev/termination-log")


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(serve))


def serve(
    path: PathArgument,
    *,
    port: Annotated[
        int, typer.Option("-p", "--port", min=0, max=65535, help="Port of the registry API (gRPC).")
    ] = 50051,
    http: Annotated[str, typer.Option(help="Also serve OLM v1's HTTP API at this [HOST]:PORT.")] = "",
    name: Annotated[str, typer.Option(help="What the HTTP API calls the catalog.")] = "catalog",
    cache_dir: CacheOption = None,
    cache_only: Annotated[bool, typer.Option("--cache-only", help="Make the index and end.")] = False,
    cache_enforce_integrity: EnforceOption = None,
    all_or_nothing: Annotated[bool, typer.Option(help="End when a package is broken, as opm does.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Tell of every call on stderr.")] = False,
    termination_log: TerminationOption = _TERMINATION_LOG,
    pprof_addr: ProfileOption = "",
) -> None:
    """Serve a catalog over gRPC; broken packages are named on stderr, and the others are served."""
    if pprof_addr:
        _log("there is no profile to look at: --pprof-addr is taken and does nothing")
    if cache_enforce_integrity and cache_dir is None:
        raise CliError("--cache-dir must be specified with --cache-enforce-integrity", NEGATIVE)
    is_by_itself = cache_dir is not None and not cache_only
    serving = Serving(
        path,
        default_store(),
        address=f"[::]:{port}",
        http_address=_address(http) if http else None,
        name=name,
        cache_folder=cache_dir,
        is_enforced=is_by_itself if cache_enforce_integrity is None else cache_enforce_integrity,
        is_all_or_nothing=all_or_nothing,
        logs_every_call=debug,
    )
    try:
        _run(serving, is_only_index=cache_only)
    except CliError as error:
        _last_words(termination_log, str(error))
        raise


def _run(serving: Serving, *, is_only_index: bool) -> None:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # its log would say of a taken port what we say in a sentence
    with cli_errors(serving.path):
        try:
            if is_only_index:
                catalog_server.index(serving)
            else:
                catalog_server.serve(serving, _log)
        except (CacheError, catalog_server.SickCatalogError) as error:
            raise CliError(str(error), NEGATIVE) from error
        except PortTakenError as error:
            raise CliError(f"failed to listen: {error}", NEGATIVE) from error


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal():
        raise CliError(f"--http {text}: wanted HOST:PORT or :PORT", USAGE)
    return host.strip("[]"), int(port)


def _log(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


def _last_words(path: Path, sentence: str) -> None:
    """Where Kubernetes looks for the reason of an end; elsewhere there is no such file."""
    if path == _TERMINATION_LOG and not path.exists():
        return
    try:
        path.write_text(sentence)
    except OSError as error:
        _log(f"{path} cannot be written: {error}")
