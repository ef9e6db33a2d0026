"""`olmf semver`: batches answer line by line, single questions in words and by exit code."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.kit import verbs


def olmf(*words: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    return verbs.olmf("semver", *words, stdin=lines)


def answers(*words: str, lines: str) -> list[object]:
    return [json.loads(line) for line in olmf(*words, "--batch", lines=lines).stdout.splitlines()]


def test_a_batch_of_ranges_is_answered_in_order() -> None:
    lines = (
        '{"range": ">=1.0.0 <2.0.0", "versions": ["1.0.0", "2.0.0", "v1"]}\n\n'
        '{"range": "~1", "versions": ["1.0.0"]}\n{"range": "1.0.0", "versions": "1.0.0"}\n{"range": 1}\nnonsense\n[]\n'
    )
    assert answers("match", "--dialect", "blang", lines=lines) == [
        {"range": ">=1.0.0 <2.0.0", "in": {"1.0.0": True, "2.0.0": False, "v1": False}},
        {"range": "~1", "error": 'Could not parse Range "~1": Could not parse comparator "~" in "~1"'},
        {"range": "1.0.0", "error": '"versions" wants a list of texts'},
        {"range": 1, "error": "a request needs a text for range"},
        {"error": "line 6 is not JSON: Expecting value: line 1 column 1 (char 0)"},
        {"error": "line 7 is not a JSON object"},
    ]


def test_the_other_dialect_has_its_own_grammar() -> None:
    lines = '{"range": "~1 || 3", "versions": ["1.4", "2.0.0", "3.1.0-rc.1"]}\n'
    want = {"range": "~1 || 3", "in": {"1.4": True, "2.0.0": False, "3.1.0-rc.1": False}}
    assert answers("match", "--dialect", "masterminds", lines=lines) == [want]


def test_a_batch_of_pairs_is_answered_in_order() -> None:
    lines = '{"a": "1.0.0", "b": "1.0.0+1"}\n{"a": "1.0.0-rc", "b": "1.0.0"}\n{"a": "2.0.0", "b": "v1.0.0"}\n{}\n'
    assert answers("compare", lines=lines) == [
        {"cmp": 0},
        {"cmp": -1},
        {"error": 'Invalid character(s) found in major number "v1"'},
        {"error": "a request needs texts for a and b"},
    ]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("match", ">=1.0.0", "1.0.0"), 0, "1.0.0 is in >=1.0.0\n"),
        (("match", ">=1.0.0", "1.0.0", "0.1.0"), 1, "1.0.0 is in >=1.0.0\n0.1.0 is not in >=1.0.0\n"),
        (("compare", "1.0.0", "1.0.0+1"), 0, "1.0.0 is as high as 1.0.0+1\n"),
        (("compare", "1.0.0", "1.0.0+1", "--order", "build"), 1, "1.0.0 is lower than 1.0.0+1\n"),
        (("compare", "v1.1", "1.0.0", "--tolerant"), 1, "v1.1 is higher than 1.0.0\n"),
        (("match", ">=v1.0.0", "1.0.0"), 2, ""),
        (("match", ">=1.0.0", "1.0.0", "v1.2"), 2, ""),
        (("match",), 2, ""),
        (("match", "--batch", "questions.jsonl"), 2, ""),
        (("compare", "1.0.0", "--batch"), 2, ""),
        (("compare", "1.0.0"), 2, ""),
        (("compare", "1.0.0", "1"), 2, ""),
    ],
)
def test_a_single_request_is_answered_in_words_and_by_exit_code(
    words: tuple[str, ...], code: int, sentence: str
) -> None:
    done = olmf(*words)
    assert (done.returncode, done.stdout) == (code, sentence)
    assert ("olmf: " in done.stderr) == (code == 2)
    assert "Traceback" not in done.stderr
