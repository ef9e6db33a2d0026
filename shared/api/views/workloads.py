"""What the objects say that run containers: Deployments, Jobs, Pods."""

from __future__ import annotations

from datetime import datetime

from shared import names
from shared.api import fields
from shared.api.views import field
from shared.api.views.object import Object, StoredCondition
from shared.api.views.view import View


class PodTemplate(Object):
    """The metadata and the spec of the Pods of a Deployment or Job."""

    __slots__ = ()

    containers = field.parts("spec", "containers")
    """The containers as they are."""


class Deployment(Object):
    """Pods that run all the time."""

    __slots__ = ()

    template = field.view(PodTemplate, "spec", "template")
    """`spec.template`."""
    observed_generation = field.number("status", "observedGeneration")
    """The generation that the status is about."""
    replicas = field.number("status", "replicas")
    """The Pods that there are."""
    updated_replicas = field.number("status", "updatedReplicas")
    """The Pods that are as the spec says."""
    available_replicas = field.number("status", "availableReplicas")
    """The Pods that have been ready for long enough."""

    @property
    def wanted_replicas(self) -> int:
        """How many Pods there shall be; one when it does not say."""
        found = fields.value(self.raw, "spec", "replicas")
        return found if type(found) is int else 1

    @property
    def rolled_out(self) -> datetime | None:
        """When the last of its former Pods was replaced; None while some are not, or nobody says so."""
        found = self.condition("Progressing")
        return fields.moment(found.raw, "lastUpdateTime") if found.reason == names.ROLLED_OUT else None


class Job(Object):
    """Pods that run until their work is done."""

    __slots__ = ()

    template = field.view(PodTemplate, "spec", "template")
    """`spec.template`."""
    completed = field.moment("status", "completionTime")
    """`status.completionTime`; None before it has completed."""

    @property
    def has_completed(self) -> bool:
        """Whether its work is done."""
        return self.condition("Complete").is_true

    @property
    def failure(self) -> StoredCondition | None:
        """Why it has failed for good; None when it has not."""
        found = self.condition("Failed")
        return found if found.is_true else None

    @property
    def is_over(self) -> bool:
        """Whether it has completed or failed."""
        return self.has_completed or self.failure is not None


class ContainerStatus(View):
    """The state of one container of a Pod."""

    __slots__ = ()

    name = field.text("name")
    """The name of the container."""
    is_ready = field.flag("ready")
    """Whether it serves, or has done what it had to do."""

    @property
    def waiting(self) -> StoredCondition | None:
        """Why it does not run yet, with `reason` and `message`; None when it runs or has ended."""
        found = fields.part(self.raw, "state", "waiting")
        return StoredCondition(found) if found else None

    @property
    def last_words(self) -> str:
        """Its termination message; empty while it runs."""
        return fields.text(self.raw, "state", "terminated", "message").strip()


class Pod(Object):
    """Containers that run together on one node."""

    __slots__ = ()

    node = field.text("spec", "nodeName")
    """The node on which it runs; empty until it has a place."""
    reason = field.text("status", "reason")
    """`status.reason`, why it is as it is, in one word."""
    message = field.text("status", "message")
    """`status.message`, why it is as it is."""
    init_containers = field.views(ContainerStatus, "status", "initContainerStatuses")
    """The state of the containers that run before the others."""
    containers = field.views(ContainerStatus, "status", "containerStatuses")
    """The state of the other containers."""

    @property
    def is_pending(self) -> bool:
        """Whether not all of its containers were started yet."""
        return fields.text(self.raw, "status", "phase") == "Pending"
