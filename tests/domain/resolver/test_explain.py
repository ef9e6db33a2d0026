"""Every refusal is explained: facts without which there would be an answer, and fixes that lead to one."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from shared.domain.command import Command, kubectl
from shared.domain.resolver.constraints import Constraint, Id, Prohibited
from shared.domain.resolver.explain.findings import Fact, Finding, Fix, as_json, explained, fixes_of, without_command
from shared.domain.resolver.explain.fixes import explain
from shared.domain.resolver.model import prevented, unsatisfiable
from shared.domain.resolver.reasons import Code, Reason
from shared.domain.resolver.resolve import resolve
from shared.domain.resolver.sat import Sat
from tests.domain.resolver.corpus import SITUATIONS, Situation
from tests.domain.resolver.scenery import (
    Blob,
    ask,
    bundle,
    catalog,
    csv,
    prop,
    releases,
    seen,
    sub,
)

EXPECTED = Path(__file__).with_name("corpus.txt")
CASES = [pytest.param(name, one, id=f"resolver.md 12 row {one.row}: {name}") for name, one in SITUATIONS.items()]


def written() -> str:
    """All explanations, as the file beside this one has them: `python -m tests.domain.resolver.test_explain`."""
    return "".join(_page(name, one) for name, one in SITUATIONS.items())


def _page(name: str, situation: Situation) -> str:
    lines = [line for one in explain(situation.inputs) for line in (*one.summary(), *(f"  {x}" for x in one.details()))]
    return "\n".join([f"## {name}", *lines, "", ""])


@pytest.mark.parametrize(("name", "situation"), CASES)
def test_the_explanation_reads_as_it_should(name: str, situation: Situation) -> None:
    pages = dict(page.split("\n", 1) for page in EXPECTED.read_text().split("## ")[1:])
    assert _page(name, situation) == f"## {name}\n{pages[name]}"


@pytest.mark.parametrize(("name", "situation"), CASES)
def test_a_summary_has_five_short_lines_at_most(name: str, situation: Situation) -> None:
    found = explain(situation.inputs)
    assert found, name
    assert all(1 < len(one.summary()) <= 5 and max(map(len, one.summary())) <= 240 for one in found)


@pytest.mark.parametrize(("name", "situation"), CASES)
def test_without_any_one_fact_there_would_be_an_answer(name: str, situation: Situation) -> None:
    for component in resolve(situation.inputs).components:
        if component.refusal is None or not component.refusal.facts or situation.inputs.copies:
            continue  # no contradiction of constraints
        facts = component.refusal.facts
        assert not _is_possible(facts), name
        assert all(_is_possible(facts[:index] + facts[index + 1 :]) for index in range(len(facts))), name


@pytest.mark.parametrize(("name", "situation"), CASES)
def test_a_stored_text_without_a_command(name: str, situation: Situation) -> None:
    for finding in explain(situation.inputs):
        for fix in finding.fixes:
            whole = "\n".join(replace(finding, fixes=(fix,)).details())
            want = whole.rpartition("\n")[0] if isinstance(fix.do, Command) else whole
            assert without_command(whole) == want, name
    assert without_command("fix: no v2") == "fix: no v2"


def _is_possible(facts: tuple[Constraint, ...]) -> bool:
    with Sat(facts, selectable=True) as sat:
        return sat.is_possible(texts=sat.texts)


def test_the_corpus_is_as_large_as_it_has_to_be() -> None:
    assert len(SITUATIONS) >= 40
    codes = {fact.code for one in SITUATIONS.values() for finding in explain(one.inputs) for fact in finding.facts}
    assert {"OnePerPackage", "OneProvider", "NoProvider", "UnclaimedCSV", "ChannelMissing", "Deprecated"} <= codes


def test_a_finding_is_reported_to_programs_too() -> None:
    [finding] = as_json(explain(SITUATIONS["the channel is missing"].inputs))
    assert finding["subscriptions"] == ["a"]
    assert finding["fixes"] == [
        {
            "code": "ChangeChannel",
            "what": "let Subscription a follow channel stable",
            "do": """kubectl -n ns patch subscription a --type merge -p '{"spec":{"channel":"stable"}}'""",
        }
    ]


def test_the_group_that_a_namespace_lacks_comes_before_what_else_is_wrong() -> None:
    """That it is created gives no answer yet, so the stored text is as it was."""
    wrong = [sub("a", channel="nope"), sub("b")]
    inputs = seen(catalog(releases("a"), releases("b")), subs=wrong, operatorGroups=[])
    (finding,), (component, *_) = explain(inputs), resolve(inputs).components
    assert finding.fixes == ()
    fix = finding.details()[-1]
    assert fix.startswith("fix: create an OperatorGroup, here one for all namespaces: echo ")
    assert fix.endswith(" | kubectl create -f -")
    assert finding.summary()[-1] == fix
    assert [one["code"] for one in fixes_of(finding)] == ["OneOperatorGroup"]
    assert component.refusal
    assert explained(component.refusal, finding) == "expected 1 OperatorGroup in the namespace, found 0"


def test_a_group_that_is_gone_is_made_again_for_the_namespaces_that_are_still_stated() -> None:
    was = {"metadata": {"name": "a.v1", "namespace": "ns", "annotations": {"olm.targetNamespaces": "ns"}}}
    (finding,) = explain(seen(catalog(releases("a")), subs=[sub("a")], csvs=[was], operatorGroups=[]))
    fix = finding.details()[-1]
    assert fix.startswith("fix: create an OperatorGroup for ns, as before: echo ")
    assert '"spec":{"targetNamespaces":["ns"]}' in fix


def test_olms_line_stands_first_and_a_sentence_of_ours_is_enough() -> None:
    finding = Finding(("a",), "", (Fact(Code.DEPRECATED, "x", "x is so"),), (Fix("Y", "do y", "y"),))
    refusal = unsatisfiable([Prohibited(Id("a"), "x", Code.DEPRECATED)])
    sentence = explained(refusal, finding)
    assert sentence.splitlines()[0] == "constraints not satisfiable: x"
    assert sentence.splitlines()[-1] == "fix: do y: y"
    assert explained(refusal, None) == "constraints not satisfiable: x"
    assert explained(prevented(Reason(Code.PREVENTED, "x")), finding) == "x"
    sentence = explained(prevented(Reason(Code.OPERATOR_GROUPS, "x")), finding)
    assert sentence == "x\nfix: do y: y", "nothing in OLM's words says which group"
    taken = unsatisfiable([Prohibited(Id("a"), "x", Code.NAME_TAKEN)], "Do y.")
    assert explained(taken, finding) == "constraints not satisfiable: x. Do y."


def test_a_command_is_shown_with_the_options_of_its_reader_and_stored_without() -> None:
    fix = Fix("Y", "do y", kubectl("get", "csv", namespace="n"))
    finding = Finding(("a",), "", (Fact(Code.DEPRECATED, "x", "x"),), (fix, Fix("Z", "do z", "edit z")))
    shown = lambda do: f"{do} --state s"  # noqa: E731  # why: one line of test
    assert finding.details()[-2:] == ("fix: do y: kubectl -n n get csv", "fix: do z: edit z")
    assert finding.details(shown)[-2] == finding.summary(shown)[-1] == "fix: do y: kubectl -n n get csv --state s"
    (reported,) = as_json([finding], shown)
    assert reported["fixes"] == [
        {"code": "Y", "what": "do y", "do": "kubectl -n n get csv --state s"},
        {"code": "Z", "what": "do z", "do": "edit z --state s"},
    ]


@pytest.mark.parametrize(
    ("finding", "want"),
    [
        pytest.param(Finding(("a",), "", (Fact(Code.DEPRECATED, "x", "x"),)), "no fix was found", id="none"),
        pytest.param(
            Finding(("a",), "", (Fact(Code.NAME_TAKEN, "x", "x"),), default_fix="use b"),
            "fix: use b",
            id="the refusal's own",
        ),
        pytest.param(Finding(("a",), "", (Fact(Code.PREVENTED, "x", "do y"),)), "- do y", id="an error that says it"),
    ],
)
def test_what_is_said_without_a_fix_that_was_tried(finding: Finding, want: str) -> None:
    assert finding.summary()[-1] == finding.details()[-1] == want


def test_an_unclaimed_version_that_no_channel_has_can_only_be_deleted() -> None:
    stray = [*releases("a", 1), bundle("a", "a.v9")]
    [finding] = explain(seen(catalog(stray), subs=[sub("a")], csvs=[csv("a.v9")]))
    codes = {fix.code for fix in finding.fixes}
    assert "DeleteCSV" in codes
    assert "AdoptCSV" not in codes


def test_a_long_line_is_cut() -> None:
    finding = Finding(("a",), "", (Fact(Code.DEPRECATED, "x", "x" * 500),))
    assert max(map(len, chain(finding.summary()))) == 240


@pytest.mark.parametrize(
    ("requirement", "lacking"),
    [
        pytest.param(
            prop("olm.package.required", PACKAGENAME="k", versionrange=">=1.0.0"), "package k", id="a package"
        ),
        pytest.param(prop("olm.gvk.required", Group="g", VERSION="v1", kind="K"), "kind K of g/v1", id="an API"),
        pytest.param({"type": "olm.gvk.required", "value": None}, "kind  of /", id="nothing"),
    ],
)
def test_a_requirement_has_its_fix_however_its_keys_are_spelled(requirement: Blob, lacking: str) -> None:
    """resolver.md 4.2: keys in any case, null as an empty object."""
    answer = ask(catalog(releases("a", 1, v1=[requirement])), subs=[sub("a")])
    assert any(lacking in fix["what"] for fix in answer["fixes"])


if __name__ == "__main__":
    EXPECTED.write_text(written())
