"""Where our program answers the registry API for CatalogSources, as their Services name it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from shared.config import SettingError, Settings
from shared.domain.catalog_service import qualified
from shared.domain.server_address import ServerAddress

_RESOLV_CONF: Final = Path("/etc/resolv.conf")


def settings_of(environ: Mapping[str, str]) -> Settings:
    """The settings of a process, with the address as Services may name it. SettingError."""
    values = Settings.read(environ)
    address = whole_address(values.policy.catalogs_address)
    return replace(values, policy=replace(values.policy, catalogs_address=address))


def whole_address(address: str, resolv_conf: Path = _RESOLV_CONF) -> str:
    """The address with the domain of the cluster, which the file of a Pod says; empty stays empty. SettingError."""
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
