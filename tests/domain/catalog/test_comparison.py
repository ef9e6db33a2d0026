from __future__ import annotations

import pytest

from shared.domain.catalog.comparison import compare
from shared.domain.catalog.conversion import Drafts, convert
from tests.kit.fbc import (
    Json,
    a_bundle,
    a_channel,
    a_deprecation,
    a_notice,
    a_package,
    an_entry,
    reading,
    written,
)

V1, V2, V3 = an_entry("v1"), an_entry("v2", "v1"), an_entry("v3", "v2")
BUNDLES = [a_bundle("v1", "1.0.0"), a_bundle("v2", "2.0.0"), a_bundle("v3", "3.0.0")]
OLD = [a_package(), a_channel("alpha", V1, V2), *BUNDLES[:2]]


def drafts(*documents: Json) -> Drafts:
    found, findings = convert(reading(written(*documents)).blobs)
    assert findings == []
    return found


@pytest.mark.parametrize(
    ("newer", "changes"),
    [
        pytest.param(OLD, [], id="the same"),
        pytest.param([], [("lost", "the package is gone")], id="a package is gone"),
        pytest.param(
            [a_package(), a_channel("alpha", V1, V2, V3), *BUNDLES],
            [("gained", "bundle v3 is new"), ("changed", "the head of channel alpha is v3, it was v2")],
            id="a new version",
        ),
        pytest.param(
            [a_package(), a_channel("alpha", V2, V3), *BUNDLES[1:]],
            [
                ("lost", "bundle v1 is gone"),
                ("gained", "bundle v3 is new"),
                ("changed", "the head of channel alpha is v3, it was v2"),
            ],
            id="a version is gone, and those who have it are still updated",
        ),
        pytest.param(
            [a_package(), a_channel("alpha", an_entry("v3", "v2")), *BUNDLES[2:]],
            [
                ("lost", "bundle v1 is gone"),
                ("lost", "bundle v2 is gone"),
                ("gained", "bundle v3 is new"),
                ("changed", "the head of channel alpha is v3, it was v2"),
                ("stuck", "in channel alpha, v1, which is no longer in it, is not updated to v3"),
            ],
            id="whoever has v1 is stuck",
        ),
        pytest.param(
            [a_package(), a_channel("alpha", V1, an_entry("v2", "", ("v1",))), *BUNDLES[:2]], [], id="skips lead on"
        ),
        pytest.param(
            [a_package(), a_channel("alpha", an_entry("v2", "", (), "<2.0.0")), BUNDLES[1]],
            [("lost", "bundle v1 is gone")],
            id="a range of versions leads on",
        ),
        pytest.param(
            [
                a_package(),
                a_channel(
                    "alpha", V1, an_entry("v3", "v2"), an_entry("v2", "", (), "<0.5.0"), an_entry("x", "v3", ("v1",))
                ),
                *BUNDLES,
                a_bundle("x", "4.0.0"),
            ],
            [
                ("gained", "bundle v3 is new"),
                ("gained", "bundle x is new"),
                ("changed", "the head of channel alpha is x, it was v2"),
            ],
            id="another way",
        ),
        pytest.param(
            [a_package(defaultChannel="beta"), a_channel("beta", V1, V2), *BUNDLES[:2]],
            [
                ("changed", "the default channel is beta, it was alpha: subscriptions that name none move"),
                ("lost", "channel alpha is gone"),
                ("gained", "channel beta is new"),
            ],
            id="another channel",
        ),
        pytest.param(
            [*OLD[:3], a_bundle("v2", "2.0.1"), a_deprecation(a_notice(), a_notice("olm.bundle", "v1", "old\n"))],
            [
                ("changed", "bundle v2 has version 2.0.1, it had 2.0.0"),
                ("changed", "bundle v1 is deprecated: old"),
                ("changed", "the package is deprecated: old"),
            ],
            id="another version, and deprecations",
        ),
    ],
)
def test_what_changes(newer: list[Json], changes: list[tuple[str, str]]) -> None:
    assert [(one.kind, one.message) for one in compare(drafts(*OLD), drafts(*newer))] == changes


def test_what_was_deprecated_may_be_welcome_again() -> None:
    older = drafts(*OLD, a_deprecation(a_notice("olm.channel", "alpha")))
    assert [one.message for one in compare(older, drafts(*OLD))] == ["channel alpha is no longer deprecated"]


def test_a_new_package_and_a_channel_that_nobody_defined() -> None:
    newer = drafts(*OLD, a_package("bar", defaultChannel="x"))
    assert [(one.package, one.kind) for one in compare(drafts(*OLD), newer)] == [("bar", "gained")]
    assert compare(newer, newer) == ()
