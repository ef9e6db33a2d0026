"""The content codings in which answers are sent, and which of them a client takes (RFC 9110 §12.5.3)."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd  # the same library for an older Python

Pack: TypeAlias = Callable[[Iterable[memoryview]], Iterator[bytes]]
_GZIP: Final = 16 + zlib.MAX_WBITS


def _gzip(chunks: Iterable[memoryview]) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=_GZIP)
    yield from filter(None, map(packer.compress, chunks))
    yield packer.flush()


def _zstd(chunks: Iterable[memoryview]) -> Iterator[bytes]:
    packer = zstd.ZstdCompressor()
    yield from filter(None, map(packer.compress, chunks))
    yield packer.flush()


CODINGS: Final[Mapping[str, Pack]] = {"zstd": _zstd, "gzip": _gzip}
"""What packs pieces, by coding; the first one that a client takes is used."""


def chosen(accepted: str) -> str:
    """The coding for a client whose Accept-Encoding is `accepted`; empty: none."""
    weights = dict(_weights(accepted))
    anything = weights.get("*", 0.0)
    return max(CODINGS, key=lambda coding: weights.get(coding, anything)) if _takes_any(weights, anything) else ""


def _takes_any(weights: Mapping[str, float], anything: float) -> bool:
    return any(weights.get(coding, anything) > 0 for coding in CODINGS)


def _weights(accepted: str) -> Iterator[tuple[str, float]]:
    for one in accepted.lower().split(","):
        coding, _, parameter = one.partition(";")
        name, _, value = parameter.strip().partition("=")
        try:
            weight = float(value) if name == "q" else 1.0
        except ValueError:
            weight = 0.0
        yield coding.strip(), weight
