"""Steps and rules read objects of the cluster through the views of `shared/api`, and the check that says so bites."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.raw_reads import raw_reads

ROOT = Path(__file__).parents[2]
LEFT = {
    "shared/domain/*.py": 0,
    "functions/**/*.py": 0,
    "shared/reading/**/*.py": 0,
    "shared/domain/crd_safety/**/*.py": 54,
    "shared/domain/csv/**/*.py": 0,
    "shared/domain/endpoints/**/*.py": 8,
    "shared/domain/extension/*.py": 58,
    "shared/domain/extension/phases/**/*.py": 30,
    "shared/domain/objects/**/*.py": 0,
    "shared/domain/operator_groups/**/*.py": 0,
    "shared/domain/plan/**/*.py": 0,
    "shared/domain/resolution_inputs/**/*.py": 24,
    "shared/domain/resolver/**/*.py": 6,
    "shared/domain/subscription/**/*.py": 0,
    "shared/domain/unpack/**/*.py": 0,
}
"""What is left in each place that is about objects of the cluster; a number here only ever becomes smaller.

`resolution_inputs` and `extension` read the lines of `--batch`, documents of catalogs and manifests of bundles,
`resolver` the properties of bundles, and `crd_safety` schemas, as Go does: what is malformed there is refused.
"""


@pytest.mark.parametrize("files", LEFT)
def test_objects_are_read_through_views(files: str) -> None:
    modules = sorted(ROOT.glob(files))
    found = [f"{path.relative_to(ROOT)}:{line}" for path in modules for line in raw_reads(path.read_text())]
    assert modules
    assert len(found) == LEFT[files], f"read these through a view, or lower the number: {found}"


@pytest.mark.parametrize(
    ("source", "want"),
    [
        pytest.param('a.get("spec") or {}', [1], id="a field"),
        pytest.param('\n(a.get("spec") or {}).get("x", 1)', [2, 2], id="a field of a field"),
        pytest.param("known.get(name)", [], id="a key that is a value"),
        pytest.param("cluster.get(ref)", [], id="a read of the cluster"),
    ],
)
def test_the_check_bites(source: str, want: list[int]) -> None:
    assert list(raw_reads(source)) == want
