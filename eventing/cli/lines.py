"""Questions and answers as JSON lines: in order, one by one, and a bad line spoils no other."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from eventing.cli.failure import USAGE, CliError

Answer = Callable[[dict[str, Any]], Mapping[str, Any]]
"""Answers one question; ValueError says why it cannot."""


def answer_lines(answer: Answer, *, echo: Iterable[str] = ("id",), beside: Iterable[object] = ()) -> None:
    """Answer each line of stdin by one line, which repeats the `echo` fields of its question.

    CliError when there is something `beside` the option --batch, as the name of a file, which nothing would read.
    """
    if any(beside):
        raise CliError("--batch reads questions from stdin, and takes no arguments", USAGE)
    repeated = tuple(echo)
    for number, line in enumerate(sys.stdin.buffer, 1):
        if line.strip():
            sys.stdout.write(json.dumps(_reply(line, number, answer, repeated)) + "\n")
            sys.stdout.flush()


def _reply(line: bytes, number: int, answer: Answer, echo: tuple[str, ...]) -> dict[str, Any]:
    try:
        question = json.loads(line, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        return {"error": f"line {number} is not JSON: {error}"}
    if not isinstance(question, dict):
        return {"error": f"line {number} is not a JSON object"}
    repeated = {key: question[key] for key in echo if key in question}
    try:
        return {**repeated, **answer(question)}
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
