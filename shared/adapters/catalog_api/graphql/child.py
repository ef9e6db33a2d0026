"""A process that answers one query and ends: a fork of `fork_server`, whose memory and time are bounded."""

from __future__ import annotations

import os
import resource
import signal
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Never, TypeAlias

import msgspec
import orjson
from graphql import DocumentNode, GraphQLError, GraphQLSchema, execute_sync, parse, validate

from shared.adapters.catalog_api.graphql.fields import Schemas, decoded, document_of
from shared.adapters.catalog_api.graphql.limits import TooComplexError, check
from shared.adapters.catalog_api.graphql.request import ANSWERED, BEGUN, FAILED, Request
from shared.adapters.catalog_api.graphql.types import schema_of
from shared.adapters.catalog_api.line_file import Opened

LARGEST_ANSWER: Final = 16 * 1024 * 1024
"""Bytes."""
_LARGEST_LINE: Final = 16 * 1024 * 1024
_VALUE_BYTES: Final = 32
"""What the answer holds of a value besides its text: its name, quotes, a comma."""
_TOO_LARGE: Final = f"answer exceeds maximum size of {LARGEST_ANSWER} bytes: ask for fewer fields, or a lower limit"
_Value: TypeAlias = Any  # why: any JSON value


class _TooLargeError(BaseException):
    """The answer has too many bytes; the library goes on after any other error."""


class Answers:
    """Answers about one catalog."""

    def __init__(self, opened: Opened, schemas: Schemas, most: int = LARGEST_ANSWER) -> None:
        self._opened = opened
        self._left = most
        self._schema: GraphQLSchema = schema_of(schemas, self._load, self._charge)

    def answer(self, query: str) -> Mapping[str, _Value]:
        """What the query asks for, or why not."""
        try:
            document = parse(query)
            check(document)
            return self._executed(document)
        except GraphQLError as error:
            return refusal(f"query parse error: {error.message}")
        except TooComplexError as error:
            return refusal(str(error))
        except _TooLargeError:
            return refusal(_TOO_LARGE)

    def _executed(self, document: DocumentNode) -> Mapping[str, _Value]:
        errors = validate(self._schema, document)
        if errors:
            return {"data": None, "errors": [{"locations": [], **one.formatted} for one in errors]}
        found = execute_sync(self._schema, document)
        failed = [{"locations": [], **one.formatted} for one in found.errors or ()]
        return {"data": found.data, **({"errors": failed} if failed else {})}

    def _load(self, schema: str, offset: int, limit: int) -> Iterator[Mapping[str, _Value]]:
        for start, end in self._opened.each(schema)[offset : offset + limit]:
            if end - start > _LARGEST_LINE:
                raise ValueError(f"error loading objects for schema {schema}: one has {end - start} bytes")
            document = document_of(bytes(self._opened.file[start:end]))
            if document is not None:
                yield self._charge(document, 0)

    def _charge(self, value: _Value, size: int | None = None) -> _Value:
        self._left -= _VALUE_BYTES + ((len(value.encode()) if isinstance(value, str) else 0) if size is None else size)
        if self._left < 0:
            raise _TooLargeError
        return value


def written(answer: Mapping[str, _Value], most: int = LARGEST_ANSWER) -> bytes:
    """The bytes of an answer; what escapes and names add to it counts, too."""
    found = orjson.dumps(answer)
    return (found if len(found) <= most else orjson.dumps(refusal(_TOO_LARGE))) + b"\n"


def refusal(message: str) -> Mapping[str, _Value]:
    """An answer that only says what is wrong."""
    return {"data": None, "errors": [{"message": message, "locations": []}]}


def run(client: socket.socket) -> Never:
    """Read a request to its end, answer it, and end; or be ended by the alarm of the system."""
    try:
        client.sendall(BEGUN)
        with client.makefile("rb") as sent:
            request = msgspec.json.decode(sent.read(), type=Request)
        signal.setitimer(signal.ITIMER_REAL, request.seconds)
        _bound_memory(request.memory)
        client.sendall(ANSWERED + _answer(request))
    except Exception as error:  # noqa: BLE001  # why: whatever it is, one query has failed
        client.sendall(FAILED + f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(0)


def _answer(request: Request) -> bytes:
    schemas = decoded(Path(request.fields).read_bytes())
    return written(Answers(Opened(Path(request.lines)), schemas).answer(request.query))


def _bound_memory(most: int) -> None:
    """Lower the limit of this process, and raise none."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
