"""The APIs that a version really provides: of definitions that an InstallPlan installed for it, as they are served now.

A version may claim any API. Only an InstallPlan writes the annotation of a CustomResourceDefinition that names the
version, and nobody who is confined to namespaces can: so it decides, with what the definition itself says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from shared.api.views import ApiService, Csv, CustomResourceDefinition
from shared.domain.operator_groups.group import Api
from shared.kinds import CUSTOM_RESOURCE_DEFINITION, Ref

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
    """One served version of a definition, and the version of the operator that it was installed for."""

    api: Api
    plural: str
    uid: str
    """Of the definition."""
    provider: str
    """`<namespace>/<name>` of the ClusterServiceVersion."""

    @property
    def definition(self) -> str:
        """The name of the definition."""
        return f"{self.plural}.{self.api.group}"


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


def provisions(
    csv: Csv, definitions: Mapping[Ref, CustomResourceDefinition | None], foreign: Collection[str]
) -> Iterator[Provision]:
    """The APIs that a version provides; `definitions` are those that it claims, `foreign` the groups of others."""
    provider = provider_of(csv)
    for ref, versions in claims(csv).items():
        definition = definitions.get(ref)
        if definition is None or Ref.read(definition) != ref or not _is_installed_for(provider, definition):
            continue
        for version in dict.fromkeys(versions):
            if version in definition.served and definition.group not in foreign:
                api = Api(definition.group, version, definition.resource_kind)
                yield Provision(api, definition.resource, definition.uid, provider)


def _is_installed_for(provider: str, definition: CustomResourceDefinition) -> bool:
    return provider in definition.installers and definition.is_established and not definition.is_deleted
