"""The update graph in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

from shared.domain.authoring.pictures.drawing import Drawing, DrawnChannel, DrawnPackage, Link, Node

_STYLES: Final = {"replace": "solid", "skip": "dashed", "skipRange": "dotted"}

_MARK: Final = ' bgcolor="#DCD0FF";'
"""Of what is deprecated."""


def graphviz(drawing: Drawing) -> str:
    """The whole picture, as a digraph with a cluster for each channel."""
    lines = ["digraph catalog {", "  rankdir=LR;", "  node [shape=box, style=rounded];"]
    lines += chain.from_iterable(map(_package, drawing.packages))
    return "\n".join([*lines, "}"]) + "\n"


def _package(package: DrawnPackage) -> Iterator[str]:
    yield f"  subgraph {_quoted(f'cluster_{package.name}')} {{"
    yield f"    label={_quoted(package.name)};{_MARK * package.is_deprecated}"
    for channel in package.channels:
        yield from _channel(package.name, channel)
    yield "  }"


def _channel(package: str, channel: DrawnChannel) -> Iterator[str]:
    place = f"{package}-{channel.name}"
    yield f"    subgraph {_quoted(f'cluster_{place}')} {{"
    yield f"      label={_quoted(channel.name)};{_MARK * channel.is_deprecated}"
    names = {node.name for node in channel.nodes}
    for node in channel.nodes:
        yield f"      {_id(place, node.name)} [label={_quoted(node.name)}{_colors(node)}];"
    for name in sorted({link.source for node in channel.nodes for link in node.links} - names):
        yield f"      {_id(place, name)} [label={_quoted(name)}, style=dashed];"
    for node in channel.nodes:
        yield from (_link(place, link, node) for link in node.links)
    yield "    }"


def _link(place: str, link: Link, node: Node) -> str:
    color = ", color=red" if link.is_skipped else ""
    ends = f"{_id(place, link.source)} -> {_id(place, node.name)}"
    return f"      {ends} [label={_quoted(link.label)}, style={_STYLES[link.kind]}{color}];"


def _colors(node: Node) -> str:
    filled = ', style="rounded,filled", fillcolor="#E8960F"' if node.is_deprecated else ""
    return f"{filled}, color=red" if node.is_skipped else filled


def _id(place: str, name: str) -> str:
    return _quoted(f"{place}-{name}")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
