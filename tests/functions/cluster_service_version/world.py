"""A cluster in which a test follows a ClusterServiceVersion from step to step."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from eventing.events.job import Job
from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_SERVICE_VERSION, CUSTOM_RESOURCE_DEFINITION, DEPLOYMENT, Kind, Ref
from shared.ports import Attempt
from shared.step import Outcome
from tests.domain.csv.builders import NOW
from tests.functions.subscription.world import a_crd, a_definition_of
from tests.kit.world import World as KitWorld

STEPS = {
    "check": "check_requirements", "install": "install_operator", "probe": "probe_operator",
    "replace": "replace_operator",
}  # fmt: skip


class World(KitWorld):
    """Nothing enqueues here: the test says which step runs."""

    def __init__(
        self, objects: Iterable[Manifest] = (), *, version: str = "v1.35.4", kinds: Iterable[Kind] = ()
    ) -> None:
        super().__init__()
        self.time, self.server = NOW, version
        self.is_prompt = False
        """Deployments are available as soon as they are written."""
        for kind in kinds:
            if not self.objects.is_served(kind):
                self.put(a_definition_of(kind))
        for manifest in objects:
            self.put(manifest)

    def put(self, manifest: Manifest) -> None:
        """A definition may leave out what no rule about versions looks at."""
        if manifest["kind"] == CUSTOM_RESOURCE_DEFINITION.kind:
            manifest = completed(manifest)
        super().put(manifest)

    @property
    def reads(self) -> int:
        return self.requests["read"]

    def csv(self, name: str = "a.v1") -> Manifest:
        return self.objects[csv_ref(name)]

    def step(self, name: str, csv: str = "a.v1", attempt: Attempt | None = None) -> Outcome:
        """What one step decides; nothing is performed."""
        return self.decide(a_job(name, csv), attempt)

    def does(self, name: str, csv: str = "a.v1") -> Outcome:
        """Run one step as a worker does."""
        outcome = self.run(a_job(name, csv))
        if self.is_prompt:
            for ref in [ref for ref, one in self.objects.items() if ref.kind == "Deployment" and is_behind(one)]:
                self.available(ref.name)
        return outcome

    def walk_until_rest(self, *names: str) -> None:
        """Run every step on every version (or those named) until none writes any more."""
        for _ in range(40):
            before = self.writes
            for ref in [csv_ref(name) for name in names] or [*self.objects]:
                if ref.kind == CLUSTER_SERVICE_VERSION.kind:
                    self.walk(ref.name)
            if self.writes == before:
                return
        raise AssertionError("the steps go on writing for ever")

    def walk(self, csv: str) -> None:
        """Run every step once."""
        for step in STEPS:
            self.does(step, csv)

    def available(self, name: str = "operator", *, status: str = "True", message: str = "") -> None:
        """What the Deployment controller would say."""
        found = self.objects[DEPLOYMENT.ref(name, "ns")]
        state = {"type": "Available", "status": status, "message": message}
        seen = found["metadata"].get("generation", 1)
        self.put({**found, "status": {"observedGeneration": seen, "conditions": [state]}})

    def later(self, **delay: float) -> None:
        self.time += timedelta(**delay)


def is_behind(deployment: Manifest) -> bool:
    """Whether the Deployment controller has not seen its newest spec."""
    seen, newest = deployment.get("status", {}).get("observedGeneration"), deployment["metadata"].get("generation", 1)
    return bool(seen != newest)


def completed(definition: Manifest) -> Manifest:
    """The definition as an API server has it, with its names and its stored version."""
    name = definition["metadata"]["name"]
    whole = a_crd(name, *(one["name"] for one in definition["spec"]["versions"]), kind=name.partition("s.")[0].title())
    for full, given in zip(whole["spec"]["versions"], definition["spec"]["versions"], strict=True):
        full["served"] = given["served"]
    return {**definition, "spec": {**whole["spec"], **definition["spec"], "versions": whole["spec"]["versions"]}}


def a_job(name: str, csv: str) -> Job:
    return Job(f"cluster_service_version/{STEPS[name]}", csv_ref(csv))


def csv_ref(name: str) -> Ref:
    return CLUSTER_SERVICE_VERSION.ref(name, "ns")
