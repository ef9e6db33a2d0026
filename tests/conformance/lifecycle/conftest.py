"""One installation per target for all lifecycle tests: the sandbox, and a real control plane (`make conformance`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.installation import SAMPLES, Installation, installed

TARGETS = [pytest.param("sandbox"), pytest.param("real", marks=pytest.mark.conformance)]


@pytest.fixture(scope="session", params=TARGETS)
def installation(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """`olmf up` with the sample bundles."""
    words = ["--bundles", str(SAMPLES)]
    if request.param == "real":
        kubeconfig: Path = request.getfixturevalue("control_plane")
        words += ["--kubeconfig", str(kubeconfig)]
    with installed(tmp_path_factory.mktemp("olmf"), *words) as running:
        yield running
