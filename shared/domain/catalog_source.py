"""Reads the spec of a CatalogSource, decides whether it is supported, and computes its status (catalog.md §2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, timestamp
from shared.api.views import CatalogSource, Connection
from shared.domain import durations
from shared.domain.conditions import Condition, put_into
from shared.domain.progress import Progress
from shared.domain.server_address import ServerAddress

CONNECTING = "CONNECTING"
READY = "READY"
TRANSIENT_FAILURE = "TRANSIENT_FAILURE"
SPEC_INVALID = "SpecInvalidError"
REGISTRY_ERROR = "RegistryServerError"
INTERVAL_INVALID = "InvalidIntervalError"
CONTENT_LEFT_OUT = "ContentLeftOut"
PULLING: Final = "Pulling"
"""The condition that says how far a pull is that takes long."""
_NO_CONNECTION: Final = "couldn't connect to registry - "
RECHECK: Final = timedelta(minutes=15)
"""How long after a look something is looked at again that no event tells of."""
REMARKS = (INTERVAL_INVALID, CONTENT_LEFT_OUT)
"""Reasons of a catalog that is used nevertheless."""

_DEFAULT_INTERVAL = timedelta(minutes=15)
_LEAST_INTERVAL = timedelta(seconds=10)
"""The minimum poll interval: `0s` means "always" in OLM, but polling a registry without a pause is useless."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The CatalogSource is not supported or not valid; only an edit helps."""

    reason: str
    message: str


SERVED: Final = "grpc://"
IN_CONFIG_MAP: Final = "configmap://"


@dataclass(frozen=True, slots=True)
class CatalogRequest:
    """A catalog to be read, and its poll interval."""

    image: str
    """An image; `SERVED` and the address of a server of the registry API, which may change its catalog any time; or
    `IN_CONFIG_MAP` and the name of a ConfigMap."""
    secrets: tuple[str, ...] = ()
    interval: timedelta | None = None
    interval_error: str = ""


def catalog_request(source: CatalogSource) -> CatalogRequest | Refused:
    """The catalog in the spec, or why the spec is refused."""
    kind = source.type
    match kind:
        case "grpc" if not (source.image or source.address):
            return Refused(SPEC_INVALID, f"image and address unset: at least one must be set for sourcetype: {kind}")
        case "internal" | "configmap" if not source.config_map:
            return Refused(SPEC_INVALID, f"configmap name unset: must be set for sourcetype: {kind}")
        case "internal" | "configmap":
            return CatalogRequest(f"{IN_CONFIG_MAP}{source.config_map}")
        case "grpc" if source.address:
            return _served(source)
        case "grpc":
            interval, error = _polling(source.poll)
            return CatalogRequest(source.image, source.secrets, interval, error)
    return Refused(SPEC_INVALID, f"unknown sourcetype: {kind}")


def _served(source: CatalogSource) -> CatalogRequest | Refused:
    try:
        ServerAddress.parse(source.address)
    except ValueError as error:
        return Refused(REGISTRY_ERROR, f"{_NO_CONNECTION}{error}")
    interval, error_of_interval = _polling(source.poll)
    return CatalogRequest(f"{SERVED}{source.address}", (), interval or _DEFAULT_INTERVAL, error_of_interval)


def _polling(registry_poll: ReadOnly | None) -> tuple[timedelta | None, str]:
    """The poll interval, and the message about a text that is not a valid duration (then the default is used)."""
    if registry_poll is None:
        return None, ""
    try:
        return max(durations.parse(fields.text(registry_poll, "interval")), _LEAST_INTERVAL), ""
    except ValueError as error:
        return _DEFAULT_INTERVAL, (
            "error parsing spec.updateStrategy.registryPoll.interval. Using the default value of "
            f"{durations.show(_DEFAULT_INTERVAL)} instead. Error: {error}"
        )


def refused(status: ReadOnly, refusal: Refused) -> Manifest:
    """The status of a refused CatalogSource."""
    return {**_without_error(status), "reason": refusal.reason, "message": refusal.message}


def connecting(status: ReadOnly, request: CatalogRequest, now: datetime) -> Manifest | None:
    """The status while the image is read for the first time; None once there was an answer, or when it says so."""
    if fields.part(status, "connectionState"):
        return None
    return {**_without_error(status), "connectionState": _state(status, request, CONNECTING, now)}


