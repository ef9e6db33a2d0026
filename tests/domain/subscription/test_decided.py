"""What was decided for a Subscription, in its conditions."""

from __future__ import annotations

import pytest

from shared.api.views import Subscription
from shared.domain.resolver.model import Component, Refusal, Stay
from shared.domain.subscription.conditions import STRANDED
from shared.domain.subscription.decided import decided
from tests.kit.cluster import FixedClock

NOW = FixedClock().now()
END = Stay("NotInChannel", "1.0.0 is not in channel new")
STANDING = {"type": STRANDED, "status": "True", "reason": END.reason, "message": END.message}


def conditions(component: Component, *present: dict[str, str]) -> list[str]:
    """The types of the conditions afterwards."""
    before = {"conditions": list(present)}
    status = decided(Subscription({"metadata": {"name": "etcd"}, "status": before}), component, "no", NOW) or before
    return [str(one["type"]) for one in status.get("conditions", ())]


@pytest.mark.parametrize(
    ("component", "want"),
    [
        pytest.param(Component(("etcd",), stays={"etcd": END}), [STRANDED], id="it still leads nowhere"),
        pytest.param(Component(("etcd",), stays={}), [], id="it leads further now"),
        pytest.param(Component(("etcd",)), [STRANDED], id="a sibling waits for its plan: nothing was decided"),
        pytest.param(
            Component(("etcd",), refusal=Refusal("ErrorPreventedResolution", "no")),
            [STRANDED, "ResolutionFailed"],
            id="a refusal says nothing about the channel",
        ),
    ],
)
def test_a_channel_that_led_nowhere_is_forgotten_when_that_was_decided_anew(
    component: Component, want: list[str]
) -> None:
    assert conditions(component, STANDING) == want
