"""Every head version of 24 real packages ends Succeeded, or says what it waits for; the same on both targets."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from shared.kinds import CATALOG_SOURCE
from tests.conformance.packages.offers import PATIENCE_SECONDS, heads, prepare, subscribe_all
from tests.conformance.packages.results import EXPECTED, result
from tests.kit.installation import Installation
from tests.kit.real_bundles import needs_real_bundles

pytestmark = [pytest.mark.conformance, needs_real_bundles]


Ask = Callable[[str], str]


@pytest.fixture(scope="module")
def result_of(installation: Installation, bundles: Path) -> Ask:
    """All packages are subscribed at once, each in its own namespace; tells what came of one."""
    installation.until(CATALOG_SOURCE.ref("local", "olm"), lambda each: "READY" in str(each.get("status")), "READY")
    found = heads(installation.cluster, bundles)
    assert found.keys() == EXPECTED.keys(), "the catalog offers each package"
    for head in found.values():
        prepare(installation, head)
    subscribe_all(installation, found.values())
    deadline = time.monotonic() + PATIENCE_SECONDS

    def ask(package: str) -> str:
        output = ""
        while EXPECTED[package] not in output and time.monotonic() < deadline:
            output = result(installation, package, package, found[package].csv)
            time.sleep(0.1)
        return output

    return ask


@pytest.mark.parametrize("package", EXPECTED)
def test_a_head_version_succeeds_or_reports_what_it_waits_for(
    result_of: Ask, package: str, record_property: Callable[[str, object], None]
) -> None:
    output = result_of(package)
    record_property("result", output)
    assert EXPECTED[package] in output
