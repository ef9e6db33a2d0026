"""What would help a request that no bundle meets: each constraint is left out once."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.extension.model import CatalogView, Installed
from shared.domain.extension.offer import offer_of
from shared.domain.extension.relaxed import relaxations
from shared.domain.extension.request import request_of
from tests.domain.extension.test_resolve import GEN

LABELS = {"olm.operatorframework.io/metadata.name": "g"}
CATALOG = CatalogView("g", labels=LABELS, offer=offer_of(GEN, "p", has_releases=True))
OTHER = {"matchLabels": {"team": "a"}}


@pytest.mark.parametrize(
    ("source", "installed", "want"),
    [
        pytest.param({"version": "9.x"}, "", {"version": "p.v3.0.0"}, id="the version"),
        pytest.param({"version": "9.x", "channels": ["none"]}, "", {}, id="no single one of two helps"),
        pytest.param({"channels": ["none"]}, "", {"channels": "p.v3.0.0"}, id="the channels"),
        pytest.param({"selector": OTHER}, "", {"selector": "p.v3.0.0"}, id="the selector"),
        pytest.param(
            {"version": "0.1.0"}, "1.0.2", {"version": "p.v2.0.0", "upgradeConstraintPolicy": "p.v0.1.0"},
            id="what leads there from the installed one",
        ),
        pytest.param(
            {"version": "9.x", "upgradeConstraintPolicy": "SelfCertified"}, "1.0.2", {"version": "p.v3.0.0"},
            id="whoever answers for it already",
        ),
    ],
)  # fmt: skip
def test_each_constraint_that_alone_is_in_the_way(source: dict[str, Any], installed: str, want: dict[str, str]) -> None:
    request = request_of({"packageName": "p", **source}, "x")
    had = Installed(f"p.v{installed}", installed) if installed else None
    found = relaxations(request, had, [CATALOG])
    assert {next(iter(one.patch)): one.bundle for one in found} == want
    assert all(one.what for one in found)
