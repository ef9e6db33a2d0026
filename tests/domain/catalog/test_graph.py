"""The update graph of a channel."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.catalog.graph import defect, heads, skipped, successors
from shared.domain.catalog.model import Channel, Entry


def channel(*entries: Entry) -> Channel:
    return Channel("stable", entries)


@pytest.mark.parametrize(
    ("entries", "want"),
    [
        pytest.param((), [], id="an empty channel has no head"),
        pytest.param((Entry("a"), Entry("b", replaces="a")), ["b"], id="replaced entries are no heads"),
        pytest.param((Entry("a"), Entry("b", skips=("a",))), ["b"], id="skipped entries are no heads"),
        pytest.param((Entry("a", replaces="gone"),), ["a"], id="an edge to an absent entry leads nowhere"),
        pytest.param((Entry("a"), Entry("b")), ["a", "b"], id="unconnected entries are both heads"),
        pytest.param((Entry("a", replaces="b"), Entry("b", replaces="a")), [], id="a cycle has no head"),
        pytest.param((Entry("", skips=("",)),), [], id="an entry without a name can be skipped"),
        pytest.param((Entry(""),), [""], id="an entry without a name is not replaced by those that replace nothing"),
    ],
)
def test_heads(entries: tuple[Entry, ...], want: list[str]) -> None:
    assert [entry.name for entry in heads(channel(*entries))] == want


def _anakin(number: int, replaces: int = 0, *skips: int) -> Entry:
    return Entry(_name(number), _name(replaces) if replaces else "", tuple(map(_name, skips)))


def _name(number: int) -> str:
    return f"anakin.v0.0.{number}"


@pytest.mark.parametrize(
    ("entries", "want"),
    [
        pytest.param([_anakin(1), _anakin(2), _anakin(3, 1, 2)], "", id="fbc.md R138: replaces and skips"),
        pytest.param(
            [_anakin(1, 3), _anakin(2), _anakin(3, 1, 2)], "no channel head found in graph", id="fbc.md R139: no head"
        ),
        pytest.param(
            [_anakin(1), _anakin(2), _anakin(3, 1, 2), _anakin(4, 1)],
            "multiple channel heads found in graph: anakin.v0.0.3, anakin.v0.0.4",
            id="fbc.md R140: two heads",
        ),
        pytest.param([Entry("b"), Entry("a")], "multiple channel heads found in graph: a, b", id="fbc.md R141: sorted"),
        pytest.param([_anakin(1), _anakin(2, 0, 1), _anakin(3, 0, 2), _anakin(4, 3)], "", id="fbc.md R142: skips"),
        pytest.param(
            [_anakin(4, 4), _anakin(5, 4)],
            "detected cycle in replaces chain of upgrade graph: anakin.v0.0.4 -> anakin.v0.0.4",
            id="fbc.md R143: a cycle of one",
        ),
        pytest.param(
            [_anakin(1, 3), _anakin(2, 1), _anakin(3, 2), _anakin(4, 3)],
            "detected cycle in replaces chain of upgrade graph: "
            "anakin.v0.0.3 -> anakin.v0.0.2 -> anakin.v0.0.1 -> anakin.v0.0.3",
            id="fbc.md R144: a cycle of three",
        ),
        pytest.param(
            [_anakin(1), _anakin(2, 1), _anakin(3, 0, 2)],
            "channel contains one or more stranded bundles: anakin.v0.0.1",
            id="fbc.md R145: stranded",
        ),
        pytest.param(
            [_anakin(1), _anakin(2, 1), _anakin(3, 2, 2)],
            "channel contains one or more stranded bundles: anakin.v0.0.1",
            id="fbc.md R146: the chain ends at a skipped target",
        ),
        pytest.param([Entry("a", "a")], "no channel head found in graph", id="fbc.md R147: an entry replaces itself"),
        pytest.param([Entry("a", "x")], "", id="fbc.md R148: the tail replaces what is nowhere"),
        pytest.param(
            [Entry("a", skip_range="<2.0.0"), Entry("b")],
            "multiple channel heads found in graph: a, b",
            id="fbc.md R149: skipRange is no edge",
        ),
        pytest.param([Entry("a", "", ("a",))], "no channel head found in graph", id="fbc.md R150: it skips itself"),
        pytest.param([Entry("b"), Entry("a", "", ("b", "b"))], "", id="fbc.md R151: skipped twice"),
        pytest.param(
            [Entry("a", "gone"), Entry("b", "a", ("gone",))], "", id="fbc.md R153: the tail replaces what is skipped"
        ),
    ],
)
def test_what_is_wrong_with_a_channel(entries: list[Entry], want: str) -> None:
    assert defect(channel(*entries)) == want


def test_fbc_md_7_3_who_follows_a_name() -> None:
    graph = channel(Entry("a", "gone"), Entry("b", "", ("gone",)), Entry("c", "b", (), ">=0.0.0"))
    assert [entry.name for entry in successors(graph, "gone")] == ["a", "b"]
    assert skipped(graph) == {"gone"}


_names = st.sampled_from("abcde")
_entries = st.lists(
    st.builds(Entry, _names, st.sampled_from(["", *"abcdex"]), st.lists(_names, max_size=2).map(tuple)),
    unique_by=lambda entry: entry.name,
    min_size=1,
)


@given(_entries)
def test_the_order_of_entries_does_not_count(entries: list[Entry]) -> None:
    shuffled = sorted(entries, key=lambda entry: entry.name)
    assert defect(channel(*shuffled)) == defect(channel(*entries))


@given(_entries)
def test_every_entry_of_a_sound_channel_is_on_the_way_down_or_skipped(entries: list[Entry]) -> None:
    """The rule of fbc.md 7.2 once more, the slow way."""
    if defect(channel(*entries)):
        return
    by_name = {entry.name: entry for entry in entries}
    left_out = {name for entry in entries for name in entry.skips}
    (at,) = [name for name in by_name if all(name not in (entry.replaces, *entry.skips) for entry in entries)]
    reached = {at}
    while at in by_name and by_name[at].replaces not in left_out | {""}:
        at = by_name[at].replaces
        reached.add(at)
    assert by_name.keys() <= reached | left_out
