"""The report says the same for the same outcomes, and shows every behaviour once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.conformance.report import OUTAGES, SUITES, UPGRADES, in_order, is_whole, placed, read
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


def test_every_module_of_the_conformance_suites_runs_once_but_those_that_run_apart() -> None:
    """However a suite is cut into parts."""
    root = Path(__file__).parents[2]
    runs: Counter[str] = Counter()
    for suite in SUITES:
        left_out = {word.removeprefix("--ignore=") for word in suite.words if word.startswith("--ignore=")}
        for word in set(suite.words) - {f"--ignore={path}" for path in left_out}:
            found = sorted((root / word).rglob("test_*.py")) if (root / word).is_dir() else [root / word]
            assert all(path.is_file() for path in found), word
            runs.update({str(path.relative_to(root)) for path in found} - left_out)
    folders = ("api", "attacks", "images", "lifecycle", "packages", "ports")
    modules = [path for folder in folders for path in (root / "tests" / "conformance" / folder).glob("test_*.py")]
    expected = {str(path.relative_to(root)) for path in modules} - {*OUTAGES, UPGRADES}
    assert runs == dict.fromkeys((*expected, "tests/eventing/worker/test_crashes.py"), 1)


def test_a_report_is_whole_where_each_behaviour_was_seen_on_one_target() -> None:
    there, not_here = (Case("s", "m", "test_it", target, outcome)
                       for target, outcome in (("real", "passed"), ("sandbox", "skipped")))  # fmt: skip
    assert is_whole([there, not_here])
    assert not is_whole([not_here])
    assert not is_whole([there, Case("s", "m", "test_other", "real", "skipped")])


def test_parts_of_a_suite_are_told_together() -> None:
    first, last = SUITES[0].title, SUITES[-1].title
    cases = [Case(each, module, "test_it", "once", "passed") for module in "ba" for each in (last, first)]
    assert [(case.suite, case.module) for case in in_order(cases)] == [
        (first, "a"),
        (first, "b"),
        (last, "a"),
        (last, "b"),
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
