"""`olmf catalog cache`: what is kept of catalogs, and of bundles, on this machine."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from eventing.cli.inputs.failures import cli_errors
from eventing.cli.inputs.pulling import pulling
from eventing.cli.output import OutputOption, show
from shared.adapters.content.anywhere import snapshot_at
from shared.adapters.content.kept_blobs import unused
from shared.adapters.content.snapshot import BrokenSnapshot, Snapshot
from shared.adapters.content.snapshot.needs import FOLDER, IMAGE
from shared.adapters.content.store import GRANT, Store

PathArgument = Annotated[str, typer.Argument(metavar="PATH", help="Folder, file, image or oci:DIR[:TAG].")]
_MEGABYTE = 1_000_000


def register(group: typer.Typer) -> None:
    """Add the verbs."""
    cache = typer.Typer(name="cache", help="Indexed catalogs on this machine.", no_args_is_help=True)
    cache.command()(pulling(fill))
    cache.command()(clear)
    cache.command("list")(list_catalogs)
    group.add_typer(cache)


def default_store() -> Store:
    """The store of the verbs that work without a cluster."""
    return Store.of_user(os.environ)


def fill(path: PathArgument) -> None:
    """Index a catalog, so that the next question about it is answered at once."""
    with cli_errors(path):
        snapshot = snapshot_at(path, default_store())
    sys.stdout.write(f"{path}: {len(snapshot.names)} packages, kept as {snapshot.name}\n")


def list_catalogs(output: OutputOption = "table") -> None:
    """List what is kept."""
    store = default_store()
    rows: list[dict[str, object]] = []
    for name in (*store.names(IMAGE), *store.names(FOLDER)):
        try:
            snapshot = Snapshot.open(store.needed(name), store.needed)
        except (BrokenSnapshot, FileNotFoundError):
            continue  # gone, or of no use: it is made again when somebody asks for it
        origin = snapshot.header.folder or name.removeprefix(IMAGE).replace("-", ":", 1)
        rows.append({"catalog": origin, "packages": len(snapshot.names), "files": len(snapshot.files), "keptAs": name})
    show(rows, output, columns=("catalog", "packages", "files", "keptAs"))
    sys.stderr.write(f"{_size(store.size())} in {store.folder}\n")


def clear() -> None:
    """Forget everything, bundles and what registries granted, too; it is read again when somebody asks for it."""
    store = default_store()
    freed = store.forget(lambda _: False)
    for path, size in unused(store.folder):
        path.unlink(missing_ok=True)
        freed += size
    for path in store.folder.glob(f"{GRANT}*"):
        path.unlink(missing_ok=True)
    sys.stdout.write(f"{_size(freed)} freed in {store.folder}\n")


def _size(count: int) -> str:
    return f"{count / _MEGABYTE:.1f} MB" if count >= _MEGABYTE else f"{-(-count // 1000)} kB"
