"""What container tools keep for the person or pod that runs us: logins, mirrors, certificates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from shared.adapters.certificates import ARE_IGNORED
from shared.adapters.oci import mirror_sets
from shared.adapters.oci.credentials import Credentials
from shared.adapters.oci.limits import Limits
from shared.adapters.oci.mirrors import Location, Mirrors
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.registry import Registry
from shared.adapters.oci.transport import Transport
from shared.adapters.oci.trust import Trust
from shared.names import REGISTRIES_CONF


def of_machine(environ: Mapping[str, str], home: Path) -> Credentials:
    """Every login that is kept for this user; the file that comes first wins."""
    found = Credentials()
    for path in files(environ, home):
        found = found.over(Credentials.of_config(path.read_bytes()))
    return found


def mirrors_of_machine(environ: Mapping[str, str], home: Path) -> Mirrors:
    """What registries.conf and `OLMF_REGISTRIES_CONF` say, and the mirror sets in what OLMF_MIRRORS names."""
    found = _registries_conf(environ, home)
    if text := environ.get(REGISTRIES_CONF):
        found = Mirrors.of_text(text, REGISTRIES_CONF).over(found)
    return found.over(mirror_sets.of_path(Path(named))) if (named := environ.get("OLMF_MIRRORS")) else found


def _registries_conf(environ: Mapping[str, str], home: Path) -> Mirrors:
    """That of the user, else that of the machine, and the folder of additions beside it."""
    if named := environ.get("CONTAINERS_REGISTRIES_CONF") or environ.get("REGISTRIES_CONFIG_PATH"):
        return Mirrors.of_files([Path(named)])
    folders = (home / ".config" / "containers", Path("/etc/containers"))
    chosen = next((folder for folder in folders if (folder / "registries.conf").is_file()), None)
    if chosen is None:
        return Mirrors()
    added = sorted((chosen / "registries.conf.d").glob("*.conf"))
    return Mirrors.of_files([chosen / "registries.conf", *added])


def registry_of_machine(environ: Mapping[str, str], home: Path, limits: Limits | None = None) -> Registry:
    """A client with the logins, mirrors and certificates of the person who runs us."""
    trust = Trust.of(environ, (home / ".config" / "containers" / "certs.d",))
    mirrors = replace(mirrors_of_machine(environ, home), is_insecure=ARE_IGNORED.get())
    return Registry(Transport(trust=trust), of_machine(environ, home), limits, mirrors=mirrors)


def target_of_machine(reference: Reference, environ: Mapping[str, str], home: Path) -> Location:
    """Where this machine pushes an image to, and whether without verification. OciError where that is blocked."""
    return replace(mirrors_of_machine(environ, home), is_insecure=ARE_IGNORED.get()).target(reference)


def files(environ: Mapping[str, str], home: Path) -> Iterator[Path]:
    """The files that exist, in the order in which `opm` and `skopeo` look (fbc.md §10.2)."""
    named = environ.get("REGISTRY_AUTH_FILE")
    docker = Path(environ.get("DOCKER_CONFIG") or home / ".docker") / "config.json"
    runtime = Path(environ.get("XDG_RUNTIME_DIR") or "/nonexistent") / "containers" / "auth.json"
    kept = home / ".config" / "containers" / "auth.json"
    candidates = [Path(named)] if named else []
    yield from (path for path in (*candidates, docker, runtime, kept) if path.is_file())
