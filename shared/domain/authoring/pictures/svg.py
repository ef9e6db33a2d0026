"""The update graph as SVG: a row of boxes for each channel, oldest first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from shared.domain.authoring.pictures.drawing import Drawing, DrawnChannel, Link, Node

_LETTER: Final = 7.2
_BOX_HEIGHT: Final = 26
_GAP: Final = 46
_MARGIN: Final = 16
_HEADING: Final = 24
_ARC_STEP: Final = 16
"""How much higher an arc bends for each box that it passes over."""
_HIGHEST_ARC: Final = 140
_DASHES: Final = {"replace": "", "skip": ' stroke-dasharray="6 3"', "skipRange": ' stroke-dasharray="2 3"'}
_ENTITIES: Final = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"))
_STYLE: Final = "text{font:12px monospace}path{fill:none;stroke:#555}rect{fill:#eef;stroke:#335}"


def svg(drawing: Drawing) -> str:
    """The whole picture."""
    body: list[str] = []
    top, width = _MARGIN, 2 * _MARGIN
    for package in drawing.packages:
        for channel in package.channels:
            row = _Row(channel, top, f"{package.name} / {channel.name}")
            body += row.lines()
            top, width = row.bottom, max(width, row.width)
    heading = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}">'
    arrow = '<marker id="to" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
    defs = f'<defs>{arrow}<path d="M0,0 L8,4 L0,8" style="fill:#555"/></marker></defs>'
    return "\n".join([heading, f"<style>{_STYLE}</style>", defs, *body, "</svg>"]) + "\n"


class _Row:
    """One channel: names below it that no bundle has, then its entries in rising order."""

    def __init__(self, channel: DrawnChannel, top: int, title: str) -> None:
        self._nodes = channel.nodes[::-1]
        self._title = title + (" (deprecated)" if channel.is_deprecated else "")
        known = {node.name for node in self._nodes}
        sources = {link.source for node in self._nodes for link in node.links}
        names = [*sorted(sources - known), *(node.name for node in self._nodes)]
        self._index = {name: index for index, name in enumerate(names)}
        self._left: dict[str, int] = {}
        left = _MARGIN
        for name in names:
            self._left[name] = left
            left += _box_width(name) + _GAP
        self.width = max(left, round(len(self._title) * _LETTER) + 2 * _MARGIN)
        spans = [abs(self._index[node.name] - self._index[link.source]) for node in self._nodes for link in node.links]
        self._top = top
        self._line = top + _HEADING + min(_HIGHEST_ARC, _ARC_STEP * max(spans, default=0))
        self.bottom = self._line + _BOX_HEIGHT + 2 * _MARGIN

    def lines(self) -> Iterator[str]:
        """The elements of the picture."""
        yield f'<text x="{_MARGIN}" y="{self._top + 14}" font-weight="bold">{_escaped(self._title)}</text>'
        for node in self._nodes:
            yield from (self._arc(link, node.name) for link in node.links)
        marks = {node.name: node for node in self._nodes}
        for name in self._left:
            yield self._box(name, marks.get(name))

    def _box(self, name: str, node: Node | None) -> str:
        style = ' stroke-dasharray="3 3" style="fill:none"' if node is None else ""
        if node is not None and (node.is_deprecated or node.is_skipped):
            fill = "#E8960F" if node.is_deprecated else "#eef"
            style = f' style="fill:{fill};stroke:{"#F00" if node.is_skipped else "#335"}"'
        left, text = self._left[name], _escaped(name)
        place = f'x="{left}" y="{self._line}" width="{_box_width(name)}" height="{_BOX_HEIGHT}"'
        return f'<rect {place} rx="4"{style}/><text x="{left + 8}" y="{self._line + 17}">{text}</text>'

    def _arc(self, link: Link, name: str) -> str:
        start, end = self._middle(link.source), self._middle(name)
        height = min(_HIGHEST_ARC, _ARC_STEP * abs(self._index[name] - self._index[link.source]))
        color = ' style="stroke:#F00"' if link.is_skipped else ""
        bend = f"M{start},{self._line} Q{(start + end) // 2},{self._line - 2 * height} {end},{self._line}"
        style = f'marker-end="url(#to)"{_DASHES[link.kind]}{color}'
        return f'<path d="{bend}" {style}><title>{_escaped(link.label)}</title></path>'

    def _middle(self, name: str) -> int:
        return self._left[name] + _box_width(name) // 2


def _escaped(text: str) -> str:
    """A text that may stand between elements, and between quotes."""
    for character, entity in _ENTITIES:
        text = text.replace(character, entity)
    return text


def _box_width(name: str) -> int:
    return round(len(name) * _LETTER) + _MARGIN
