"""Checks the options of a list."""

from __future__ import annotations

from collections.abc import Iterator

from eventing.local.apiserver.calls import Call
from eventing.local.apiserver.failures import Cause, Failure, bad_option, bad_request, unsupported
from eventing.local.apiserver.numbers import not_unsigned
from eventing.local.apiserver.world import World

MATCHES = ("Exact", "NotOlderThan", "")


def check(call: Call, world: World) -> None:
    """Raise Failure unless the options of a list are valid and the store has reached the wanted revision."""
    call.number("timeoutSeconds")
    if causes := [*_defects(call)]:
        raise bad_option("List", *causes)
    wanted = call.query.get("resourceVersion", "")
    if wanted and call.query.get("continue"):
        if wanted != "0":
            raise bad_request("specifying resource version is not allowed when using continue")
        return
    if wanted and (why := not_unsigned(wanted)):
        raise bad_request(f'invalid resource version: resourceVersion: Invalid value: "{wanted}": {why}')
    if wanted and int(wanted) > world.store.revision:
        raise _too_large(int(wanted), world.store.revision)


def _too_large(wanted: int, present: int) -> Failure:
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    message = f"Timeout: Too large resource version: {wanted}, current: {present}"
    return Failure(504, "Timeout", message, {"causes": [cause], "retryAfterSeconds": 1})


def _defects(call: Call) -> Iterator[Cause]:
    query = call.query
    match, version = query.get("resourceVersionMatch", ""), query.get("resourceVersion", "")
    if match and not version:
        yield _forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided")
    if match and query.get("continue"):
        yield _forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided")
    if match not in MATCHES:
        yield unsupported("resourceVersionMatch", match, *MATCHES)
    if match == "Exact" and version == "0":
        why = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        yield _forbidden("resourceVersionMatch", why)
    if "sendInitialEvents" in query:
        yield _forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")


def _forbidden(path: str, why: str) -> Cause:
    return Cause(path, "FieldValueForbidden", f"Forbidden: {why}")
