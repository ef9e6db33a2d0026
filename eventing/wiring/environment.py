"""Settings and tokens from environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from eventing.content.catalogs_address import settings_of
from shared.config import Settings


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
