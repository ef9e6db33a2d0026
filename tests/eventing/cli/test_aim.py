"""Printed commands are for the cluster of the verb that prints them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eventing.cli.aim import Aim, aimed, aimed_in, take


@pytest.fixture(autouse=True)
def _aim() -> Iterator[None]:
    take(Aim("--state s1", "--kubeconfig s1/kubeconfig"))
    yield
    take(Aim())


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("`olmf why -n a` tells", "`olmf why --state s1 -n a` tells", id="a verb"),
        pytest.param("`olmf queue retry`", "`olmf queue retry --state s1`", id="a verb of a group"),
        pytest.param("`olmf list`, `olmf list`", "`olmf list --state s1`, `olmf list --state s1`", id="two"),
        pytest.param("olmf upgrades x", "olmf upgrades --state s1 x", id="a verb that begins like another"),
        pytest.param("olmf why --state s2 x", "olmf why --state s2 x", id="a verb that has its cluster"),
        pytest.param("olmf replay x.tar", "olmf replay x.tar", id="a verb without a cluster"),
        pytest.param("kubectl -n a get pods", "kubectl --kubeconfig s1/kubeconfig -n a get pods", id="kubectl"),
        pytest.param("kubectl --kubeconfig f get x", "kubectl --kubeconfig f get x", id="kubectl that has its cluster"),
    ],
)
def test_a_command_says_for_which_cluster_it_is(text: str, want: str) -> None:
    assert aimed(text) == want
    assert aimed(want) == want


def test_every_text_of_a_value_is_aimed() -> None:
    assert aimed_in({"do": ["olmf list", 1]}) == {"do": ["olmf list --state s1", 1]}


def test_what_a_capture_can_answer_says_which_one() -> None:
    take(Aim(capture="--from x.tar"))
    told = aimed("`olmf why -n a` tells; `olmf approve p` approves; olmf explain --from y.tar")
    assert told == "`olmf why --from x.tar -n a` tells; `olmf approve p` approves; olmf explain --from y.tar"


def test_where_nothing_was_said_nothing_is_added() -> None:
    take(Aim())
    assert aimed("`olmf why -n a`; kubectl get pods") == "`olmf why -n a`; kubectl get pods"
