"""Printed commands are for the cluster or capture of the verb that prints them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from eventing.cli.commands import fix_text, fix_value, lead_to_cluster, lead_to_files, quoted, shown, values
from shared.domain.command import Command, Fix, kubectl, olmf


@pytest.fixture(autouse=True)
def _cluster() -> Iterator[None]:
    lead_to_cluster(["--state", "s 1"], ["--kubeconfig", "s1/kubeconfig"])
    yield
    lead_to_cluster()


@pytest.mark.parametrize(
    ("command", "want"),
    [
        pytest.param(olmf("why", namespace="a"), "olmf why -n a --state 's 1'", id="a verb"),
        pytest.param(olmf("queue", "retry"), "olmf queue retry --state 's 1'", id="a verb of a group"),
        pytest.param(
            kubectl("get", "pods", namespace="a"), "kubectl -n a get pods --kubeconfig s1/kubeconfig", id="kubectl"
        ),
        pytest.param("edit the catalog: olmf why x", "edit the catalog: olmf why x", id="no sentence is read"),
    ],
)
def test_a_command_reports_for_which_cluster_it_is(command: Command | str, want: str) -> None:
    assert shown(command) == want


def test_a_fix_is_the_same_in_a_sentence_and_in_json() -> None:
    fix = Fix("approve it", olmf("approve", "p"))
    assert fix_text(fix) == "approve it: `olmf approve p --state 's 1'`"
    assert fix_value(fix) == {"what": "approve it", "do": "olmf approve p --state 's 1'"}
    assert (fix_text(Fix("wait")), fix_value(Fix("wait"))) == ("wait", {"what": "wait", "do": ""})


@dataclass(frozen=True)
class Received:
    """Something with a command in it."""

    do: tuple[Command | str, ...]
    at: dict[str, int]


def test_every_command_of_a_value_is_shown() -> None:
    reported = {"a": [Received((olmf("list"), "edit"), {"b": 1})]}
    assert values(reported) == {"a": [{"do": ["olmf list --state 's 1'", "edit"], "at": {"b": 1}}]}


def test_what_files_can_answer_reports_which_ones() -> None:
    lead_to_files("objects", ("olm/a=a", "b c"))
    assert quoted(olmf("plan", "--grants")) == "`olmf plan --grants --from objects --catalog olm/a=a --catalog 'b c'`"
    assert quoted(olmf("why", namespace="a")) == "`olmf why -n a`"
    lead_to_files("-", ("a",))
    assert quoted(olmf("plan")) == "`olmf plan --from FILE --catalog a`", "a terminal would be waited for"


def test_what_a_capture_can_answer_reports_which_one() -> None:
    lead_to_files("x.tar", is_capture=True)
    assert quoted(olmf("why", namespace="a")) == "`olmf why -n a --from x.tar`"
    assert quoted(olmf("explain")) == "`olmf explain --from x.tar`"
    assert quoted(olmf("approve", "p")) == "`olmf approve p`"


def test_without_options_nothing_is_added() -> None:
    lead_to_cluster()
    assert quoted(olmf("why", namespace="a")) == "`olmf why -n a`"
