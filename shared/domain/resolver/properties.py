"""Properties as OLM writes them on a ClusterServiceVersion."""

from __future__ import annotations

import json

from shared.domain.catalog.model import Bundle, Property


def annotation(bundle: Bundle, package: str) -> str:
    """The value of `operatorframework.io/properties` for a bundle: its properties, with its package added if absent."""
    properties = list(bundle.properties)
    if not any(one.type == "olm.package" for one in properties):
        properties.append(Property("olm.package", {"packageName": package, "version": bundle.version}))
    values = [{"type": one.type, "value": one.value} for one in properties]
    return json.dumps({"properties": values}, separators=(",", ":"), ensure_ascii=False)
