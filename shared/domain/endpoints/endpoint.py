"""The Deployments of a version that serve for the API server, with what each of them serves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shared.api import fields
from shared.api.manifest import ReadOnly
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
        return account_of(fields.part(self.entry.spec, "template", "spec"))

    @property
    def ports(self) -> tuple[tuple[int, int | str], ...]:
        """Each port of the Service with the port of the Pods behind it, in the order of OLM; the same pair once.

        Of several kinds of one APIService the last one counts.
        """
        served = sorted({api.service: api.port for api in self.apis}.items())
        pairs = [*((port, port) for _, port in served), *((hook.port, hook.target) for hook in self.webhooks)]
        return tuple(dict.fromkeys(pairs))


def account_of(pod: ReadOnly) -> str:
    """The ServiceAccount of Pods that serve: `serviceAccount`, its former name, does not count, as in OLM."""
    return fields.text(pod, "serviceAccountName") or DEFAULT_ACCOUNT


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
