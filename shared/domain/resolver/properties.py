"""Properties as OLM writes them on a ClusterServiceVersion."""

from __future__ import annotations

import json

from shared.domain.catalog.model import Bundle, Property


def annotation(bundle: Bundle, package: str) -> str:
    """The value of `operatorframework.io/properties` for a bundle: its properties, with its package added if absent."""
    properties = list(bundle.properties)
    if not any(stated.type == "olm.package" for stated in properties):
        properties.append(Property("olm.package", {"packageName": package, "version": bundle.version}))
    stated = [{"type": one.type, "value": one.value} for one in properties]
    return json.dumps({"properties": stated}, separators=(",", ":"), ensure_ascii=False)
