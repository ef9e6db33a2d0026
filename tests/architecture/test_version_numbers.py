"""No resourceVersion is a number anywhere, and the check that says so bites."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.version_numbers import version_numbers

ROOT = Path(__file__).parents[2]


def test_no_resource_version_is_used_as_a_number() -> None:
    modules = [path for folder in ("eventing", "functions", "shared") for path in (ROOT / folder).rglob("*.py")]
    found = [f"{path.relative_to(ROOT)}:{line}" for path in modules for line in version_numbers(path.read_text())]
    assert modules
    assert not found, f"compare them with shared/resource_versions.py: {found}"


@pytest.mark.parametrize(
    ("source", "want"),
    [
        pytest.param("int(resource_version_of(manifest))", [1], id="of a manifest"),
        pytest.param("int(meta['resourceVersion'])", [1], id="of its metadata"),
        pytest.param("object.resource_version.isdecimal()", [1], id="a look whether it is one"),
        pytest.param("from a import change_of\nint(change_of(name)[1])", [2], id="of an event"),
        pytest.param("from a import is_newer\nwrite.version.isdigit()", [2], id="of a write, where they are compared"),
        pytest.param("int(version)", [], id="another version, e.g. of a package"),
        pytest.param("from a import is_newer\nint(day)", [], id="another number"),
    ],
)
def test_the_check_bites(source: str, want: list[int]) -> None:
    assert list(version_numbers(source)) == want
