"""The report says the same for the same outcomes, and shows every behaviour once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.report import placed, read
from tests.conformance.tables import ATTACKS, Case, sentence, shortened, text_of

RESULTS = """<testsuites><testsuite>
<testcase classname="tests.conformance.api.test_watch" name="test_it_ends[sandbox-soon]"/>
<testcase classname="tests.conformance.api.test_objects" name="test_a_csv_stays[sandbox]"/>
<testcase classname="tests.conformance.api.test_watch" name="test_it_ends[real-soon]"><failure message="no"/></testcase>
<testcase classname="tests.conformance.packages.test_packages" name="test_it[real-etcd]">
<properties><property name="result" value="Succeeded"/></properties></testcase>
<testcase classname="tests.conformance.packages.test_versions" name="test_it[real]">
<skipped message="no data"/></testcase>
</testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("parameters", "desired"),
    [
        pytest.param("sandbox", ("sandbox", ""), id="a target alone"),
        pytest.param("real-etcd", ("real", "etcd"), id="a target first"),
        pytest.param("a-real-case-sandbox", ("sandbox", "a-real-case"), id="a target last"),
        pytest.param("etcd", ("once", "etcd"), id="no target"),
    ],
)
def test_the_id_of_a_case_names_its_target(parameters: str, desired: tuple[str, str]) -> None:
    assert placed(parameters) == desired


def test_a_result_file_becomes_cases(tmp_path: Path) -> None:
    results = tmp_path / "results.xml"
    results.write_text(RESULTS)
    assert list(read("S", results)) == [
        Case("S", "watch", "test_it_ends", "sandbox", "passed", case="soon"),
        Case("S", "objects", "test_a_csv_stays", "sandbox", "passed"),
        Case("S", "watch", "test_it_ends", "real", "failed", case="soon"),
        Case("S", "packages", "test_it", "real", "passed", "Succeeded", "etcd"),
        Case("S", "versions", "test_it", "real", "skipped", "no data"),
    ]


def test_a_behaviour_is_one_row_with_both_targets() -> None:
    cases = [
        Case("S", "watch", "test_it_ends", "sandbox", "passed"),
        Case("S", "objects", "test_a_csv_stays", "sandbox", "passed"),
        Case("S", "watch", "test_it_ends", "real", "unsteady"),
        Case("S", "outages", "test_it_ends_after", "real", "passed", "nothing is lost, 2.0 s", "a flood"),
        Case("S", "packages", "test_it", "real", "passed", "Succeeded", "etcd"),
        Case("S", "packages", "test_it", "sandbox", "passed", "Succeeded", "etcd"),
    ]
    text = text_of(cases)
    assert text.count("## S: watch") == 1
    assert "| it ends | yes | yes, the second time |" in text
    assert "| it ends after: a flood | – | nothing is lost, 2.0 s |" in text
    assert "| a CSV stays | yes | – |" in text
    assert "| etcd | Succeeded | yes |" in text


def test_an_attack_is_one_row_with_what_came_of_it_on_both_targets() -> None:
    text = text_of(
        [
            Case(ATTACKS, "attacks", "test_permissions_that_were_gained", "sandbox", "passed", "nothing"),
            Case(ATTACKS, "attacks", "test_permissions_that_were_gained", "real", "passed", "nothing, too"),
        ]
    )
    assert "| permissions that were gained | nothing | nothing, too |" in text


def test_names_of_tests_read_as_sentences() -> None:
    assert sentence("test_a_csv_of_olm_is_served") == "a CSV of OLM is served"


def test_a_long_result_ends_at_a_word() -> None:
    assert shortened("word " * 200).endswith("word …")
    assert shortened("a | b\n c") == "a \\| b c"
