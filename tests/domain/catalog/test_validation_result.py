from __future__ import annotations

import pytest

from shared.domain.catalog.validation_result import Finding, Place, ValidationResult, count_lines


def test_a_place_tells_what_is_known() -> None:
    assert str(Place("a.json", 2, 5, 7)) == "a.json, document 2, line 7"
    assert str(Place("a.json")) == "a.json"
    assert str(Place()) == ""


def test_lines_are_counted_once_for_each_file() -> None:
    contents = {"a": b"1\n2\n3\n", "b": b"1\n2\n"}
    reads: list[str] = []

    def read(name: str) -> bytes:
        reads.append(name)
        return contents[name]

    places = [Place("b", 1, 0), Place("a", 2, 4), Place("a", 1, 2), Place("c")]
    assert {place: found.line for place, found in count_lines(places, read).items()} == {
        Place("a", 1, 2): 2, Place("a", 2, 4): 3, Place("b", 1, 0): 1,
    }  # fmt: skip
    assert reads == ["a", "b"]


@pytest.mark.parametrize(
    ("findings", "text"),
    [
        pytest.param((), "", id="nothing"),
        pytest.param(
            (
                Finding("error converting YAML to JSON: yaml: line 5: no", Place("a", 2, 0, 11)),
                Finding("error converting YAML to JSON: yaml: line 5: no", Place("a", 2, 0)),
                Finding("object 1: yaml: line 5: no", Place("a", 2, 0, 11)),
            ),
            "error converting YAML to JSON: yaml: no (a, document 2, line 11)\n"
            "error converting YAML to JSON: yaml: line 5: no (a, document 2)\n"
            "object 1: yaml: line 5: no (a, document 2, line 11)",
            id="a line is told once",
        ),
        pytest.param((Finding("x", Place("a", 1, 0, 3)), Finding("y")), "x (a, document 1, line 3)\ny", id="lines"),
        pytest.param(
            (
                Finding("a", path=("i",)),
                Finding("b", path=("i", "p")),
                Finding("c", path=("i", "p", "c")),
                Finding("d", path=("i", "p")),
                Finding("e", Place("f"), path=("i", "q")),
            ),
            "i:\n├── a\n├── p:\n│   ├── b\n│   ├── c:\n│   │   └── c\n│   └── d\n└── q:\n    └── e (f)",
            id="fbc.md 6.6: a tree",
        ),
    ],
)
def test_the_text(findings: tuple[Finding, ...], text: str) -> None:
    assert ValidationResult(findings).text() == text
    assert ValidationResult(findings).is_valid is not bool(findings)


def test_each_finding_is_a_sentence_of_its_own() -> None:
    findings = (Finding("x", Place("a", 1, 0, 3)), Finding("y", path=("index", "package", "channel")))
    assert ValidationResult(findings).sentences() == ("x (a, document 1, line 3)", "package: channel: y")


def test_fbc_md_6_4_without_places_a_sentence_comes_once() -> None:
    result = ValidationResult((Finding("x", Place("a", 1)), Finding("y"), Finding("x", Place("a", 2))))
    assert result.text(with_places=False) == "x\ny"
    assert result.text() == "x (a, document 1)\ny\nx (a, document 2)"
