from __future__ import annotations

import pytest

from shared.domain.catalog.ignore import IgnoreRules
from tests.kit.waiting import costing_at_most

_TREE = (
    ".hidden/a.json", "README.md", "a/index.json", "a/objects/x.json", "a/objects/y.yaml", "b/a/z.json", "b/objects",
    "catalog.json", "sub/deep/y.yaml", "sub/index.json", "sub/x.clusterserviceversion.yaml", "sub/z.json", "y.yaml",
)  # fmt: skip


def kept(*lines: str, **files: str) -> set[str]:
    given = {".indexignore": "\n".join(lines)} if lines else {}
    rules = IgnoreRules.parse(given | {f"{folder}/.indexignore": text for folder, text in files.items()})
    return {path for path in _TREE if not rules.is_ignored(path)}


def matching(*ends: str) -> set[str]:
    return {path for path in _TREE if path.endswith(ends)}


def without(*starts: str) -> set[str]:
    return {path for path in _TREE if not path.startswith(starts)}


@pytest.mark.parametrize(
    ("lines", "desired"),
    [
        pytest.param(["*", "!*.json"], matching(".json"), id="fbc.md 3.1 a"),
        pytest.param(
            ["**/*", "!*.json", "!*.yaml", "**/objects/*.json", "**/objects/*.yaml"],
            matching(".json", ".yaml") - {"a/objects/x.json", "a/objects/y.yaml"},
            id="fbc.md 3.1 b",
        ),
        pytest.param(["objects/"], without("a/objects/"), id="fbc.md 3.1 c"),
        pytest.param(["/a"], without("a/"), id="fbc.md 3.1 d"),
        pytest.param(["a/", "!a/index.json"], without("a/", "b/a/") | {"a/index.json"}, id="fbc.md 3.1 e"),
        pytest.param([".*"], without(".hidden/"), id="fbc.md 3.1 f"),
        pytest.param(
            ["*", "!*.json", "!*.yaml", "*.clusterserviceversion.yaml"],
            matching(".json", ".yaml") - {"sub/x.clusterserviceversion.yaml"},
            id="fbc.md 3.1 h",
        ),
        pytest.param(["objects"], without("a/objects/", "b/objects"), id="fbc.md 3.1 i"),
        pytest.param(["sub/index.json"], without("sub/index.json"), id="fbc.md 3.1 j: a file"),
        pytest.param(["a/objects"], without("a/objects/"), id="fbc.md 3.1 j: a tree"),
        pytest.param(["/sub/*.json"], without("sub/index.json", "sub/z.json"), id="fbc.md 3.1 j: a glob"),
        pytest.param(["b/*"], without("b/"), id="fbc.md 3.1 j: all below"),
        pytest.param(["**/a"], without("a/", "b/a/"), id="fbc.md 3.1 k: any depth"),
        pytest.param(["a/**"], without("a/"), id="fbc.md 3.1 k: below the root's a"),
        pytest.param(["sub/**/y.yaml"], without("sub/deep/y.yaml"), id="fbc.md 3.1 k: any number of levels"),
        pytest.param(["*/z.json"], without("sub/z.json"), id="fbc.md 3.1 k: exactly one level"),
        pytest.param(
            ["?.json"], without("b/a/z.json", "sub/z.json", ".hidden/a.json", "a/objects/x.json"), id="l: one"
        ),
        pytest.param(["[a-y].json"], without(".hidden/a.json", "a/objects/x.json"), id="fbc.md 3.1 l: a class"),
        pytest.param(["[^a-y].json"], without("b/a/z.json", "sub/z.json"), id="fbc.md 3.1 l: all but a class"),
        pytest.param(["\\#x", "\\!a.json", "# y.yaml", "", "  "], set(_TREE), id="fbc.md 3.1 n: no escapes"),
        pytest.param(
            ["  y.yaml  "],
            without("y.yaml", "sub/deep/y.yaml", "a/objects/y.yaml"),
            id="fbc.md 3.1: blanks at the ends",
        ),
        pytest.param(["READ**"], without("README.md"), id="fbc.md 3.1: two stars without a slash are one"),
        pytest.param(["sub/z**"], set(_TREE), id="fbc.md 3.1: two stars in an element with a slash never match"),
        pytest.param(["a/**", "!a/*"], set(_TREE), id="what lies below a match is taken back, too"),
        pytest.param(["/**", "**/**", "//", "!", "/"], set(_TREE), id="patterns without a name match nothing"),
        pytest.param(["[^z-a].yaml"], without("y.yaml", "sub/deep/y.yaml", "a/objects/y.yaml"), id="all but nothing"),
        pytest.param(["\\y.yaml"], without("y.yaml", "sub/deep/y.yaml", "a/objects/y.yaml"), id="an escape"),
        pytest.param(["*.json\\"], set(_TREE), id="an escape of nothing"),
        pytest.param(["[z-a].json", "[--].json"], set(_TREE), id="a range from back to front matches nothing"),
        pytest.param(["[", "[]"], set(_TREE), id="a class without an end matches nothing here"),
    ],
)
def test_which_files_are_left(lines: list[str], desired: set[str]) -> None:
    assert kept(*lines) == desired


@pytest.mark.parametrize("pattern", [
    pytest.param("*a" * 100 + "b", id="each star may end anywhere"),
    pytest.param("*a?[a-b]" * 25 + "*b", id="between classes"),
    pytest.param("*" + "a" * 100 + "*b", id="a long piece"),
    pytest.param("*a" * 2100, id="a long pattern"),
])  # fmt: skip
def test_a_hostile_pattern_is_matched_in_linear_time(pattern: str) -> None:
    rules = IgnoreRules.parse({".indexignore": pattern})
    with costing_at_most(5, "trying each place for each star takes longer than the universe is old"):
        assert not rules.is_ignored("a" * 250)
        assert not rules.is_ignored("a" * 1_000_000)


@pytest.mark.parametrize(("pattern", "matched", "others"), [
    ("a*bc*bd", ["abcbd", "a.bc.bcbd", "abcbcbdbd"], ["abcb", "abd", "abcbdb"]),
    ("*ab*ab*", ["abab", "xabyabz"], ["ab", "aba"]),
    ("*?*?*", ["ab", "abc"], ["a"]),
    ("*[bc]*c", ["bc", "abcc", "cc"], ["ac", "c"]),
    ("*a*", ["a", "bab"], ["b"]),
])  # fmt: skip
def test_stars_match_as_little_as_they_have_to(pattern: str, matched: list[str], others: list[str]) -> None:
    rules = IgnoreRules.parse({".indexignore": pattern})
    assert [name for name in (*matched, *others) if rules.is_ignored(name)] == matched


def test_fbc_md_3_1_g_a_file_rules_only_its_own_folder() -> None:
    assert kept(sub="*.json\n!index.json") == without("sub/z.json")


def test_fbc_md_3_1_m_a_deeper_file_decides_after_the_root() -> None:
    assert kept("*.json", sub="!z.json") & matching(".json") == {"sub/z.json"}


def test_the_file_itself_is_never_a_part() -> None:
    assert IgnoreRules.parse({}).is_ignored("a/.indexignore")
