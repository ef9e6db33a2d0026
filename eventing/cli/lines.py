"""Requests and answers as JSON lines: one answer per request, in order; a bad line gets an error as its answer."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from eventing.cli.failure import USAGE, CliError

Answer = Callable[[dict[str, Any]], Mapping[str, Any]]
"""Answers one request; ValueError says why it cannot."""


def answer_requests(answer: Answer, *, echo: Iterable[str] = ("id",), arguments: Iterable[object] = ()) -> None:
    """Answer each line of stdin by one line, which repeats the `echo` fields of its request.

    CliError when there are `arguments` besides the option --batch, which would not be read.
    """
    if any(arguments):
        raise CliError("--batch reads requests from stdin, and takes no arguments", USAGE)
    repeated = tuple(echo)
    for number, line in enumerate(sys.stdin.buffer, 1):
        if line.strip():
            sys.stdout.write(json.dumps(_reply(line, number, answer, repeated)) + "\n")
            sys.stdout.flush()


def _reply(line: bytes, number: int, answer: Answer, echo: tuple[str, ...]) -> dict[str, Any]:
    try:
        request = json.loads(line, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        return {"error": f"line {number} is not JSON: {error}"}
    if not isinstance(request, dict):
        return {"error": f"line {number} is not a JSON object"}
    repeated = {key: request[key] for key in echo if key in request}
    try:
        return {**repeated, **answer(request)}
    except ValueError as error:
        return {**repeated, "error": str(error)}
    except RecursionError:
        return {**repeated, "error": f"line {number} is nested too deep"}


def _finite(text: str) -> float:
    """A number as JSON has them: one that could be written again."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number")
    return number
