"""A valid `deploymentConfig` as Go's types hold it once it was decoded from JSON (v1.md §17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from shared.api.manifest import Manifest, ReadOnly
from shared.domain.go.text import fold
from shared.domain.go_types.decoding import check_object
from shared.domain.go_types.gotypes import converted
from shared.domain.go_types.typetables import structs

_CONFIG: Final = "SubscriptionConfig"
_MEANT: Final = ("nodeSelector",)


def deployment_config(stated: ReadOnly) -> Manifest:
    """The configuration with the fields that Go knows. MisfitError for what only Go refuses."""
    check_object(stated, _CONFIG)
    config = converted(_renamed(stated, _CONFIG), _CONFIG)
    # An empty selector takes the place of the one that is there; all other empty fields stand for nothing.
    return {**config, **{name: {} for name in _MEANT if stated.get(name) == {}}}


def _renamed(value: Any, kind: str) -> Any:  # why: any JSON value
    """With the names that Go gives the fields; to its decoder they are the same in upper and lower case."""
    kind = kind.removeprefix("*")
    if kind.startswith("[") and isinstance(value, list):
        return [_renamed(item, kind[1:-1]) for item in value]
    if kind not in structs() or not isinstance(value, Mapping):
        return value
    fields = {field.name: field for field in structs()[kind]}
    folded = {fold(name): name for name in fields}
    # The exact name comes last, and so counts most.
    keys = sorted(value, key=lambda key: (key in fields, key))
    known = {key: key if key in fields else folded.get(fold(key), "") for key in keys}
    return {name: _renamed(value[key], fields[name].type) for key, name in known.items() if name}
