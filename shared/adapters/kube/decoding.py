"""Decodes JSON of any size within the memory of a run."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import orjson

LARGE_BYTES = 1024 * 1024
"""orjson asks for twelve times as many bytes at once, used or not, and several runs share the memory of a worker: at
384 MiB a list of 4 MB, decoded by each of them, ended it. The standard library takes as much as it makes of the text,
and 1.6 times as long."""


def decoded(data: bytes) -> Any:  # why: any JSON value
    """The value of a JSON text. ValueError when it is none; MemoryError when there is not enough memory to say."""
    if len(data) > LARGE_BYTES:
        try:
            return json.loads(data, parse_constant=_refuse)
        except RecursionError as error:
            raise ValueError("nested too deep") from error
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if error.msg.startswith("Not enough memory"):
            raise MemoryError(error.msg) from error
        raise


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
