"""Worlds with which several tests begin: each is built once in a process, and copied for whoever asks for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from tests.kit.world import World

P = ParamSpec("P")
W = TypeVar("W", bound=World)


def kept(build: Callable[P, W]) -> Callable[P, W]:
    """What a function builds, which for the same arguments it does once."""
    built: dict[str, W] = {}

    @wraps(build)
    def a_copy(*given: P.args, **named: P.kwargs) -> W:
        told = repr((given, sorted(named.items())))
        assert " at 0x" not in told, f"these arguments do not say what they are: {told}"
        if told not in built:
            built[told] = build(*given, **named)
        return built[told].copy()

    return a_copy