def registered(status: ReadOnly, request: CatalogRequest, service: ReadOnly, now: datetime) -> Manifest:
    """The status that says where the registry API is served: `registryService`, and the address of the connection.

    `service` is what there is to say of a Service, empty without one; of a server by address it is what it speaks.
    """
    known = fields.part(status, "registryService")
    desired = {"protocol": "grpc"} if request.image.startswith(SERVED) else dict(service)
    others = {key: value for key, value in status.items() if key != "registryService"}
    if {key: value for key, value in known.items() if key != "createdAt"} == desired:
        new = dict(status)
    else:
        new = {**others, "registryService": {**desired, "createdAt": timestamp(now)}} if desired else others
    old = Connection(fields.part(status, "connectionState"))
    if not old.raw or old.address == (address := _address(new, request)):
        return new
    content = CatalogSource({"status": status}).content
    rest = {key: value for key, value in old.raw.items() if key != "address"}
    new["connectionState"] = {**({"address": address} if address else {}), **rest}
    return _with_content(new, content, now) if content else new


def snapshotted(
    status: ReadOnly, reference: str, request: CatalogRequest, now: datetime, *, left_out: Sequence[str] = ()
) -> Manifest:
    """The status after the image was read, with what its maker left out; times change only with content."""
    new = _without_error(status)
    old = CatalogSource({"status": status})
    if (old.content, old.connection.state) != (reference, READY):
        new["connectionState"] = _state(status, request, READY, now)
        new = _with_content(new, reference, now)
        if request.interval is not None:
            new["latestImageRegistryPoll"] = timestamp(now)
    remarks = [(INTERVAL_INVALID, request.interval_error)] if request.interval_error else []
    remarks += [(CONTENT_LEFT_OUT, f"wrong in the catalog: {' | '.join(left_out)}")] if left_out else []
    if remarks:
        new |= {"reason": remarks[0][0], "message": "; ".join(message for _, message in remarks)}
    return new


def unavailable(status: ReadOnly, message: str, now: datetime) -> Manifest:
    """The status after the image could not be read; the last good snapshot stays in use."""
    new = {**_without_error(status), "reason": REGISTRY_ERROR, "message": f"{_NO_CONNECTION}{message}"}
    old = fields.part(status, "connectionState")
    if Connection(old).state != TRANSIENT_FAILURE:
        changed = {"lastObservedState": TRANSIENT_FAILURE, "lastConnect": timestamp(now)}
        new["connectionState"] = {**old, **changed}
    return new


def since(status: ReadOnly) -> datetime:
    """The time at which the present state of the connection began."""
    return datetime.fromisoformat(str(status["connectionState"]["lastConnect"]))


def is_healthy(source: CatalogSource) -> bool:
    """Whether its image was read, and the last poll succeeded."""
    return source.connection.state == READY and source.reason in ("", *REMARKS)


def serves_anew(before: ReadOnly, after: ReadOnly) -> bool:
    """Whether the users of the catalog must be reconciled: its content or its health changed."""
    old, new = ({**one, "content": CatalogSource({"status": one}).content} for one in (before, after))
    return any(
        (fields.value(old, key) or "") != (fields.value(new, key) or "")
        for key in ("connectionState", "reason", "message", "content")
    )


def _state(status: ReadOnly, request: CatalogRequest, state: str, now: datetime) -> Manifest:
    address = _address(status, request)
    reached = {"address": address} if address else {}
    return {**reached, "lastObservedState": state, "lastConnect": timestamp(now)}


def _address(status: ReadOnly, request: CatalogRequest) -> str:
    """Where the registry API of the catalog is served (§2.1); empty where it is not."""
    if request.image.startswith(SERVED):
        return request.image.removeprefix(SERVED)
    service = fields.part(status, "registryService")
    name, namespace, port = (fields.text(service, key) for key in ("serviceName", "serviceNamespace", "port"))
    return f"{name}.{namespace}.svc:{port}" if name else ""


def with_pulling(source: CatalogSource, progress: Progress, now: datetime) -> Manifest:
    """The status with the condition `Pulling`."""
    reason = progress.phase.capitalize() or PULLING
    condition = Condition(PULLING, "True", reason, str(progress))
    return {**source.status, "conditions": put_into([one.raw for one in source.conditions], condition, now)}


def without_pulling(status: ReadOnly) -> Manifest:
    """The status without that condition."""
    others = [one for one in fields.parts(status, "conditions") if fields.text(one, "type") != PULLING]
    rest = {key: value for key, value in status.items() if key != "conditions"}
    return {**rest, "conditions": others} if others else rest


def _with_content(status: ReadOnly, reference: str, now: datetime) -> Manifest:
    condition = Condition(names.RESOLVED_CONTENT, "True", "ContentRead", reference)
    return {**status, "conditions": put_into(fields.parts(status, "conditions"), condition, now)}


def _without_error(status: ReadOnly) -> Manifest:
    """The status as it is before an answer: without one, and without a pull that goes on."""
    return {key: value for key, value in without_pulling(status).items() if key not in ("reason", "message")}
