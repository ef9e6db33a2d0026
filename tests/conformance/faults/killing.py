"""Rounds of installs and removals, during which something is killed every few seconds.

Decision: a round ends with a pause in which nothing is killed, because only then can be said what was lost, and how
long it takes until everything is as it should be. `OLMF_KILL_SECONDS` counts the time in which something is killed.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from shared import names
from shared.adapters.kube import ApiError
from shared.api.manifest import labels_of, namespace_of
from shared.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CLUSTER_SERVICE_VERSION,
    NAMESPACE,
    OPERATOR_GROUP,
    SUBSCRIPTION,
    Kind,
    Ref,
)
from tests.conformance.lifecycle.samples import VERSIONS, converges, subscribe
from tests.kit.installation import Installation, a_namespace, an_operator_group
from tests.kit.waiting import wait_for

ROUND_SECONDS = 60.0
"""For so long something is killed in a round: two thirds during an install, one during its end."""
PAUSES = (0.5, 3.5)
"""Seconds between two deaths."""
BACK_SECONDS = 600.0
"""A bound against hanging: whoever starts what died waits longer each time, a kubelet up to five minutes."""
REMOVED = (SUBSCRIPTION, CLUSTER_SERVICE_VERSION, OPERATOR_GROUP)
"""What is deleted, one kind after the other.

The namespace goes afterwards, in quiet: whoever ends one asks the API server which kinds there are, and one that has
just begun does not know our definitions yet, so that the namespace would go without what is in it.
"""


def kill_seconds(default: float) -> float:
    """For how long something is killed."""
    return float(os.environ.get("OLMF_KILL_SECONDS", default))


@dataclass(frozen=True)
class Victims:
    """What is killed."""

    installation: Installation
    kill_one: Callable[[random.Random], str]
    """Kills one of them, and returns what it is called; nothing, if it was gone already."""
    are_back: Callable[[], object]
    """Whether all of them work again."""
    ends: Callable[[], Counter[str]]
    """How often each of our programs ended although nobody killed it, so far."""


@dataclass
class Toll:
    """What the rounds came to."""

    victims: Victims
    rng: random.Random = field(default_factory=random.Random)
    killed: Counter[str] = field(default_factory=Counter)
    installed: list[float] = field(default_factory=list)
    """Seconds from the last death of a round until all versions were installed."""
    removed: list[float] = field(default_factory=list)
    """Seconds from the last death of a round until there was nothing left of the versions and their group."""

    def take_round(self, place: str, seconds: float) -> None:
        """Install and remove in a namespace of that name; AssertionError when something is lost, or left."""
        installation = self.victims.installation
        with installed_in(installation, place):
            self._kill(seconds * 2 / 3)
            self.installed.append(self._seconds_until(lambda: until_installed(installation, place)))
            converges(installation, place)
            for kind in REMOVED:
                delete_all(installation, kind, place)
                self._kill(seconds / 3 / len(REMOVED))
            self.removed.append(self._seconds_until(lambda: until_nothing_is_left(installation, place)))
        installation.until_it_rests()
        assert installation.olmf("queue", "dead", "-o", "json").stdout.strip() == "[]"

    def _kill(self, seconds: float) -> None:
        over = time.monotonic() + seconds
        while (now := time.monotonic()) < over:
            time.sleep(min(self.rng.uniform(*PAUSES), over - now))
            if name := self.victims.kill_one(self.rng):
                self.killed[name] += 1

    def _seconds_until(self, until_done: Callable[[], None]) -> float:
        began = time.monotonic()
        wait_for(self.victims.are_back, "programs that work again", seconds=BACK_SECONDS)
        until_done()
        return time.monotonic() - began

    def told(self, seconds: float) -> str:
        """What a row of a report says."""
        most = ", ".join(f"{name} {count}" for name, count in self.killed.most_common())
        return (
            f"nothing; {self.killed.total()} killed in {seconds:.0f} s ({most}); {len(self.installed)} rounds: "
            f"installed {between(self.installed)} after the last of them, nothing left {between(self.removed)}; "
            f"{self.victims.ends().total()} of our programs ended without being killed; "
            f"the machine had a load of {os.getloadavg()[2]:.0f}"
        )


def is_survived(victims: Victims, seconds: float, place: str = "killed") -> str:
    """As many rounds as fit; what was lost (AssertionError), and how long it took to converge."""
    toll, left = Toll(victims), seconds
    while left > 0:
        toll.take_round(f"{place}-{len(toll.installed)}", min(ROUND_SECONDS, left))
        left -= ROUND_SECONDS
    ends = victims.ends()
    assert not ends, f"ended without being killed: {dict(ends)}"
    return toll.told(seconds)


def between(seconds: list[float]) -> str:
    """The middle and the longest of them."""
    return f"{sorted(seconds)[len(seconds) // 2]:.1f} s (at most {max(seconds):.1f} s)"


@contextmanager
def installed_in(installation: Installation, place: str) -> Iterator[None]:
    """Ask for the samples in a new namespace, which goes at the end."""
    installation.apply(a_namespace(place), an_operator_group(place))
    subscribe(installation, place)
    yield
    installation.cluster.delete(NAMESPACE.ref(place))
    installation.until_gone(NAMESPACE.ref(place))


def until_installed(installation: Installation, place: str) -> None:
    """Wait for the newest version of each sample."""
    for version in VERSIONS.values():
        installation.until_phase(version, place)


def delete_all(installation: Installation, kind: Kind, place: str) -> None:
    """Delete what there is of a kind, as soon as the API server is there and knows that we may."""

    def are_deleted() -> bool:
        with suppress(ApiError):
            for each in installation.cluster.list(kind, place):
                installation.cluster.delete(Ref.of(each))
            return True
        return False

    wait_for(are_deleted, f"that every {kind.kind} is deleted")


def until_nothing_is_left(installation: Installation, place: str) -> None:
    """Wait until there is nothing of the versions, here and elsewhere; AssertionError with what there is."""
    try:
        wait_for(lambda: not left_of(installation, place))
    except AssertionError as error:
        raise AssertionError(f"left of {place}: {left_of(installation, place)}") from error


def left_of(installation: Installation, place: str) -> list[Ref]:
    """The versions of the namespace, their copies, and the roles of them and of its group."""
    cluster = installation.cluster
    roles = [each for kind in (CLUSTER_ROLE, CLUSTER_ROLE_BINDING) for each in cluster.list(kind)]
    versions = cluster.list(CLUSTER_SERVICE_VERSION)
    found = [each for each in roles if labels_of(each).get(names.OWNER_NAMESPACE) == place]
    found += [each for each in versions if place in (namespace_of(each), labels_of(each).get(names.COPIED_FROM))]
    return [Ref.of(each) for each in found]
