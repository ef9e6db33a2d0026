"""Coverage, under which a line takes three times as long, does not follow random input and long stories."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


def is_measured(test: pytest.Item) -> bool:
    """Whether what the test reaches counts; a property (of hypothesis) does not, unless it is marked `measured`."""
    if test.get_closest_marker("measured") is not None:
        return True
    is_property = getattr(getattr(test, "obj", None), "is_hypothesis_test", False)
    return not is_property and test.get_closest_marker("unmeasured") is None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """The tracer of coverage rests meanwhile."""
    tracer = sys.gettrace()
    if tracer is not None and not is_measured(item):
        sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)
