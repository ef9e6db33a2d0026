"""The domain and the decider are pure, what reads for them knows nothing but ports, and the check bites."""

from __future__ import annotations

from pathlib import Path

import pytest

import eventing.diagnosis.status
import shared.domain
import shared.reading
from tests.architecture.purity import ALLOWED_TO_DECIDE, impurities

SHARED = Path(shared.domain.__file__).parents[1]
MODULES = sorted(
    path for package in (shared.domain, shared.reading) for path in Path(package.__path__[0]).rglob("*.py")
)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SHARED)))
def test_a_module_is_pure(path: Path) -> None:
    assert impurities(path.read_text()) == []


STATUS = Path(eventing.diagnosis.status.__path__[0])
READERS = {"reader.py", "extension_reader.py"}


@pytest.mark.parametrize("path", sorted(STATUS.glob("*.py")), ids=lambda path: path.name)
def test_who_decides_where_a_package_stands_reads_nothing(path: Path) -> None:
    assert (impurities(path.read_text(), ALLOWED_TO_DECIDE) == []) is (path.name not in READERS)


@pytest.mark.parametrize(
    ("source", "want"),
    [
        pytest.param("import socket", ["line 1: imports socket"], id="an import outside the allow-list"),
        pytest.param("from os import path", ["line 1: imports os"], id="a from-import outside the allow-list"),
        pytest.param("x = datetime.now()", ["line 1: calls datetime.now()"], id="a look at the clock"),
        pytest.param("import re\nopen('x')", ["line 2: calls open()"], id="a look at the disk"),
        pytest.param("from shared.kinds import Ref\nimport json", [], id="values are fine"),
        pytest.param("if TYPE_CHECKING:\n    import redis", [], id="a type is no import"),
    ],
)
def test_the_check_bites(source: str, want: list[str]) -> None:
    assert impurities(source) == want
