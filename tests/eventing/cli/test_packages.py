"""The table of what is installed."""

from __future__ import annotations

import pytest

from eventing.cli.packages import INSTALLED, columns_of


@pytest.mark.parametrize(
    ("installed", "has_column"),
    [
        pytest.param("a.v1", True, id="while another version is on its way"),
        pytest.param("a.v2", False, id="not when it is the one that is shown"),
        pytest.param("", False, id="not before there is one"),
    ],
)
def test_the_installed_version_has_a_column(installed: str, *, has_column: bool) -> None:
    found = columns_of([{"installed": installed, "version": "a.v2"}])
    assert ("installed" in found) == has_column
    assert [*filter(found.__contains__, INSTALLED)] == found
