"""Questions and answers as JSON lines: in order, one by one, and a bad line spoils no other."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Answer = Callable[[dict[str, Any]], Mapping[str, Any]]
"""Answers one question; ValueError says why it cannot."""


def answer_lines(answer: Answer, *, echo: Iterable[str] = ("id",)) -> None:
    """Answer each line of stdin by one line, which repeats the `echo` fields of its question."""
    repeated = tuple(echo)
    for number, line in enumerate(sys.stdin.buffer, 1):
        if line.strip():
            sys.stdout.write(json.dumps(_reply(line, number, answer, repeated), ensure_ascii=False) + "\n")
            sys.stdout.flush()


def _reply(line: bytes, number: int, answer: Answer, echo: tuple[str, ...]) -> dict[str, Any]:
    try:
        question = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"error": f"line {number} is not JSON: {error}"}
    if not isinstance(question, dict):
        return {"error": f"line {number} is not a JSON object"}
    repeated = {key: question[key] for key in echo if key in question}
    try:
        return {**repeated, **answer(question)}
    except ValueError as error:
        return {**repeated, "error": str(error)}
