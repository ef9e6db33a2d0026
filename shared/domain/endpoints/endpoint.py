"""The Deployments of a version that serve for the API server, with what each of them serves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shared.api import fields
from shared.api.views import ApiEntry, Csv, DeploymentEntry, Webhook
from shared.domain.endpoints import naming

DEFAULT_ACCOUNT = "default"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A Deployment that serves webhooks, aggregated APIs, or both."""

    namespace: str
    entry: DeploymentEntry
    webhooks: tuple[Webhook, ...]
    apis: tuple[ApiEntry, ...]

    @property
    def serves(self) -> bool:
        """Whether there is anything that the API server calls."""
        return bool(self.webhooks or self.apis)

    @property
    def deployment(self) -> str:
        """The name of the Deployment."""
        return self.entry.name

    @property
    def service(self) -> str:
        """The name of its Service."""
        return naming.service_name(self.deployment)

    @property
    def secret(self) -> str:
        """The name of the Secret with its certificate."""
        return naming.secret_name(self.deployment)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names in its certificate."""
        return naming.hosts(self.deployment, self.namespace)

    @property
    def account(self) -> str:
        """The ServiceAccount of its Pods."""
        pod = fields.part(self.entry.spec, "template", "spec")
        return fields.text(pod, "serviceAccountName") or fields.text(pod, "serviceAccount") or DEFAULT_ACCOUNT

    @property
    def ports(self) -> tuple[tuple[int, int | str], ...]:
        """Each port of the Service once, with the port of the Pods that is behind it; the first to name it decides."""
        pairs = [*((api.port, api.port) for api in self.apis), *((hook.port, hook.target) for hook in self.webhooks)]
        return tuple(sorted(dict(reversed(pairs)).items()))


def endpoints_of(csv: Csv) -> tuple[Endpoint, ...]:
    """In the order of the strategy; a description of a Deployment that is not in it serves nothing."""
    return tuple(one for one in _deployments(csv) if one.serves)


def given_up(csv: Csv) -> tuple[Endpoint, ...]:
    """The Deployments that serve nothing, and may have served before the version was edited."""
    return tuple(one for one in _deployments(csv) if not one.serves) if has_served(csv) else ()


def serves(csv: Csv) -> bool:
    """Whether anything of the version has to be served to the API server (csv.md §2.4)."""
    return bool(csv.webhooks or csv.owned_services)


def has_served(csv: Csv) -> bool:
    """Whether certificates were ever made for the version: what led to its Deployments may still be there."""
    return "certsRotateAt" in csv.status


def _deployments(csv: Csv) -> Iterator[Endpoint]:
    for entry in csv.install.deployments:
        hooks = tuple(hook for hook in csv.webhooks if hook.deployment == entry.name)
        apis = tuple(api for api in csv.owned_services if api.deployment == entry.name)
        yield Endpoint(csv.namespace, entry, hooks, apis)
