"""No folder has a circle among its modules and packages, and the check that says so bites."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.imports import Graph, circles, graphs, printed


@pytest.fixture(scope="module")
def all_graphs() -> dict[str, Graph]:
    return graphs(Path(__file__).parents[2])


def test_the_import_graph_is_printed(all_graphs: dict[str, Graph], capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{printed({folder: all_graphs[folder] for folder in ('', 'eventing', 'shared', 'shared.domain')})}")
    assert set(all_graphs["eventing"]) >= {"cli", "diagnosis", "local", "wiring"}


def test_no_folder_has_a_circle(all_graphs: dict[str, Graph]) -> None:
    found = {folder or "the tree": circles(graph) for folder, graph in all_graphs.items()}
    assert {folder: groups for folder, groups in found.items() if groups} == {}


@pytest.mark.parametrize(
    ("files", "want"),
    [
        pytest.param({"a.py": "from shared import b", "b.py": ""}, [], id="one imports the other"),
        pytest.param({"a.py": "from shared import b", "b.py": "import shared.a"}, [("a", "b")], id="two modules"),
        pytest.param(
            {"a.py": "def f():\n    from shared.p.c import x\n", "p/c.py": "from shared.a import f"}, [("a", "p")],
            id="a module and a package, inside a function",
        ),
        pytest.param(
            {"p/__init__.py": "from shared.p.c import x", "p/c.py": "from shared.p import x"}, [],
            id="no circle of the folder, but of the package in it",
        ),
    ],
)  # fmt: skip
def test_the_check_bites(tmp_path: Path, files: dict[str, str], want: list[tuple[str, ...]]) -> None:
    for name, text in files.items():
        place = tmp_path / "shared" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    found = graphs(tmp_path)
    assert circles(found.get("shared", {})) == want
    assert ("shared.p" in found and circles(found["shared.p"]) == [("__init__", "c")]) == ("p/__init__.py" in files)
