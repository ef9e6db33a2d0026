"""An import inside a function is there for a start-up, never to hide who imports whom."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.late_imports import COSTLY, FOR_OTHER_REASONS, free, late_imports, refused

ROOT = Path(__file__).parents[2]


def test_late_imports_stay_the_exception() -> None:
    assert len(late_imports(ROOT)) < 150


def test_every_late_import_brings_a_costly_library() -> None:
    assert refused(ROOT) == []


def test_no_library_and_no_exception_is_listed_for_nothing() -> None:
    late = late_imports(ROOT)
    assert set(COSTLY) == {library for one in late for library in one.brings}
    assert set(FOR_OTHER_REASONS) == set(free(ROOT))


@pytest.mark.parametrize(
    ("files", "want"),
    [
        pytest.param({"a": "def f():\n    from shared.b import g", "b": "import json"},
                     ["shared.a: from shared.b import g"], id="a module of ours that costs little"),
        pytest.param({"a": "def f():\n    import json"}, ["shared.a: import json"], id="a part of Python"),
        pytest.param({"a": "def f():\n    import rq.job"}, [], id="a costly library"),
        pytest.param({"a": "def f():\n    from shared import b", "b": "import rq"}, [], id="a module that brings one"),
        pytest.param({"a": "import rq\ndef f():\n    from shared import b", "b": "import rq"},
                     ["shared.a: from shared import b"], id="one that is there anyway"),
        pytest.param({"a": "def f():\n    import shared.b", "b": "if TYPE_CHECKING:\n    import rq"},
                     ["shared.a: import shared.b"], id="one that only the type checker sees"),
    ],
)  # fmt: skip
def test_the_check_bites(tmp_path: Path, files: dict[str, str], want: list[str]) -> None:
    (tmp_path / "shared").mkdir()
    for name, text in files.items():
        (tmp_path / "shared" / f"{name}.py").write_text(text)
    assert refused(tmp_path) == want
