"""Answers that the libraries of OLM gave to generated questions (`answers.jsonl`), sentence by sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shared.domain.semver import parse_tolerant
from shared.domain.semver.comparison import Dialect, compared, members
from shared.domain.semver.version import parse_version

ANSWERS = [json.loads(line) for line in Path(__file__).with_name("answers.jsonl").read_text().splitlines()]
RANGES = [each for each in ANSWERS if "range" in each]
PAIRS = [each for each in ANSWERS if "a" in each]


def _answer(document: dict[str, Any]) -> dict[str, Any]:
    try:
        if "range" in document:
            return {"in": members(Dialect(document["dialect"]), document["range"], document.get("in", ()))}
        read = parse_tolerant if document["dialect"] == "tolerant" else parse_version
        return {"cmp": compared(document["a"], document["b"], read=read)}
    except ValueError as error:
        return {"error": str(error)}


@pytest.mark.parametrize("want", RANGES, ids=lambda each: f"{each['dialect']} {each['range']!r}")
def test_a_range_holds_what_the_library_says(want: dict[str, Any]) -> None:
    assert _answer(want) == {key: want[key] for key in ("in", "error") if key in want}


@pytest.mark.parametrize("want", PAIRS, ids=lambda each: f"{each['dialect']} {each['a']!r} {each['b']!r}")
def test_two_versions_compare_as_the_library_says(want: dict[str, Any]) -> None:
    assert _answer(want) == {key: want[key] for key in ("cmp", "error") if key in want}
