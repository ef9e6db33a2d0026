"""The update graph in the language of Mermaid, line by line as `opm` writes it (fbc.md §14)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

from shared.domain.authoring.pictures.drawing import Drawing, DrawnChannel, DrawnPackage, Node
from shared.domain.go.text import quoted

_HEADING: Final = (
    "graph LR",
    "  classDef deprecated fill:#E8960F",
    "  classDef skipped stroke:#FF0000,stroke-width:4px",
    "  classDef deprecatedskipped fill:#E8960F,stroke:#FF0000,stroke-width:4px",
)
_SKIPPED_LINKS: Final = "stroke:#FF0000,stroke-width:3px,stroke-dasharray:5;"


def mermaid(drawing: Drawing) -> str:
    """The whole picture."""
    packages = drawing.packages
    lines = [*_HEADING, *chain.from_iterable(map(_package, packages)), *_styles(packages), *_classes(packages)]
    links = (link for *_, node in _nodes(packages) for link in node.links)
    if skipped := [str(number) for number, link in enumerate(links) if link.is_skipped]:
        lines.append(f"linkStyle {','.join(skipped)} {_SKIPPED_LINKS}")
    return "\n".join(lines) + "\n"


def _package(package: DrawnPackage) -> Iterator[str]:
    yield f"  %% package {quoted(package.name)}"
    yield f"  subgraph {quoted(package.name)}"
    for channel in package.channels:
        channel_id = f"{package.name}-{channel.name}"
        yield f"    %% channel {quoted(channel.name)}"
        yield f"    subgraph {channel_id}[{quoted(channel.name)}]"
        for node in channel.nodes:
            here = _box(channel_id, node.name)
            yield f"      {here}"
            for link in node.links:
                label = f'"{link.label}"' if link.kind == "skipRange" else link.label
                yield f"      {_box(channel_id, link.source)}-- {label} --> {here}"
        yield "    end"
    yield "  end"


def _box(channel_id: str, name: str) -> str:
    return f"{channel_id}-{name}[{quoted(name)}]"


def _nodes(packages: list[DrawnPackage]) -> Iterator[tuple[DrawnPackage, DrawnChannel, Node]]:
    return ((package, channel, node) for package in packages for channel in package.channels for node in channel.nodes)


def _styles(packages: list[DrawnPackage]) -> Iterator[str]:
    for package in packages:
        if package.is_deprecated:
            yield f"style {package.name} fill:#989695"
    for package in packages:
        for channel in package.channels:
            if channel.is_deprecated:
                yield f"style {package.name}-{channel.name} fill:#DCD0FF"


def _classes(packages: list[DrawnPackage]) -> Iterator[str]:
    found: dict[str, list[str]] = {"deprecated": [], "deprecatedskipped": [], "skipped": []}
    for package, channel, node in _nodes(packages):
        kind = "deprecated" * node.is_deprecated + "skipped" * node.is_skipped
        if kind:
            found[kind].append(f"{package.name}-{channel.name}-{node.name}")
    for kind, places in found.items():
        if places:
            yield f"class {','.join(sorted(places))} {kind}"
