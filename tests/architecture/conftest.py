"""What the tests of the tree share."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.architecture.parsed import nodes, syntax


@pytest.fixture(autouse=True, scope="package")
def _without_search_for_garbage() -> Iterator[None]:
    """A million nodes of syntax stay, and hold no circles: to search them again and again takes most of the time."""
    gc.disable()
    yield
    syntax.cache_clear()
    nodes.cache_clear()
    gc.enable()
