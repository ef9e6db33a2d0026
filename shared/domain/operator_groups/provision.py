"""The APIs that a version really provides: of definitions that an InstallPlan installed for it, as they are served now.

A version may claim any API. Only an InstallPlan writes the annotation of a CustomResourceDefinition that names the
version, and nobody who is confined to namespaces can: so it decides, with what the definition itself says. With
`OLMF_GRANT_CLAIMED_APIS` the annotation is not required, and aggregated APIs count, too, as in OLM.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from shared.api.views import ApiEntry, ApiService, Csv, CustomResourceDefinition
from shared.domain.objects.ownership import is_labelled_for
from shared.domain.operator_groups.group import Api
from shared.kinds import API_SERVICE, CLUSTER_EXTENSION, CLUSTER_SERVICE_VERSION, CUSTOM_RESOURCE_DEFINITION, Ref

BUILT_IN: Final = frozenset({
    "", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps",
    "authentication.k8s.io", "authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io",
    "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "extensions", "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy", "rbac.authorization.k8s.io",
    "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
})  # fmt: skip
"""API groups of the API server itself: a definition in one of them can share its name with a built-in resource."""
OURS: Final = frozenset({CLUSTER_SERVICE_VERSION.group, CLUSTER_EXTENSION.group})
"""API groups of OLM's own resources: rights on these are rights to have anything installed or approved."""


def reserved(services: Iterable[ApiService], csv: Csv | None = None) -> frozenset[str]:
    """API groups that not only definitions serve: the API server itself does, or a server behind it (as in OpenShift).

    A role names the group and the resource, not who serves it: rights on a definition in such a group would be rights
    on a resource of the same name. The servers of `csv` itself do not count.
    """
    others = (one for one in services if csv is None or not is_labelled_for(one, csv))
    return BUILT_IN | {one.group for one in others if not one.is_of_definitions}


@dataclass(frozen=True, slots=True)
class Provision:
    """One served version of an API, and the version of the operator that provides it."""

    api: Api
    plural: str
    provider: str
    """`<namespace>/<name>` of the ClusterServiceVersion."""
    served_by: Ref
    """The CustomResourceDefinition or APIService."""
    uid: str
    """Of that object."""

    @property
    def role_name_prefix(self) -> str:
        """`<plural>.<group>-<version>-`: the names of its roles begin with it."""
        return f"{self.plural}.{self.api.group}-{self.api.version}-"


def provider_of(csv: Csv) -> str:
    """The text that names a version in annotations of cluster-scoped objects."""
    return f"{csv.namespace}/{csv.name}"


def claims(csv: Csv) -> dict[Ref, tuple[str, ...]]:
    """The definitions that a version says it owns, with the versions of them that it names."""
    found: dict[Ref, tuple[str, ...]] = {}
    for entry in csv.owned_definitions:
        if ref := CUSTOM_RESOURCE_DEFINITION.ref_or_none(entry.name):
            found[ref] = (*found.get(ref, ()), entry.version)
    return found


def aggregated(csv: Csv) -> dict[Ref, ApiEntry]:
    """The APIServices that a version says it owns, with the last that it says of each (csv.md §2.1)."""
    named = ((API_SERVICE.ref_or_none(entry.service), entry) for entry in csv.owned_services)
    return {ref: entry for ref, entry in named if ref}


def role_name_prefixes(csv: Csv) -> tuple[str, ...]:
    """What the names of the roles begin with that a version may have."""
    definitions = (f"{ref.name}-{version}-" for ref, versions in claims(csv).items() for version in versions)
    services = (f"{entry.name}.{entry.group}-{entry.version}-" for entry in aggregated(csv).values())
    return (*definitions, *services)


def provisions(
    csv: Csv,
    definitions: Mapping[Ref, CustomResourceDefinition | None],
    services: Sequence[ApiService],
    *,
    trusts_claims: bool = False,
) -> Iterator[Provision]:
    """The APIs that a version provides; `definitions` are those that it claims, `services` those of the cluster.

    With `trusts_claims` the annotation of a definition is not required, and aggregated APIs count.
    """
    refused = reserved(services) | (OURS if trusts_claims else frozenset())
    for ref, versions in claims(csv).items():
        definition = definitions.get(ref)
        if definition is None or Ref.read(definition) != ref or definition.group in refused:
            continue
        if trusts_claims or provider_of(csv) in definition.installers:
            yield from _defined(csv, definition, versions)
    if trusts_claims:
        yield from _aggregated(csv, services)


def _defined(csv: Csv, definition: CustomResourceDefinition, versions: Iterable[str]) -> Iterator[Provision]:
    if not definition.is_established or definition.is_deleted:
        return
    for version in dict.fromkeys(versions):
        if version in definition.served:
            api = Api(definition.group, version, definition.resource_kind)
            yield Provision(api, definition.resource, provider_of(csv), Ref.of(definition), definition.uid)


def _aggregated(csv: Csv, services: Sequence[ApiService]) -> Iterator[Provision]:
    refused = reserved(services, csv) | OURS
    own = {Ref.of(one): one for one in services if is_labelled_for(one, csv) and not one.is_deleted}
    for ref, entry in aggregated(csv).items():
        service = own.get(ref)
        # why: `v1.x.apps` is the name for version `v1` of `x.apps` and for version `v1.x` of `apps`
        if service is None or service.api != (entry.group, entry.version) or entry.group in refused:
            continue
        # why: nobody but the server knows its resources; "*" and sub-resources are no names
        if CUSTOM_RESOURCE_DEFINITION.ref_or_none(f"{entry.name}.{entry.group}"):
            api = Api(entry.group, entry.version, entry.kind)
            yield Provision(api, entry.name, provider_of(csv), ref, service.uid)
