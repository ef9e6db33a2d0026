"""The APIs that a version really provides: of definitions that an InstallPlan installed for it, as they are served now.

A version may claim any API. Only an InstallPlan writes the annotation of a CustomResourceDefinition that names the
version, and nobody who is confined to namespaces can: so it decides, with what the definition itself says. Where the
administrator trusts whoever writes versions (`OLMF_GRANT_CLAIMED_APIS`), the claim decides, as in OLM.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from shared.api.views import ApiEntry, ApiService, Csv, CustomResourceDefinition
from shared.domain.objects.ownership import is_labelled_for
from shared.domain.operator_groups.group import Api
from shared.kinds import API_SERVICE, CUSTOM_RESOURCE_DEFINITION, Kind, Ref

BUILT_IN: Final = frozenset({
    "", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps",
    "authentication.k8s.io", "authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io",
    "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "extensions", "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy", "rbac.authorization.k8s.io",
    "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
})  # fmt: skip
"""API groups of the API server itself: a definition in one of them can share its name with a built-in resource."""


def reserved(services: Iterable[ApiService]) -> frozenset[str]:
    """API groups that not only definitions serve: the API server itself does, or a server behind it (as in OpenShift).

    A role names the group and the resource, not who serves it: rights on a definition in such a group would be rights
    on a resource of the same name.
    """
    return BUILT_IN | {one.group for one in services if not one.is_of_definitions}


@dataclass(frozen=True, slots=True)
class Provision:
    """One served version of an API, and the version of the operator that it was installed for."""

    api: Api
    plural: str
    provider: str
    """`<namespace>/<name>` of the ClusterServiceVersion."""
    kind: Kind
    """Of the object that serves it: a CustomResourceDefinition or an APIService."""
    name: str
    """Of that object."""
    uid: str
    """Of that object."""

    @property
    def stem(self) -> str:
        """What the names of its roles begin with."""
        return f"{self.plural}.{self.api.group}-{self.api.version}-"


def provider_of(csv: Csv) -> str:
    """The text that names a version in annotations of cluster-scoped objects."""
    return f"{csv.namespace}/{csv.name}"


def claims(csv: Csv) -> dict[Ref, tuple[ApiEntry, ...]]:
    """The definitions that a version says it owns, with what it says of each."""
    return _by_ref((CUSTOM_RESOURCE_DEFINITION.ref_or_none(entry.name), entry) for entry in csv.owned_definitions)


def aggregated(csv: Csv) -> dict[Ref, tuple[ApiEntry, ...]]:
    """The APIServices that a version says it owns, with what it says of each."""
    return _by_ref((API_SERVICE.ref_or_none(entry.service), entry) for entry in csv.owned_services)


def _by_ref(entries: Iterable[tuple[Ref | None, ApiEntry]]) -> dict[Ref, tuple[ApiEntry, ...]]:
    found: dict[Ref, tuple[ApiEntry, ...]] = {}
    for ref, entry in entries:
        if ref:
            found[ref] = (*found.get(ref, ()), entry)
    return found


def claimed_stems(csv: Csv) -> frozenset[str]:
    """What the names of the roles begin with that a version may have."""
    definitions = (f"{entry.name}-{entry.version}-" for entry in csv.owned_definitions)
    return frozenset((*definitions, *(f"{one.name}.{one.group}-{one.version}-" for one in csv.owned_services)))


def provisions(
    csv: Csv,
    definitions: Mapping[Ref, CustomResourceDefinition | None],
    services: Iterable[ApiService],
    *,
    trusts_claims: bool = False,
) -> Iterator[Provision]:
    """The APIs that a version provides; `definitions` are those that it claims, `services` those of the cluster.

    One that `trusts_claims` asks nobody for whom a definition was made, and counts aggregated APIs.
    """
    known = {Ref.of(service): service for service in services}
    foreign = reserved(known.values())
    for ref, entries in claims(csv).items():
        definition = definitions.get(ref)
        if definition is None or Ref.read(definition) != ref or definition.group in foreign:
            continue
        if trusts_claims or provider_of(csv) in definition.installers:
            yield from _defined(csv, definition, entries)
    for ref, entries in aggregated(csv).items() if trusts_claims else ():
        if service := known.get(ref):
            yield from _aggregated(csv, service, entries)


def _defined(csv: Csv, definition: CustomResourceDefinition, entries: Iterable[ApiEntry]) -> Iterator[Provision]:
    kind, name, uid = CUSTOM_RESOURCE_DEFINITION, definition.name, definition.uid
    if not definition.is_established or definition.is_deleted:
        return
    for version in dict.fromkeys(entry.version for entry in entries):
        if version in definition.served:
            api = Api(definition.group, version, definition.resource_kind)
            yield Provision(api, definition.resource, provider_of(csv), kind, name, uid)


def _aggregated(csv: Csv, service: ApiService, entries: Iterable[ApiEntry]) -> Iterator[Provision]:
    if not is_labelled_for(service, csv) or service.is_deleted or service.group in BUILT_IN:
        return
    for entry in entries:
        # why: nobody but the server knows its resources; "*" and sub-resources are no names
        if CUSTOM_RESOURCE_DEFINITION.ref_or_none(f"{entry.name}.{entry.group}"):
            api = Api(entry.group, entry.version, entry.kind)
            yield Provision(api, entry.name, provider_of(csv), API_SERVICE, service.name, service.uid)
