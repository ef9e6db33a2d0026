"""The errors of the API, with the reason, code and message that clients compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import orjson

from shared.api.manifest import Manifest
from shared.domain.command import olmf
from shared.domain.go import text as gotext


@dataclass(frozen=True, slots=True)
class Cause:
    """One defect of an object: its path, its type, and what was expected."""

    path: str
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


@dataclass(eq=False)
class Failure(Exception):
    """An error answer; `status` is its body."""

    code: int
    reason: str
    message: str
    details: Manifest = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message

    @property
    def status(self) -> Manifest:
        """The `Status` object of the error."""
        head = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": self.message}
        filled = {"reason": self.reason, "details": self.details, "code": self.code}
        return head | {key: value for key, value in filled.items() if value}


@dataclass(eq=False)
class Undecodable(Failure):
    """An object that does not fit into its kind, and why."""

    why: str = ""


def undecodable(kind: str, version: str, why: str) -> Undecodable:
    """The body is not an object of the kind."""
    message = f'{kind} in version "{version}" cannot be handled as a {kind}: {why}'
    return Undecodable(400, "BadRequest", message, why=why)


def _details(name: str, group: str, kind: str, **more: object) -> Manifest:
    filled = {"name": name, "group": group, "kind": kind}
    return {key: value for key, value in filled.items() if value} | more


def qualified(plural: str, group: str) -> str:
    """`deployments.apps`, `secrets`."""
    return f"{plural}.{group}" if group else plural


def not_found(plural: str, group: str, name: str) -> Failure:
    """The object does not exist."""
    return Failure(404, "NotFound", f'{qualified(plural, group)} "{name}" not found', _details(name, group, plural))


def no_such_path() -> Failure:
    """The path is not served."""
    return Failure(404, "NotFound", "the server could not find the requested resource")


def already_exists(plural: str, group: str, name: str) -> Failure:
    """An object of that name exists already."""
    return Failure(
        409, "AlreadyExists", f'{qualified(plural, group)} "{name}" already exists', _details(name, group, plural)
    )


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def conflict(plural: str, group: str, name: str, why: str = MODIFIED) -> Failure:
    """The write was based on an old state of the object."""
    message = f'Operation cannot be fulfilled on {qualified(plural, group)} "{name}": {why}'
    return Failure(409, "Conflict", message, _details(name, group, plural))


def invalid(kind: str, group: str, name: str, causes: Sequence[Cause]) -> Failure:
    """The object is not valid."""
    sentences = list(dict.fromkeys(str(cause) for cause in causes))
    filled = sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"
    listed = [{"reason": cause.reason, "message": cause.message, "field": cause.path} for cause in causes]
    return Failure(
        422, "Invalid", f'{qualified(kind, group)} "{name}" is invalid: {filled}',
        _details(name, group, kind, causes=listed),
    )  # fmt: skip


def bad_option(kind: str, *causes: Cause) -> Failure:
    """An option of the request is not valid."""
    return invalid(f"{kind}Options", "meta.k8s.io", "", causes)


def unsupported(path: str, seen: object, *known: str) -> Cause:
    """A value that is not one of the supported values."""
    filled = ", ".join(map(quoted, known))
    return Cause(path, "FieldValueNotSupported", f"Unsupported value: {quoted(seen)}: supported values: {filled}")


def internal(why: str) -> Failure:
    """Something that the server needs for its answer failed."""
    return Failure(500, "InternalError", f"Internal error occurred: {why}", {"causes": [{"message": why}]})


def unexplained(message: str) -> Failure:
    """An error that the real server reports as an internal error."""
    return Failure(500, "", message)


def bad_request(message: str) -> Failure:
    """The request itself is not valid."""
    return Failure(400, "BadRequest", message)


def forbidden(plural: str, group: str, name: str, why: str, **details: object) -> Failure:
    """The user may not do that."""
    thing = f'{qualified(plural, group)} "{name}"' if name else qualified(plural, group)
    return Failure(403, "Forbidden", f"{thing} is forbidden: {why}", _details(name, group, plural, **details))


def expired(desired: int, oldest: int) -> Failure:
    """The history does not contain that revision; list again."""
    return Failure(410, "Expired", f"too old resource version: {desired} ({oldest})")


def unauthorized() -> Failure:
    """The user is unknown."""
    return Failure(401, "Unauthorized", "Unauthorized")


def not_allowed() -> Failure:
    """The resource does not support the verb."""
    return Failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


def unsupported_media(desired: str) -> Failure:
    """A body in a format that is not supported."""
    message = f"the body of the request was in an unknown format - accepted media types include: {desired}"
    return Failure(415, "UnsupportedMediaType", message)


def not_served(what: str) -> Failure:
    """Something that a real server does and the sandbox does not."""
    message = f"the sandbox does not serve {what}; use a real API server (`{olmf('up', '--kubeconfig', 'FILE')}`)"
    return Failure(501, "NotImplemented", message)


def required(path: str, why: str = "") -> Cause:
    """A required field is missing."""
    return Cause(path, "FieldValueRequired", f"Required value: {why}" if why else "Required value")


def bad_value(path: str, seen: object, why: str) -> Cause:
    """A value that is not valid."""
    return Cause(path, "FieldValueInvalid", f"Invalid value: {quoted(seen)}: {why}")


class Shown(str):
    """A value that is printed without quotes."""

    __slots__ = ()


def as_json(value: object) -> str:
    """A value as the real server prints maps and lists."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def quoted(seen: object) -> str:
    """A value as the real server prints it: scalars as JSON, everything else shortened."""
    match seen:
        case Shown():
            return str(seen)
        case str():
            return gotext.quoted(seen)
        case bool():
            return str(seen).lower()
        case None:
            return "null"
        case int() | float():
            return str(seen)
    return str(seen)
