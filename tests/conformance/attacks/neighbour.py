"""Another tenant, who installs an operator meanwhile, and measures how long it takes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event

from shared.adapters.kube import ApiError
from shared.api.manifest import labels_of, name_of, uid_of
from shared.kinds import CLUSTER_ROLE, CLUSTER_SERVICE_VERSION, CONFIG_MAP, DEPLOYMENT, JOB, SUBSCRIPTION, Ref
from tests.conformance.attacks.gains import acting
from tests.conformance.http import Api
from tests.kit.installation import Installation, a_subscription

NEIGHBOUR, PACKAGE, VERSION, API = "neighbour", "beacon", "beacon.v1.0.0", "beacons.samples.olmf.io"
LEVELS = ("admin", "edit", "view")
INSTALLS = 5
AT_MOST = 2.0
"""How many times as long an install may take as in quiet, beyond what a plain client beside it notices."""
ROUNDS = 4
"""How often it is measured before it counts as slow: on a shared machine anything may be slow once."""


@dataclass(frozen=True)
class Wait:
    """How long the neighbour waited for its operator, and a plain client beside it for each write; in seconds."""

    install: float = 0.0
    write: float = 0.0

    def slower(self, quiet: Wait) -> float:
        """How many times as long an install took as in quiet, for each time that a write took as long."""
        return self.install / quiet.install / max(1.0, self.write / quiet.write)

    def times(self, quiet: Wait) -> str:
        """Both waits against those in quiet: the second tells what of the first the API server and the machine take."""
        return (
            f"{self.install:.1f} s, {quiet.install:.1f} s in quiet: {self.install / quiet.install:.1f} times as long; "
            f"a write of a plain client beside it {self.write / quiet.write:.1f} times"
        )


def least_of(measure: Callable[[], Wait], quiet: Wait, rounds: int = ROUNDS) -> Wait:
    """The best of some measurements; no more are made when one is good enough."""
    found = [measure()]
    while len(found) < rounds and min(each.slower(quiet) for each in found) > AT_MOST:
        found.append(measure())
    return min(found, key=lambda each: each.slower(quiet))


def installs(installation: Installation, api: Api, count: int = INSTALLS) -> Wait:
    """The medians of a few installs, one after the other; the last one stays."""
    waits: list[Wait] = []
    while len(waits) < count:
        uninstall(installation)
        waits.append(install(installation, api))
    return Wait(statistics.median(each.install for each in waits), statistics.median(each.write for each in waits))


def install(installation: Installation, api: Api) -> Wait:
    """Wait until the neighbour's operator works."""
    started = time.monotonic()
    with plain_writes(api) as took:
        installation.apply(a_subscription(PACKAGE, NEIGHBOUR, channel="stable"))
        installation.until_phase(VERSION, NEIGHBOUR)
    return Wait(time.monotonic() - started, statistics.mean(took))


@contextmanager
def plain_writes(api: Api) -> Iterator[list[float]]:
    """Meanwhile a client writes a ConfigMap of the neighbour again and again, twenty times a second."""
    took: list[float] = []
    over = Event()
    place, name = f"/api/v1/namespaces/{NEIGHBOUR}/configmaps", "plain"
    api.post(place, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})

    def write() -> None:
        own = acting(api, "editor")
        while not (over.wait(0.05) and took):
            started = time.monotonic()
            assert own.patch(f"{place}/{name}", {"data": {"written": str(len(took))}}).status == 200
            took.append(time.monotonic() - started)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            yield took
        finally:
            over.set()
        writing.result()


def has_roles_of_neighbour(installation: Installation) -> bool:
    """Whether there are roles for users of the neighbour's API, and every role has the rules that it gathers."""
    roles = {name_of(role): role for role in installation.cluster.list(CLUSTER_ROLE)}
    of_group = [role for name, role in roles.items() if name.startswith(f"olm.og.{NEIGHBOUR}-group.")]
    if len(of_group) != len(LEVELS) or not all(role.get("rules") for role in of_group):
        return False
    if not all(f"{API}-v1-{level}" in roles for level in (*LEVELS, "crdview")):
        return False
    return all(
        rule in (role.get("rules") or ())
        for role in roles.values()
        for selector in (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or ()
        for other in roles.values()
        if other is not role and selector["matchLabels"].items() <= labels_of(other).items()
        for rule in other.get("rules") or ()
    )


def uninstall(installation: Installation) -> None:
    """Take the operator away, and what was unpacked for it."""
    for ref in (SUBSCRIPTION.ref(PACKAGE, NEIGHBOUR), CLUSTER_SERVICE_VERSION.ref(VERSION, NEIGHBOUR)):
        with suppress(ApiError):  # it was never there, or is gone
            installation.cluster.delete(ref)
    installation.until_gone(CLUSTER_SERVICE_VERSION.ref(VERSION, NEIGHBOUR))
    installation.until_gone(DEPLOYMENT.ref(f"{PACKAGE}-controller", NEIGHBOUR))
    for job in installation.cluster.list(JOB, "olm"):
        ref = Ref.of(job)
        with suppress(ApiError):
            installation.cluster.delete(CONFIG_MAP.ref(ref.name, ref.namespace))
        installation.until_gone(ref)


def heal(installation: Installation) -> float:
    """Seconds until a Deployment of the neighbour that is deleted is back."""
    ref, started = DEPLOYMENT.ref(f"{PACKAGE}-controller", NEIGHBOUR), time.monotonic()
    before = installation.cluster.get(ref) or {}
    installation.cluster.delete(ref)
    installation.until(ref, lambda found: uid_of(found) != uid_of(before), "a new Deployment")
    return time.monotonic() - started
