"""What becomes of an extension whose resolution failed (v1.md §12.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from shared.domain.extension.fallback import Decision, Keep, Retry, decide, have_match
from shared.domain.extension.model import CatalogView, Installed, Request
from shared.domain.extension.selector import InvalidSelector

V1 = Installed("p.v1.0.0", "1.0.0")
MAIN = CatalogView("main", labels={"team": "a"})
OFF = CatalogView("off", labels={"team": "a"}, is_available=False)
TEAM_B = {"matchLabels": {"team": "b"}}
BAD: dict[str, Any] = {"matchExpressions": [{"key": "team", "operator": "bad"}]}


@pytest.mark.parametrize(
    ("request_", "installed", "catalogs", "want"),
    [
        pytest.param(
            Request("p"), None, [], Retry("failed to resolve bundle: oh"), id="v1.md 12.4 a: nothing installed"
        ),
        pytest.param(
            Request("p", "1.0.1"), V1, [], Retry("unable to upgrade to version 1.0.1: oh (currently installed: 1.0.0)"),
            id="v1.md 12.4 b: another version is asked for",
        ),
        pytest.param(
            Request("p", ">=1.0.0"), V1, [],
            Retry("unable to upgrade to version >=1.0.0: oh (currently installed: 1.0.0)"),
            id="v1.md 12.4 b: versions are compared as texts",
        ),
        pytest.param(
            Request("p"), V1, None, Retry("failed to resolve bundle: oh"), id="v1.md 12.4 c: catalogs cannot be listed"
        ),
        pytest.param(
            Request("p", selector=BAD), V1, [MAIN], Retry("failed to resolve bundle: oh"),
            id="v1.md 12.4 c: the selector is none",
        ),
        pytest.param(
            Request("p"), V1, [MAIN], Retry("failed to resolve bundle, retrying: oh"), id="v1.md 12.4 d: a catalog"
        ),
        pytest.param(
            Request("p", "1.0.0"), V1, [OFF], Retry("failed to resolve bundle, retrying: oh"),
            id="v1.md 12.4 d: a catalog that is not available",
        ),
        pytest.param(Request("p"), V1, [], Keep(V1), id="v1.md 12.4 e: the catalog is gone"),
        pytest.param(Request("p", "1.0.0"), V1, [], Keep(V1), id="v1.md 12.4 e: the installed version is pinned"),
        pytest.param(Request("p", selector=TEAM_B), V1, [MAIN], Keep(V1), id="v1.md 12.4 e: no catalog is selected"),
    ],
)  # fmt: skip
def test_the_decision(
    request_: Request, installed: Installed | None, catalogs: Sequence[CatalogView] | None, want: Decision
) -> None:
    assert decide("oh", request_, installed, catalogs) == want


@pytest.mark.parametrize("selector", [None, {}], ids=["none", "empty"])
def test_v1_md_12_4_without_a_selector_every_catalog_counts(selector: dict[str, Any] | None) -> None:
    assert not have_match(selector, [])
    assert have_match(selector, [MAIN])


def test_v1_md_12_4_a_selector_that_is_none_is_reported() -> None:
    with pytest.raises(InvalidSelector, match='invalid catalog selector: "bad" is not a'):
        have_match(BAD, [MAIN])
