"""What an extension says about deprecations (v1.md §11.3)."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.conditions import Condition
from shared.domain.extension.deprecation import conditions

Row = tuple[str, str, str]
UNKNOWN = ("Unknown", "DeprecationStatusUnknown", "deprecation status unknown: catalog data unavailable")
ABSENT = ("Unknown", "Absent", "no bundle installed yet")
PACKAGE = {"reference": {"schema": "olm.package"}, "message": "no package"}
STABLE = {"reference": {"schema": "olm.channel", "name": "stable"}, "message": "no stable"}
BETA = {"reference": {"schema": "olm.channel", "name": "beta"}, "message": "no beta"}
BUNDLE = {"reference": {"schema": "olm.bundle", "name": "p.v1"}, "message": "no v1"}
SILENT = {"reference": {"schema": "olm.bundle", "name": "p.v1"}, "message": ""}


def blob(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"schema": "olm.deprecations", "package": "p", "entries": list(entries)}


def yes(*messages: str) -> Row:
    return "True", "Deprecated", "\n".join(messages)


def no(what: str = "") -> Row:
    return "False", "NotDeprecated", f"{what} not deprecated".strip()


CLEAN = (no(), no("package"), no("channel"), no("bundle"))


@pytest.mark.parametrize(
    ("channels", "installed", "entries", "want"),
    [
        pytest.param([], "", (), (no(), no("package"), no("channel"), ABSENT), id="v1.md 11.3 (4): nothing is said"),
        pytest.param(
            [], "", (STABLE,), (yes("no stable"), no("package"), yes("no stable"), ABSENT),
            id="v1.md 11.3 (5): no channels in the spec mean all of them",
        ),
        pytest.param(
            ["beta"], "", (STABLE,), (no(), no("package"), no("channel"), ABSENT),
            id="v1.md 11.3 (6): a deprecated channel that is not listed",
        ),
        pytest.param(
            ["stable"], "", (STABLE,), (yes("no stable"), no("package"), yes("no stable"), ABSENT),
            id="v1.md 11.3 (7): a deprecated channel that is listed",
        ),
        pytest.param(
            ["stable"], "p.v1", (BUNDLE, STABLE, PACKAGE),
            (yes("no package", "no stable", "no v1"), yes("no package"), yes("no stable"), yes("no v1")),
            id="v1.md 11.3 (8): package, channel and bundle, told in this order",
        ),
        pytest.param(
            ["stable"], "p.v1", (BUNDLE, STABLE),
            (yes("no stable", "no v1"), no("package"), yes("no stable"), yes("no v1")),
            id="v1.md 11.3 (9): channel and bundle only",
        ),
        pytest.param(
            ["stable"], "", (BUNDLE, STABLE, PACKAGE),
            (yes("no package", "no stable"), yes("no package"), yes("no stable"), ABSENT),
            id="v1.md 11.3 (10): nothing installed",
        ),
        pytest.param(
            ["stable", "beta"], "p.v1", (STABLE, BETA),
            (yes("no stable", "no beta"), no("package"), yes("no stable", "no beta"), no("bundle")),
            id="v1.md 11.3 (11): several channels",
        ),
        pytest.param([], "p.v2", (BUNDLE,), CLEAN, id="v1.md 11.3 (13), (14): the bundle that is installed counts"),
        pytest.param([], "p.v1", (SILENT,), CLEAN, id="v1.md 11.3: an entry with an empty message says nothing"),
        pytest.param(
            [], "", (PACKAGE,), (yes("no package"), yes("no package"), no("channel"), ABSENT),
            id="v1.md 11.3 (15): there is catalog data although the resolution failed",
        ),
    ],
)  # fmt: skip
def test_what_catalog_data_says(
    channels: list[str], installed: str, entries: tuple[dict[str, Any], ...], want: tuple[Row, ...]
) -> None:
    found = conditions(channels, installed, blob(*entries), has_catalog_data=True)
    assert found == all_conditions(*want)
    assert conditions(channels, installed, blob(*entries), has_catalog_data=True) == found  # (12)


def test_a_catalog_without_deprecations_deprecates_nothing() -> None:
    assert conditions([], "p.v1", None, has_catalog_data=True) == all_conditions(*CLEAN)


@pytest.mark.parametrize(
    ("installed", "bundle"),
    [
        pytest.param("", ABSENT, id="v1.md 11.3 (1), (16): nothing installed"),
        pytest.param("p.v1", UNKNOWN, id="v1.md 11.3 (2): something installed"),
    ],
)
def test_without_catalog_data_nobody_knows(installed: str, bundle: Row) -> None:
    """v1.md 11.3 (3): entries do not count then."""
    found = conditions(["stable"], installed, blob(PACKAGE, STABLE, BUNDLE), has_catalog_data=False)
    assert found == all_conditions(UNKNOWN, UNKNOWN, UNKNOWN, bundle)


def all_conditions(*rows: Row) -> tuple[Condition, ...]:
    kinds = ("Deprecated", "PackageDeprecated", "ChannelDeprecated", "BundleDeprecated")
    return tuple(Condition(kind, *row) for kind, row in zip(kinds, rows, strict=True))
