"""What `pip install` brings: all that `olmf demo` needs, and nothing else."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names in the wheel."""
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("dist")), versions=["standard"])
    with zipfile.ZipFile(wheel) as opened:
        return set(opened.namelist())


def test_every_module_is_in_the_wheel(files: set[str]) -> None:
    modules = {
        str(path.relative_to(ROOT))
        for package in ("functions", "shared", "eventing")
        for path in (ROOT / package).rglob("*.py")
    }
    assert modules <= files


def test_data_of_modules_is_in_the_wheel(files: set[str]) -> None:
    data = [path for end in ("*.lua", "*.json") for path in (ROOT / "eventing").rglob(end)]
    assert data
    assert {str(path.relative_to(ROOT)) for path in data} <= files


def test_the_samples_are_in_the_wheel(files: set[str]) -> None:
    samples = ROOT / "k8s" / "samples"
    desired = {f"eventing/cli/samples/{path.relative_to(samples)}" for path in samples.rglob("*.yaml")}
    assert desired
    assert desired <= files


def test_nothing_else_is_in_the_wheel(files: set[str]) -> None:
    assert {name.split("/")[0].split("-")[0] for name in files} == {"functions", "shared", "eventing", "olm_functions"}
