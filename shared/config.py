"""Every setting with its default, unit and meaning; `eventing/wiring/environment.py` reads them once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from shared.ports import Policy


class SettingError(ValueError):
    """A setting has an invalid value; the process must not start."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one process. Field `x` is read from the environment variable `OLMF_X`, or from the one it names."""

    redis_url: str = ""
    """`redis://…`, `rediss://…` or `unix://…` (also `REDIS_URL`). Empty: start the embedded server."""
    kubeconfig: str = ""
    """Path of the kubeconfig (also `KUBECONFIG`). Empty: use the service account of the pod."""
    content: Path = Path("/var/cache/olmf")
    """Folder that stores catalogs by digest."""
    content_bytes: int = 2 * 1024 * 1024 * 1024
    """Maximum size of that folder; the least recently used catalogs are deleted first."""
    pull_seconds: int = 300
    """How long the pull of one image may take in all."""
    pull_slow_seconds: int = 10
    """How long a registry may be slower than `pull_bytes_per_second` until the pull is given up."""
    pull_bytes_per_second: int = 1000
    """The least that a registry has to send while a pull waits for it."""
    pull_bytes: int = 2 * 1024 * 1024 * 1024
    """Maximum size of all answers of registries to one pull together."""
    allowed_registry_addresses: tuple[str, ...] = ()
    """Where pulls may go nevertheless: addresses, networks, hosts or `*.domain`, each with or without `:port`."""
    cluster_addresses: tuple[str, ...] = ()
    """Networks of the Services and Pods of this cluster, where pulls do not go. Empty: they are guessed in a pod."""
    steps: tuple[str, ...] = ()
    """Groups of steps that this deployment serves, comma-separated; empty means all."""
    lane: Literal["direct", "long"] = "direct"
    """Which jobs a worker runs: `direct` for short ones, `long` for those that may take minutes (pulls of catalogs)."""
    lease_seconds: int = 60
    """How long a claimed job stays hidden from other workers."""
    concurrency: int = 4
    """How many runs a worker of the direct lane has under way at a time, each in a thread and of another namespace."""
    run_seconds: int = 45
    """How long one run of a step may take before it is killed and retried."""
    long_seconds: int = 600
    """The same for a run of the long lane."""
    long_runs_per_namespace: int = 2
    """How many long runs one namespace may have at a time; where there are several workers, it never has them all."""
    run_memory_bytes: int = 384 * 1024 * 1024
    """Memory of the process that runs steps. A run that needs more is ended and retried."""
    max_failures: int = 8
    """Number of consecutive bugs and timeouts after which a job becomes a dead letter."""
    audit_seconds: int = 300
    """Interval of the audit."""
    watch_seconds: int = 300
    """How long one watch request lasts before it is renewed."""
    port: int = 8080
    """Port of the endpoint, of the registry, or of the watcher's health and metrics (also `PORT`)."""
    catalog_graphql: bool = False
    """Whether the server of catalogs answers GraphQL about ClusterCatalogs, too."""
    registry_port: int = 50051
    """Port at which the server of catalogs answers the registry API (gRPC)."""
    pod_network: str = ""
    """`host:port` of the HTTP proxy to simulated Pods, which the simulated kubelet serves for the sandbox; or `/path`,
    its socket, for the egress selector of a real API server."""
    health_port: int = 0
    """Port of `/livez` and `/readyz` of worker and scheduler, of `/metrics` of the catalogs program; 0: none."""
    log_level: str = "info"
    """`debug`, `info`, `warning` or `error`."""
    log_json: bool = True
    """Log one JSON object per line instead of plain text."""
    sink: str = ""
    """URL to which this project's events are posted as CloudEvents (see `eventing/worker/outlet.py`); empty: they are
    not."""
    endpoint_token: str = ""
    """Token that a sender of events to the endpoint must have; several, one on each line, in the file below."""
    endpoint_token_file: str = ""
    """File with such tokens, which is read again for each event; the scheduler adds the first to its wake-ups."""
    endpoint_audience: str = ""
    """Audience of the tokens that accounts of the cluster send (Knative's OIDC); the API server reviews them."""
    endpoint_senders: tuple[str, ...] = ()
    """Names of those accounts, comma-separated, a `*` at the end for any rest; empty: those of our own namespace."""
    on_call: bool = False
    """Whether a worker rests until an event wakes it, and so says while it is awake (`olmf run endpoint --drain`)."""
    broker: str = ""
    """URL of the Knative Broker through which the scheduler wakes drainers that rest; empty: they never rest."""
    broker_token_file: str = ""
    """File with the token for it, which is read again for each event; empty: it wants none."""
    broker_namespace: str = ""
    """Namespace of the Pods of the Broker that brings our events: when one of them, or an adapter of a source, is back,
    the scheduler starts an audit. Empty: our own watcher tells of everything."""
    endpoint_trusts_network: bool = False
    """Without any of these: whether a NetworkPolicy or a mesh lets nobody but trusted senders reach the endpoint."""
    journal_bytes: int = 64 * 1024 * 1024
    """Maximum size of the journal in Redis."""
    journal_files: str = ""
    """Folder in which the journal is also stored, as rotated files; empty: in Redis only."""
    traces: bool = False
    """Whether runs are traced by OpenTelemetry. Without it: where OTEL_EXPORTER_OTLP_ENDPOINT, or
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, has an address, unless OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER=none."""
    policy: Policy = field(default_factory=Policy)
    """The settings that steps may read; each of its fields is an environment variable, too."""

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Settings:
        """Settings from environment variables. SettingError names the variable, its value and what was expected."""
        settings = _read(cls, environ)
        for name, kind in (("redis_url", "str"), ("kubeconfig", "str"), ("port", "int")):
            variable = name.upper()
            if variable in environ and name not in settings:
                settings[name] = _value(variable, kind, environ[variable])
        settings.setdefault("traces", _are_traces_configured(environ))
        if settings.get("endpoint_senders") and not settings.get("endpoint_audience"):
            raise SettingError("OLMF_ENDPOINT_SENDERS is set: wanted OLMF_ENDPOINT_AUDIENCE, too")
        for name in ("sink", "broker"):
            if (url := settings.get(name)) and not url.startswith(("http://", "https://")):
                raise SettingError(f"OLMF_{name.upper()}={url!r}: wanted http://… or https://…")
        _check_least(settings)
        return cls(**settings, policy=Policy(**_read(Policy, environ)))


