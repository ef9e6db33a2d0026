"""The logins of the person or pod that runs us, where container tools keep them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from shared.adapters.oci.credentials import Credentials, Login


def of_machine(environ: Mapping[str, str], home: Path) -> Credentials:
    """Every login that is kept for this user; the file that comes first wins."""
    logins: dict[str, Login] = {}
    for path in files(environ, home):
        logins = {**Credentials.of_config(path.read_bytes()).logins, **logins}
    return Credentials(logins)


def files(environ: Mapping[str, str], home: Path) -> Iterator[Path]:
    """The files that exist, in the order in which `opm` and `skopeo` look (fbc.md §10.2)."""
    named = environ.get("REGISTRY_AUTH_FILE")
    docker = Path(environ.get("DOCKER_CONFIG") or home / ".docker") / "config.json"
    runtime = Path(environ.get("XDG_RUNTIME_DIR") or "/nonexistent") / "containers" / "auth.json"
    kept = home / ".config" / "containers" / "auth.json"
    candidates = [Path(named)] if named else []
    yield from (path for path in (*candidates, docker, runtime, kept) if path.is_file())
