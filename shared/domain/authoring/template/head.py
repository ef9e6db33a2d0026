"""The `olm.package` of a generated catalog, described by the head of its default channel (fbc.md §12.3, 7)."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from shared.domain.catalog.config import Blob
from shared.domain.go.text import from_base64


def package_of(name: str, default_channel: str, csv: Mapping[str, Any] | None) -> Blob:
    """The `olm.package`, with the description and the first icon of a ClusterServiceVersion, if it has them."""
    spec = csv.get("spec") if csv is not None else None
    fields = spec if isinstance(spec, Mapping) else {}
    icon, description = _icon(fields.get("icon")), fields.get("description")
    return {
        "schema": "olm.package",
        "name": name,
        "defaultChannel": default_channel,
        **({"icon": icon} if icon else {}),
        **({"description": description} if description and isinstance(description, str) else {}),
    }


def _icon(icons: Any) -> Blob | None:  # why: any JSON value
    first = icons[0] if isinstance(icons, list) and icons else None
    if not isinstance(first, Mapping) or not isinstance(data := first.get("base64data") or "", str):
        return None
    try:
        content = from_base64(data)
    except ValueError:
        return None
    return {"base64data": base64.b64encode(content).decode(), "mediatype": first.get("mediatype") or ""}