def _read(cls: type[Settings] | type[Policy], environ: Mapping[str, str]) -> dict[str, Any]:
    settings = {}
    for spec in fields(cls):
        text = environ.get(variable := f"OLMF_{spec.name.upper()}")
        if text is None or spec.name == "policy":
            continue
        settings[spec.name] = _value(variable, str(spec.type), text)
    return settings


def _are_traces_configured(environ: Mapping[str, str]) -> bool:
    """Whether the standard variables of OpenTelemetry say where spans go."""
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or environ.get("OTEL_TRACES_EXPORTER") == "none":
        return False
    return any(environ.get(f"OTEL_EXPORTER_OTLP_{infix}ENDPOINT") for infix in ("", "TRACES_"))


def _value(variable: str, kind: str, text: str) -> object:
    try:
        return _parse(kind, text)
    except (ValueError, OverflowError) as error:
        raise SettingError(f"{variable}={text!r}: {error}") from error


_LEAST: Mapping[str, int] = {
    "lease_seconds": 1, "concurrency": 1, "run_seconds": 1, "long_seconds": 1, "long_runs_per_namespace": 1,
    "max_failures": 1, "audit_seconds": 1, "watch_seconds": 1, "run_memory_bytes": 128 * 1024 * 1024,
    "content_bytes": 0, "journal_bytes": 0, "port": 0, "health_port": 0, "registry_port": 0, "pull_seconds": 1,
    "pull_slow_seconds": 1, "pull_bytes_per_second": 0, "pull_bytes": 1,
}  # fmt: skip
"""The least value of each number."""


def _check_least(settings: Mapping[str, Any]) -> None:
    for name, least in _LEAST.items():
        if name in settings and settings[name] < least:
            raise SettingError(f"OLMF_{name.upper()}='{settings[name]}': wanted at least {least}")


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
