"""Draws the routes as a Mermaid flowchart: which event runs which step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from eventing.events.job import Lane
from eventing.routes import ROUTES, Route
from shared.kinds import Kind

_ARROWS: Mapping[Lane, str] = {"direct": "-->", "bulk": "-.->", "long": "==>"}


def mermaid(routes: Iterable[Route] = ROUTES) -> str:
    """The Mermaid text: kinds and our own events on the left, steps (grouped by folder) on the right."""
    routes = tuple(routes)
    lines = ["flowchart LR"]
    sources = dict.fromkeys(_source(route) for route in routes)
    lines += [f"  {_id(source)}([{source}])" for source in sources]
    for group in dict.fromkeys(route.step.partition("/")[0] for route in routes):
        lines.append(f"  subgraph {group}")
        steps = dict.fromkeys(route.step for route in routes if route.step.startswith(f"{group}/"))
        lines += [f"    {_id(step)}[{step.partition('/')[2]}]" for step in steps]
        lines.append("  end")
    for route in routes:
        arrow = _ARROWS[route.lane]
        lines.append(f"  {_id(_source(route))} {arrow}|{_key(route)}| {_id(route.step)}")
    return "\n".join(dict.fromkeys(lines)) + "\n"


def _source(route: Route) -> str:
    return route.on.kind if isinstance(route.on, Kind) else route.on


def _key(route: Route) -> str:
    return {"itself": "itself", "its_namespace": "namespace"}.get(route.key.__name__, "owner")


def _id(text: str) -> str:
    return text.replace("/", "_").replace(".", "_").replace("-", "_")
