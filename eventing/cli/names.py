"""Names of Namespaces, as options take them."""

from __future__ import annotations

import re

from eventing.cli.failure import USAGE, CliError

_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def checked_namespace(name: str) -> str:
    """The name that -n gives, if a Namespace can have it. CliError."""
    return checked("-n", name)


def checked_install_namespace(name: str) -> str:
    """The name that --install-namespace gives, if a Namespace can have it. CliError."""
    return checked("--install-namespace", name)


def checked(option: str, name: str) -> str:
    """The name, if it is empty or a Namespace can have it. CliError."""
    if name and not _NAMESPACE.fullmatch(name):
        desired = "at most 63 lower-case letters, digits and '-', a letter or digit at both ends"
        raise CliError(f"{option} {name}: no Namespace can be called so; wanted {desired}", USAGE)
    return name
