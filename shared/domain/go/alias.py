"""Detects YAML with excessive aliases, with the limits of Go's parser."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import yaml

_FEW: Final = 400_000
_MANY: Final = 4_000_000
_UNSUSPICIOUS_NODES: Final = 100
_UNSUSPICIOUS_ALIASED: Final = 1000
_SHARE_OF_FEW: Final = 0.99
_SHARE_OF_MANY: Final = 0.10


def is_excessive(events: Iterable[Any]) -> bool:  # why: events of a parser without types
    """Whether the share of nodes expanded from aliases is too large at any point of a document."""
    nodes = aliased = 0
    sizes: dict[str, int] = {}
    open_: list[tuple[str | None, int]] = []
    for event in events:
        match event:
            case yaml.AliasEvent():
                size = sizes.get(event.anchor or "", 0)
                nodes += 1 + size
                aliased += size
                if _is_suspicious(nodes, aliased):
                    return True
            case yaml.ScalarEvent():
                nodes += 1
                if event.anchor:
                    sizes[event.anchor] = 1
            case yaml.CollectionStartEvent():
                open_.append((event.anchor, nodes))
                nodes += 1
            case yaml.CollectionEndEvent():
                anchor, before = open_.pop()
                if anchor:
                    sizes[anchor] = nodes - before
            case yaml.DocumentEndEvent():
                break
    return False


def _is_suspicious(nodes: int, aliased: int) -> bool:
    if nodes <= _UNSUSPICIOUS_NODES or aliased <= _UNSUSPICIOUS_ALIASED:
        return False
    excess = min(max(nodes - _FEW, 0), _MANY - _FEW) / (_MANY - _FEW)
    return aliased / nodes > _SHARE_OF_FEW - (_SHARE_OF_FEW - _SHARE_OF_MANY) * excess
