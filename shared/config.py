"""Every setting, with default, unit and meaning; read once, in `eventing/wiring.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from pathlib import Path
from typing import Any

from shared.ports import Policy


class SettingError(ValueError):
    """A setting has a value that it cannot have; the process must not start."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one process. Each field `x` is the environment variable `OLMF_X`, unless it says otherwise."""

    redis_url: str = ""
    """`redis://…`, `rediss://…` or `unix://…` (also `REDIS_URL`). Empty: the embedded server."""
    kubeconfig: str = ""
    """Path (also `KUBECONFIG`). Empty: the service account of the pod."""
    content: Path = Path("/var/cache/olmf")
    """Where catalogs are kept, by digest."""
    content_bytes: int = 3 * 1024 * 1024 * 1024
    """Bound of what is kept there; what was used longest ago goes first."""
    steps: tuple[str, ...] = ()
    """Groups that this deployment serves, comma-separated; empty means all."""
    lease_seconds: int = 60
    """How long a claimed job stays hidden from other workers."""
    run_seconds: int = 45
    """How long one run of a step may take before it is ended and retried."""
    max_failures: int = 8
    """Bugs and timeouts in a row before a job is parked in the dead letters."""
    audit_seconds: int = 300
    """How often the audit rings."""
    watch_seconds: int = 300
    """How long one watch request lasts before it is renewed."""
    port: int = 8080
    """Where the endpoint, the registry, or the health of the watcher listens (also `PORT`)."""
    log_level: str = "info"
    """`debug`, `info`, `warning` or `error`."""
    log_json: bool = True
    """One JSON object per line; otherwise lines for people."""
    sink: str = ""
    """URL that our news is posted to as CloudEvents (see `eventing/outlet.py`); empty: nowhere."""
    journal_bytes: int = 64 * 1024 * 1024
    """Bound of the journal in Redis."""
    journal_files: str = ""
    """Folder that keeps the journal as rotated files, too; empty: none."""
    policy: Policy = field(default_factory=Policy)
    """What steps may know; each of its fields is a variable, too."""

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Settings:
        """Settings from environment variables. SettingError names the variable, its value and what was wanted."""
        given = _read(cls, environ)
        for name, kind in (("redis_url", "str"), ("kubeconfig", "str"), ("port", "int")):
            variable = name.upper()
            if variable in environ and name not in given:
                given[name] = _value(variable, kind, environ[variable])
        if (sink := given.get("sink")) and not sink.startswith(("http://", "https://")):
            raise SettingError(f"OLMF_SINK={sink!r}: wanted http://… or https://…")
        return cls(**given, policy=Policy(**_read(Policy, environ)))


def _read(cls: type[Settings] | type[Policy], environ: Mapping[str, str]) -> dict[str, Any]:
    given = {}
    for spec in fields(cls):
        text = environ.get(variable := f"OLMF_{spec.name.upper()}")
        if text is None or spec.name == "policy":
            continue
        given[spec.name] = _value(variable, str(spec.type), text)
    return given


def _value(variable: str, kind: str, text: str) -> object:
    try:
        return _parse(kind, text)
    except ValueError as error:
        raise SettingError(f"{variable}={text!r}: {error}") from error


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def _parse(kind: str, text: str) -> object:
    match kind:
        case "int":
            return int(text)
        case "bool":
            if text.lower() not in _BOOLEANS:
                raise ValueError("wanted true or false")
            return _BOOLEANS[text.lower()]
        case "Path":
            return Path(text)
        case "timedelta":
            return timedelta(seconds=float(text))
        case "tuple[str, ...]":
            return tuple(filter(None, (part.strip() for part in text.split(","))))
        case choices if choices.startswith("Literal["):
            allowed = [choice.strip("\"' ") for choice in choices[8:-1].split(",")]
            if text not in allowed:
                raise ValueError(f"wanted one of {', '.join(allowed)}")
    return text
