"""The APIs that a version really provides: of definitions that an InstallPlan installed for it, as they are served now.

A version may claim any API. Only an InstallPlan writes the annotation of a CustomResourceDefinition that names the
version, and nobody who is confined to namespaces can: so it decides, with what the definition itself says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from shared.api.manifest import ReadOnly, annotations_of, is_deleted, labels_of, name_of, namespace_of, uid_of
from shared.domain.operator_groups.group import Api
from shared.kinds import CUSTOM_RESOURCE_DEFINITION, Ref
from shared.names import AUTOMANAGED, INSTALLED_ALONGSIDE_PREFIX

_OWN: Final = "onstart"
"""What the API server calls its own; those of definitions are called `true`."""
BUILT_IN: Final = frozenset({
    "", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps",
    "authentication.k8s.io", "authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io",
    "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "extensions", "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy", "rbac.authorization.k8s.io",
    "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
})  # fmt: skip
"""API groups of the API server itself: a definition in one of them can share its name with a built-in resource."""


def reserved(services: Iterable[ReadOnly]) -> frozenset[str]:
    """API groups that not only definitions serve: the API server itself does, or a server behind it (as in OpenShift).

    A role names the group and the resource, not who serves it: rights on a definition in such a group would be rights
    on a resource of the same name.
    """
    specs = ((one.get("spec") or {}, labels_of(one).get(AUTOMANAGED)) for one in services)
    return BUILT_IN | {
        str(spec.get("group") or "") for spec, managed in specs if spec.get("service") or managed == _OWN
    }


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


def provider_of(csv: ReadOnly) -> str:
    """The text that names a version in annotations of cluster-scoped objects."""
    return f"{namespace_of(csv)}/{name_of(csv)}"


def claims(csv: ReadOnly) -> dict[Ref, tuple[str, ...]]:
    """The definitions that a version says it owns, with the versions of them that it names."""
    found: dict[Ref, tuple[str, ...]] = {}
    for entry in ((csv.get("spec") or {}).get("customresourcedefinitions") or {}).get("owned") or ():
        if ref := CUSTOM_RESOURCE_DEFINITION.ref_or_none(entry.get("name")):
            found[ref] = (*found.get(ref, ()), str(entry.get("version") or ""))
    return found


def provisions(
    csv: ReadOnly, definitions: Mapping[Ref, ReadOnly | None], foreign: Collection[str]
) -> Iterator[Provision]:
    """The APIs that a version provides; `definitions` are those that it claims, `foreign` the groups of others."""
    provider = provider_of(csv)
    for ref, versions in claims(csv).items():
        definition = definitions.get(ref)
        if definition is None or Ref.read(definition) != ref or not _is_installed_for(provider, definition):
            continue
        spec = definition["spec"]
        served = {str(one.get("name")) for one in spec.get("versions") or () if one.get("served")}
        for version in dict.fromkeys(versions):
            if version in served and spec["group"] not in foreign:
                api = Api(str(spec["group"]), version, str(spec["names"]["kind"]))
                yield Provision(api, str(spec["names"]["plural"]), uid_of(definition), provider)


def _is_installed_for(provider: str, definition: ReadOnly) -> bool:
    conditions = (definition.get("status") or {}).get("conditions") or ()
    true = {one.get("type") for one in conditions if one.get("status") == "True"}
    marks = {text for key, text in annotations_of(definition).items() if key.startswith(INSTALLED_ALONGSIDE_PREFIX)}
    return provider in marks and {"Established", "NamesAccepted"} <= true and not is_deleted(definition)
