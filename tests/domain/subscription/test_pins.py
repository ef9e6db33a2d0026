"""What a Subscription passes over because of `olmf.io/version`."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import Csv, Subscription
from shared.domain.catalog.model import Bundle, Channel, Entry, Package
from shared.domain.subscription import track
from shared.domain.subscription.track import Surroundings, tracked

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CHANNELS = (
    Channel("stable", (Entry("a.v2", "a.v1"), Entry("a.v1"))),
    Channel("fast", (Entry("a.v3", "a.v1"), Entry("a.v1"))),
    Channel("odd", (Entry("a.unknown"),)),
)
PACKAGE = Package("a", "stable", CHANNELS, {f"a.v{n}": Bundle(f"a.v{n}", f"{n}.0.0", "") for n in (1, 2, 3)})


def a_subscription(version: str, channel: str = "stable") -> Manifest:
    meta = {"name": "a", "namespace": "ns", "annotations": {names.VERSION: version} if version else {}}
    return {"metadata": meta, "spec": {"name": "a", "channel": channel}}


@pytest.mark.parametrize(
    ("subscription", "installed", "want"),
    [
        pytest.param(a_subscription("1.0.0"), "a.v1", ["pinned to 1.0.0; a.v2 is there"], id="a pin"),
        pytest.param(a_subscription("<2.0.0"), "a.v1", ["pinned to <2.0.0; a.v2 is there"], id="a ceiling"),
        pytest.param(a_subscription("1.0.0", ""), "a.v1", ["pinned to 1.0.0; a.v3 is there"], id="in any channel"),
        pytest.param(a_subscription(""), "a.v1", [], id="no pin"),
        pytest.param(a_subscription(">=1.0.0"), "a.v1", [], id="a range that accepts the newest"),
        pytest.param(a_subscription("2.0.0"), "a.v2", [], id="a pin on the newest"),
        pytest.param(a_subscription("1.0.0"), "a.v3", [], id="nothing newer in the channel"),
        pytest.param(a_subscription("1.0.0"), "a.v0", [], id="a version that the catalog does not know"),
        pytest.param(a_subscription("1.0.0", "odd"), "a.v1", [], id="a head that has no version"),
    ],
)
def test_what_a_pin_passes_over(subscription: Manifest, installed: str, want: list[str]) -> None:
    assert [one.message for one in track.pin_conditions(Subscription(subscription), installed, PACKAGE)] == want


@pytest.mark.parametrize(
    ("version", "package", "is_reported"),
    [
        pytest.param("1.0.0", PACKAGE, True, id="while the pin is there"),
        pytest.param("1.0.0", None, True, id="while the catalog cannot be read"),
        pytest.param("2.0.0", PACKAGE, False, id="not when the pin accepts it"),
        pytest.param("", None, False, id="not when the pin is gone"),
    ],
)
def test_how_long_it_is_reported(version: str, package: Package | None, *, is_reported: bool) -> None:
    words = {"state": "AtLatestKnown", "currentCSV": "a.v1", "installedCSV": "a.v1"}
    csv = {"metadata": {"name": "a.v1", "namespace": "ns"}}
    reported = tracked(
        Subscription({**a_subscription("1.0.0"), "status": words}),
        Surroundings([], current=Csv(csv), package=PACKAGE),
        NOW,
    )
    assert reported is not None
    subscription = {**a_subscription(version), "status": reported}
    after = tracked(Subscription(subscription), Surroundings([], current=Csv(csv), package=package), NOW) or reported
    assert ("Pinned" in [one["type"] for one in after["conditions"]]) == is_reported
