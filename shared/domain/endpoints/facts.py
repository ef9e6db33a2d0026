"""What was read about the endpoints of one version, and what has to be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from shared import kinds
from shared.api.manifest import ReadOnly
from shared.api.views import ApiService, Csv, CustomResourceDefinition, Object, OperatorGroup, WebhookConfiguration
from shared.domain.endpoints import sharing
from shared.domain.endpoints.certificates import StoredPair
from shared.domain.endpoints.conversion import conversions
from shared.domain.endpoints.endpoint import Endpoint, endpoints_of, given_up
from shared.domain.endpoints.owning import Objects, is_named, other_owner
from shared.domain.endpoints.webhooks import Resource
from shared.kinds import Kind, Ref

_View = TypeVar("_View", bound=Object)


@dataclass(frozen=True, slots=True)
class Facts:
    """What was read about the endpoints of one version."""

    pairs: Mapping[str, StoredPair | None] = field(default_factory=dict)
    """By Deployment."""
    objects: Objects = field(default_factory=dict)
    """The objects of `wanted_objects`, and the other versions that are named in definitions."""
    configurations: tuple[WebhookConfiguration, ...] = ()
    """Those with the owner labels of the version."""
    services: tuple[ApiService, ...] = ()
    """APIServices with the owner labels of the version."""
    group: OperatorGroup | None = None
    """The only group of the namespace."""
    namespace_csvs: tuple[Csv, ...] = ()
    """The versions of the namespace."""
    annotations: ReadOnly = field(default_factory=dict)
    """Of the Subscription's configuration."""

    def find(self, kind: Kind, view: type[_View], name: str, namespace: str = "") -> _View | None:
        """An object that was read."""
        return view.of(kind.look_up(self.objects.get, name, namespace))

    def api_service(self, name: str) -> ApiService | None:
        """An APIService that was read."""
        return self.find(kinds.API_SERVICE, ApiService, name)

    def definition(self, name: str) -> CustomResourceDefinition | None:
        """A definition that was read."""
        return self.find(kinds.CUSTOM_RESOURCE_DEFINITION, CustomResourceDefinition, name)

    def own_resources(self, csv: Csv) -> frozenset[Resource]:
        """The cluster-scoped resources that are the version's own."""
        found = filter(None, (self.definition(entry.name) for entry in csv.owned_definitions))
        return frozenset(
            (one.group, one.resource)
            for one in found
            if one.is_cluster_scoped and is_named(csv, one) and not other_owner(csv, one, self.objects)
        )


def required_objects(csv: Csv) -> Iterator[Ref]:
    """The refs of the objects to read; none for a text that is no name."""
    found: list[Ref | None] = []
    for endpoint in endpoints_of(csv):
        found += _around(endpoint)
    for endpoint in given_up(csv):
        found += sharing.bindings(endpoint.service)
    found += [kinds.API_SERVICE.ref_or_none(api.service) for api in csv.owned_services]
    named = [*(name for _, name in conversions(csv)), *(entry.name for entry in csv.owned_definitions)]
    found += [kinds.CUSTOM_RESOURCE_DEFINITION.ref_or_none(name) for name in dict.fromkeys(named)]
    yield from filter(None, found)


def _around(endpoint: Endpoint) -> tuple[Ref | None, ...]:
    place = endpoint.namespace
    return (
        kinds.SERVICE.ref_or_none(endpoint.service, place),
        kinds.ROLE.ref_or_none(endpoint.secret, place),
        kinds.ROLE_BINDING.ref_or_none(endpoint.secret, place),
        *sharing.bindings(endpoint.service),
    )


def named_versions(facts: Facts, csv: Csv) -> Iterator[Ref]:
    """The other versions that definitions name: whether they still live decides who owns those."""
    for entry in csv.owned_definitions:
        definition = facts.definition(entry.name)
        for provider in definition.installers if definition else ():
            namespace, _, name = provider.partition("/")
            ref = kinds.CLUSTER_SERVICE_VERSION.ref_or_none(name, namespace)
            if ref and ref != Ref.of(csv):
                yield ref
