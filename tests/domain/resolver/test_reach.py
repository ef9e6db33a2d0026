"""Channels that do not have what is installed, and lead nowhere from it."""

from __future__ import annotations

import pytest

from shared.domain.resolution_inputs.request import reader_of
from shared.domain.resolver.explain.choices import choices
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.reach import Reach
from shared.domain.resolver.resolve import resolve
from shared.domain.semver import parse_version
from tests.domain.resolver.scenery import (
    Blob,
    bundle,
    catalog,
    channel,
    csv,
    entry,
    releases,
    seen,
    sub,
)

OLD = releases("a", 3, channel="old", default="old")
"""a.v1 to a.v3 in channel `old`; channels that the tests add have some of them."""
NEITHER = "1.0.0 is not in channel new, and nothing there replaces it; the head"
NEXT = channel("a", "new", entry("a.v4", "a.v3"))
BAD = bundle("a", "a.v9", version="nine")


def reason(*blobs: Blob, installed: str = "a.v1", version: str = "", followed: str = "new", **wishes: str) -> str:
    """What is said of a Subscription to channel `new` beside channel `old`."""
    subs = [sub("a", channel=followed, installed=installed, **wishes)]
    inputs = seen(catalog(OLD, blobs), subs=subs, csvs=[csv(installed, version=version)], whole=False)
    resolution = resolve(inputs)
    assert [one.reason for one in choices(inputs, resolution)] == list(resolution.reasons.values())
    return resolution.reasons["a"]


@pytest.mark.parametrize(
    ("reported", "want"),
    [
        pytest.param(
            reason(channel("a", "new", entry("a.v3"))),
            f"{NEITHER} 3.0.0 cannot be reached from it (go by channel old)",
            id="another channel leads there",
        ),
        pytest.param(
            reason(NEXT, bundle("a", "a.v4"), channel("a", "way", entry("a.v3", "a.v1"))),
            f"{NEITHER} 4.0.0 cannot be reached from it (go by channel old or way)",
            id="two channels lead to what the head replaces",
        ),
        pytest.param(
            reason(channel("a", "new", entry("a.v4")), bundle("a", "a.v4")),
            f"{NEITHER} 4.0.0 cannot be reached from it (it is only in channel old, where it goes to 3.0.0)",
            id="the only channel that has it leads elsewhere",
        ),
        pytest.param(
            reason(channel("a", "new", entry("a.v4")), bundle("a", "a.v4"), installed="a.v3"),
            "3.0.0 is not in channel new, and nothing there replaces it; the head 4.0.0 cannot be reached from it "
            "(it is only in channel old)",
            id="the only channel that has it ends with it",
        ),
        pytest.param(
            reason(channel("a", "new", entry("a.v4")), bundle("a", "a.v4"), installed="a.v0", version="0.1.0"),
            "a.v0 is not in channel new, and nothing there replaces it; the head 4.0.0 cannot be reached from it",
            id="no channel has it",
        ),
        pytest.param(
            reason(channel("a", "new", entry("a.v9")), BAD),
            f"{NEITHER} a.v9 cannot be reached from it (it is only in channel old, where it goes to 3.0.0)",
            id="a head without a version is named",
        ),
        pytest.param(
            reason(channel("a", "new", entry("a.v1"))), "a.v1 is installed, and nothing in its channel replaces it",
            id="a channel that ends with it",
        ),
        pytest.param(
            reason(channel("a", "new", entry("a.v3", skip_range="<3.0.0"))),
            "a.v3 from channel new of catalog ns/cat in place of a.v1", id="a channel that skips to its head",
        ),
        pytest.param(
            reason(channel("a", "new", entry("a.v3")), hold="audit"), "a.v1 is held: audit", id="a hold comes first",
        ),
        pytest.param(
            reason(installed="a.v3", followed=""), "a.v3 is installed, and nothing in its channel replaces it",
            id="without a channel every one is followed",
        ),
    ],
)  # fmt: skip
def test_what_is_said_of_a_channel(reported: str, want: str) -> None:
    assert reported == want


@pytest.mark.parametrize(
    ("followed", "want"),
    [
        pytest.param("old", True, id="it has an update"),
        pytest.param("new", False, id="it has only what something else replaces"),
        pytest.param("none", False, id="there is no such channel"),
    ],
)
def test_whether_a_channel_leads_further(*, followed: str, want: bool) -> None:
    key = CatalogKey("ns", "cat")
    offered = reader_of([*OLD, channel("a", "new", entry("a.v3"))]).operators("a", key)
    assert Reach(offered, "a.v1", parse_version("1.0.0")).leads(followed) is want
