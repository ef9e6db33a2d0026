"""The update graph of a channel."""

from __future__ import annotations

import pytest

from shared.domain.catalog.graph import heads
from shared.domain.catalog.model import Channel, Entry


@pytest.mark.parametrize(
    ("entries", "want"),
    [
        pytest.param((), [], id="an empty channel has no head"),
        pytest.param((Entry("a"), Entry("b", replaces="a")), ["b"], id="replaced entries are no heads"),
        pytest.param((Entry("a"), Entry("b", skips=("a",))), ["b"], id="skipped entries are no heads"),
        pytest.param((Entry("a", replaces="gone"),), ["a"], id="an edge to an absent entry leads nowhere"),
        pytest.param((Entry("a"), Entry("b")), ["a", "b"], id="unconnected entries are both heads"),
        pytest.param((Entry("a", replaces="b"), Entry("b", replaces="a")), [], id="a cycle has no head"),
    ],
)
def test_heads(entries: tuple[Entry, ...], want: list[str]) -> None:
    assert [entry.name for entry in heads(Channel("stable", entries))] == want
