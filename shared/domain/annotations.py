"""Finds annotations with our prefix that have no effect where they are, as misspelled ones."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from shared import names
from shared.api.views import Object


def without_effect(found: Object, where: str, known: Collection[str]) -> str:
    """A sentence for each annotation with our prefix that is not known `where` ("on a Node"); empty without any."""
    strays = sorted(one for one in found.annotations if one.startswith(names.PREFIX) and one not in known)
    return "; ".join(f"annotation {one} is not known {where} and has no effect{_near(one, known)}" for one in strays)


def _near(annotation: str, known: Collection[str]) -> str:
    near = get_close_matches(annotation.removeprefix(names.PREFIX), [one.removeprefix(names.PREFIX) for one in known])
    return f" (known is {names.PREFIX}{near[0]})" if near else ""
