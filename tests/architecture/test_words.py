"""Names use the words of Kubernetes, OLM, CloudEvents and RQ, and the check that says so bites."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.words import DENIED, LEGITIMATE, LEGITIMATE_IN, modules, private_words, words_of

ROOT = Path(__file__).parents[2]
FOLDERS = ("eventing", "functions", "shared")


def test_no_name_has_a_private_word() -> None:
    found = [
        f"{path}:{line} {name}: say {' or '.join({DENIED[word] for word in words_of(name) if word in DENIED})}"
        for path, source in modules(ROOT, FOLDERS)
        for line, name in private_words(source, path)
    ]
    assert found == []


@pytest.mark.parametrize("name", sorted(LEGITIMATE.union(*LEGITIMATE_IN.values())))
def test_every_exception_is_needed(name: str) -> None:
    assert any(name in source.lower() for _, source in modules(ROOT, FOLDERS))


@pytest.mark.parametrize(
    ("source", "path", "want"),
    [
        pytest.param("def tell_all(): ...", "shared/a.py", [(1, "tell_all")], id="a function"),
        pytest.param("class IllPosed: ...", "shared/a.py", [(1, "IllPosed")], id="a class"),
        pytest.param("def f(told): return told.x", "shared/a.py", [(1, "told"), (1, "told")], id="an argument"),
        pytest.param("x.rights = f(wanted=1)", "shared/a.py", [(1, "wanted"), (1, "rights")], id="a field, a keyword"),
        pytest.param("import a as _RIVALS", "shared/a.py", [(1, "_RIVALS")], id="an alias"),
        pytest.param("", "functions/fanout/_rights.py", [(0, "_rights")], id="a module"),
        pytest.param("", "shared/rights/__init__.py", [(0, "rights")], id="a package"),
        pytest.param("retold = 'told'", "shared/a.py", [], id="part of a word, and texts"),
        pytest.param("is_given_up = why_held", "shared/a.py", [], id="what everybody means by it"),
        pytest.param("home = 1", "shared/adapters/oci/logins.py", [], id="a home directory"),
        pytest.param("home = 1", "shared/domain/a.py", [(1, "home")], id="the same word in another folder"),
    ],
)
def test_the_check_bites(source: str, path: str, want: list[tuple[int, str]]) -> None:
    assert sorted(private_words(source, path)) == sorted(want)
