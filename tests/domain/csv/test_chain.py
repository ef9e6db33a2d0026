import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.domain.csv import chain
from tests.domain.csv.builders import a_csv

A, B, C = a_csv("a"), a_csv("b", replaces="a"), a_csv("c", replaces="b")
SELF = a_csv("self", replaces="self")
COPY = a_csv("copy", replaces="a", meta={"labels": {"olm.copiedFrom": "x"}})
CYCLE = (a_csv("x", replaces="y"), a_csv("y", replaces="x"))


def names(*csvs: Csv | None) -> list[str]:
    return [csv.name for csv in csvs if csv]


@pytest.mark.parametrize(
    ("csv", "namespace_csvs", "want"),
    [
        pytest.param(B, (A, B), ["a"], id="csv.md 2.5: the one it replaces"),
        pytest.param(B, (B,), [], id="csv.md 18 row 57: an absent one is none"),
        pytest.param(A, (A, B), [], id="csv.md 2.5: it replaces nothing"),
        pytest.param(SELF, (SELF,), [], id="csv.md 18 row 280: never itself"),
    ],
)
def test_predecessor(csv: Manifest, namespace_csvs: tuple[Manifest, ...], want: list[str]) -> None:
    assert names(chain.predecessor(Csv(csv), Csv.each(namespace_csvs))) == want


@pytest.mark.parametrize(
    ("csv", "namespace_csvs", "want"),
    [
        pytest.param(A, (A, B), "b", id="csv.md 2.5: the one that replaces it"),
        pytest.param(A, (A, COPY), None, id="csv.md 2.5: a copy does not count"),
        pytest.param(A, (A, a_csv("z", replaces="a"), B), "b", id="csv.md 19-33: of several the first by name"),
        pytest.param(SELF, (SELF,), None, id="csv.md 18 row 280: never itself"),
    ],
)
def test_successor(csv: Manifest, namespace_csvs: tuple[Manifest, ...], want: str | None) -> None:
    found = chain.successor(Csv(csv), Csv.each(namespace_csvs))
    assert (found.name if found else None) == want


@pytest.mark.parametrize(
    ("csv", "namespace_csvs", "want"),
    [
        pytest.param(A, (A, B, C), "c", id="csv.md 2.5: the end of the chain"),
        pytest.param(C, (A, B, C), "c", id="csv.md 2.5: nothing follows"),
        pytest.param(CYCLE[0], CYCLE, "y", id="csv.md 18 row 281: a cycle ends"),
    ],
)
def test_final(csv: Manifest, namespace_csvs: tuple[Manifest, ...], want: str) -> None:
    assert chain.final(Csv(csv), Csv.each(namespace_csvs)).name == want


@pytest.mark.parametrize(
    ("csv", "namespace_csvs", "want"),
    [
        pytest.param(B, (A, B, C), {"a", "b", "c"}, id="csv.md 4.11: before and after"),
        pytest.param(C, (C, a_csv("other")), {"c"}, id="csv.md 4.11: an absent one is not added"),
        pytest.param(CYCLE[0], CYCLE, {"x", "y"}, id="csv.md 18 row 58: a cycle"),
        pytest.param(SELF, (SELF,), {"self"}, id="csv.md 18 row 58: itself"),
    ],
)
def test_replacement_chain(csv: Manifest, namespace_csvs: tuple[Manifest, ...], want: set[str]) -> None:
    assert chain.replacement_chain(Csv(csv), Csv.each(namespace_csvs)) == want


@pytest.mark.parametrize(
    ("csv", "namespace_csvs", "want"),
    [
        pytest.param(C, (A, B, C), ["b", "a"], id="csv.md 4.11: the newest first"),
        pytest.param(C, (A, C), [], id="csv.md 4.11: no further than to an absent one"),
        pytest.param(CYCLE[0], CYCLE, ["y"], id="csv.md 18 row 58: a cycle"),
        pytest.param(a_csv("z", replaces="x"), CYCLE, ["x", "y"], id="csv.md 18 row 58: a cycle below"),
    ],
)
def test_ancestors(csv: Manifest, namespace_csvs: tuple[Manifest, ...], want: list[str]) -> None:
    assert [one.name for one in chain.ancestors(Csv(csv), Csv.each(namespace_csvs))] == want


TARGET = a_csv("a", replaces="b")
OTHERS = (a_csv("b", replaces="c"), a_csv("c"), a_csv("d"))


@pytest.mark.parametrize(
    ("listed", "others", "want"),
    [
        pytest.param(["a"], OTHERS, [], id="csv.md 18 row 200: only the target"),
        pytest.param(["a", "b"], OTHERS, [], id="csv.md 18 row 201: the target and its predecessor"),
        pytest.param(
            ["b"], (a_csv("b", meta={"labels": {"olm.copiedFrom": "x"}}),), [], id="csv.md 18 row 202: a copy"
        ),
        pytest.param(["d"], OTHERS, [], id="csv.md 18 row 203: unrelated"),
        pytest.param(["b", "c"], OTHERS, ["b", "c"], id="csv.md 18 row 204: both ancestors"),
        pytest.param(["c"], OTHERS, [], id="csv.md 5.3: only through those that are listed"),
        pytest.param(["z"], (a_csv("z", replaces="a"),), [], id="csv.md 18 row 205: a descendant"),
        pytest.param(["b", "gone"], (), [], id="csv.md 18 row 46: an absent one"),
        pytest.param(
            ["b", "c"],
            (a_csv("b", replaces="c"), a_csv("c", replaces="a")),
            ["b", "c"],
            id="csv.md 18 row 206: a cycle",
        ),
    ],
)
def test_installed_alongside(listed: list[str], others: tuple[Manifest, ...], want: list[str]) -> None:
    namespace_csvs = {one.name: one for one in Csv.each((TARGET, *others))}
    assert list(chain.installed_alongside(Csv(TARGET), listed, namespace_csvs)) == want
