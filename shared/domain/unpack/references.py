"""The manifest of a step as a reference to the ConfigMap that contains its bundle (catalog.md §4.6)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from shared.api import fields
from shared.api.views import ConfigMap, InstallPlan
from shared.domain.resolver.identity import CatalogKey
from shared.domain.unpack.content import digest_in


@dataclass(frozen=True, slots=True)
class Reference:
    """The ConfigMap that contains the manifest of a step, and the catalog's properties of the bundle."""

    name: str
    """The name of the ConfigMap."""
    namespace: str
    catalog: CatalogKey
    replaces: str = ""
    properties: str = ""
    """The text of the annotation `operatorframework.io/properties`."""
    digest: str = ""
    """The digest of the content of the bundle (`record.of_bundle`); OLM's references have none."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that the properties name; empty when they name none, or are not valid."""
        try:
            declared = json.loads(self.properties)
        except (ValueError, RecursionError):
            return ()
        found = fields.parts(declared, "properties") if isinstance(declared, dict) else ()
        named = (fields.text(one, "value", "packageName") for one in found if fields.text(one, "type") == "olm.package")
        return tuple(filter(None, named))

    def __str__(self) -> str:
        fields = {
            "kind": "ConfigMap",
            "name": self.name,
            "namespace": self.namespace,
            "catalogSourceName": self.catalog.name,
            "catalogSourceNamespace": self.catalog.namespace,
            "replaces": self.replaces,
            "properties": self.properties,
            "digest": self.digest,
        }
        return json.dumps({key: value for key, value in fields.items() if value}, separators=(",", ":"))


def parse(manifest: str) -> Reference | None:
    """The reference in the manifest of a step; None when the manifest is the object itself."""
    try:
        parsed = json.loads(manifest)
    except (ValueError, RecursionError):
        return None
    match parsed:
        case {
            "kind": "ConfigMap",
            "name": str(name),
            "namespace": str(namespace),
            "catalogSourceName": str(catalog),
            "catalogSourceNamespace": str(catalog_namespace),
        } if name and namespace and catalog and catalog_namespace:
            key = CatalogKey(catalog_namespace, catalog)
            replaces, properties = fields.text(parsed, "replaces"), fields.text(parsed, "properties")
            return Reference(name, namespace, key, replaces, properties, fields.text(parsed, "digest"))
    return None


def is_altered(plan: InstallPlan, config_map: ConfigMap) -> bool:
    """Whether the ConfigMap contains another bundle than the one for which the plan was made."""
    found = (parse(step.manifest) for step in plan.steps)
    planned = {one.digest for one in found if one is not None and one.name == config_map.name}
    return config_map.is_filled and bool(planned) and digest_in(config_map) not in planned
