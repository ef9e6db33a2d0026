"""Settings and tokens from environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from shared.config import SettingError, Settings
from shared.domain.catalog_service import qualified
from shared.domain.server_address import ServerAddress

_RESOLV_CONF: Final = Path("/etc/resolv.conf")


def settings(**options: str) -> Settings:
    """The settings of this process; options of the command line come first. SettingError ends it at the start."""
    return settings_of({**os.environ, **{f"OLMF_{name.upper()}": value for name, value in options.items()}})


def endpoint_token(environ: Mapping[str, str] = os.environ) -> str:
    """The token of this environment for events that are sent to an endpoint; empty without one."""
    if token := environ.get("OLMF_ENDPOINT_TOKEN"):
        return token
    file = environ.get("OLMF_ENDPOINT_TOKEN_FILE")
    return first_token(Path(file)) if file else ""


def first_token(file: Path) -> str:
    """The token of a file that a sender uses; empty without one."""
    try:
        return next(iter(file.read_text().split()), "")
    except FileNotFoundError:
        return ""


def settings_of(environ: Mapping[str, str]) -> Settings:
    """The settings of a process, with the address of the catalogs as Services may name it. SettingError."""
    values = Settings.read(environ)
    address = whole_address(values.policy.catalogs_address)
    return replace(values, policy=replace(values.policy, catalogs_address=address))


def whole_address(address: str, resolv_conf: Path = _RESOLV_CONF) -> str:
    """The address with the cluster's domain, from the `resolv.conf` of the Pod; empty stays empty. SettingError."""
    if not address:
        return ""
    try:
        is_secure = ServerAddress.parse(address).is_secure
    except ValueError as error:
        raise SettingError(f"OLMF_CATALOGS_ADDRESS: {error}") from error
    if is_secure:
        raise SettingError(f"OLMF_CATALOGS_ADDRESS: address {address}: wanted host:port")
    text = ""
    with suppress(OSError):
        text = resolv_conf.read_text(errors="replace")
    return qualified(address, text)
