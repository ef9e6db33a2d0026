"""An installation that offers all real packages, on each target."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.targets import REAL, SANDBOX, running
from tests.kit.installation import Installation
from tests.kit.real_bundles import extracted


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real bundles."""
    return extracted(tmp_path_factory.mktemp("real-bundles"))


@pytest.fixture(scope="module", params=[SANDBOX, REAL])
def installation(
    request: pytest.FixtureRequest, bundles: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    """One installation that offers all packages."""
    folder = tmp_path_factory.mktemp(request.param)
    with running(request.param, folder, "--bundles", str(bundles)) as found:
        yield found
