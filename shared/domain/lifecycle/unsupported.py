"""The parts of a ClusterServiceVersion that this project does not install yet."""

from __future__ import annotations

from shared.api.manifest import ReadOnly


def unsupported(csv: ReadOnly) -> str:
    """The unsupported parts of the version (webhooks, APIServices); empty when all of it is supported."""
    spec = csv.get("spec") or {}
    if webhooks := [str(item.get("generateName")) for item in spec.get("webhookdefinitions") or ()]:
        return f"webhooks are not supported yet: {', '.join(webhooks)}"
    services = (spec.get("apiservicedefinitions") or {}).get("owned") or ()
    listed = ", ".join(f"{item.get('version')}.{item.get('group')}" for item in services)
    return f"aggregated APIs are not supported yet: {listed}" if listed else ""
