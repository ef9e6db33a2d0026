"""One entry for the queue: which step runs for which object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal, TypeAlias

from shared.kinds import Ref

Lane: TypeAlias = Literal["direct", "bulk", "long"]
"""`bulk` runs behind `direct`; `long` is for what may take minutes, in workers of its own. A step has one lane or the
first two."""


RESOLVE = "subscription/resolve_subscriptions"

TRACK = "subscription/track_subscription"

CHECK = "cluster_service_version/check_requirements"

INSTALL = (
    "cluster_service_version/probe_operator",
    "cluster_service_version/install_operator",
    CHECK,
    "fanout/notify_api_users",
    "cluster_service_version/sync_operator_condition",
    "operator_group/update_provided_apis",
    "install_plan/execute_install_plan",
    "subscription/write_install_plan",
    "bundle/collect_bundle",
    "bundle/unpack_bundle",
    RESOLVE,
    TRACK,
)
"""The steps of an install, the last one first: of what waits, the nearest to the end goes first.

So installs that begin together do not all end together. Every other step (which repairs, copies, grants or reports)
comes behind these."""

WAITS_FOR: Mapping[str, tuple[str, ...]] = {
    CHECK: ("install_plan/execute_install_plan", "operator_group/update_provided_apis"),
}
"""What finds nothing to do before other steps of its namespace have run: while these wait, too, they take its turn."""


SINK = "sink"
"""The group of jobs that post events to an external sink (`eventing/worker/outlet.py`)."""


_OUTSIDE = "outside"
"""First part of the API group in the ref of such a job."""


@dataclass(frozen=True, slots=True)
class Job:
    """One entry for the queue: which step runs for which object."""

    step: str
    """`<group>/<step>`: the file `functions/<group>/<step>.py`."""
    ref: Ref
    lane: Lane = "direct"
    delay: timedelta = timedelta()
    """How long the job waits for further events before it runs; none where a run enqueues it."""

    @property
    def group(self) -> str:
        """The folder of the step: its queue, its Knative Service, its ServiceAccount."""
        return self.step.partition("/")[0]


def to_outside(ref: Ref) -> Ref:
    """Another ref for the same object, so that a slow sink does not block the steps of the object."""
    separator = "." if "/" in ref.api_version else "/"
    return replace(ref, api_version=f"{_OUTSIDE}{separator}{ref.api_version}")


def from_outside(ref: Ref) -> Ref:
    """The ref of the object itself: the inverse of `to_outside`."""
    return replace(ref, api_version=ref.api_version.removeprefix(_OUTSIDE)[1:])
