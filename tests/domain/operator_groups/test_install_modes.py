from __future__ import annotations

import pytest

from shared.api.views import Csv, InstallMode
from shared.domain.operator_groups.install_modes import duplicates, first_supported, supports
from shared.names import TARGET_NAMESPACES

ALL_MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
BUT_ALL = "operatorgroup has invalid selected namespaces, NamespaceAll found when |selected namespaces| > 1"


def modes(*supported: str) -> list[dict[str, object]]:
    return [{"type": mode, "supported": mode in supported} for mode in ALL_MODES]


@pytest.mark.parametrize(
    ("supported", "targets", "refusal"),
    [
        pytest.param(("OwnNamespace",), ["own"], None, id="csv.md 3.4: own namespace supported"),
        pytest.param(("AllNamespaces",), [""], None, id="csv.md 3.4: all namespaces supported"),
        pytest.param(("SingleNamespace",), ["other"], None, id="csv.md 3.4: one other namespace supported"),
        pytest.param(("MultiNamespace",), ["a", "b"], None, id="csv.md 3.4: several namespaces supported"),
        pytest.param(
            ("MultiNamespace", "OwnNamespace"), ["a", "own"], None, id="csv.md 3.4: several with own supported"
        ),
        pytest.param(
            ALL_MODES,
            [],
            "operatorgroup has invalid selected namespaces, cannot configure to watch zero namespaces",
            id="csv.md 3.4: none",
        ),
        pytest.param(
            (),
            ["own"],
            "OwnNamespace InstallModeType not supported, cannot configure to watch own namespace",
            id="csv.md 3.4: [own] needs OwnNamespace",
        ),
        pytest.param(
            (),
            [""],
            "AllNamespaces InstallModeType not supported, cannot configure to watch all namespaces",
            id="csv.md 3.4: [''] needs AllNamespaces",
        ),
        pytest.param(
            (),
            ["other"],
            "SingleNamespace InstallModeType not supported, cannot configure to watch one namespace",
            id="csv.md 3.4: [other] needs SingleNamespace",
        ),
        pytest.param(
            (),
            ["a", "b", "c"],
            "MultiNamespace InstallModeType not supported, cannot configure to watch 3 namespaces",
            id="csv.md 3.4: several need MultiNamespace",
        ),
        pytest.param(
            ("MultiNamespace",),
            ["a", "own"],
            "OwnNamespace InstallModeType not supported, cannot configure to watch own namespace",
            id="csv.md 3.4: several incl. own need OwnNamespace, too",
        ),
        pytest.param(ALL_MODES, ["a", ""], BUT_ALL, id="csv.md 3.4: several incl. all are never valid"),
    ],
)
def test_supports(supported: tuple[str, ...], targets: list[str], refusal: str | None) -> None:
    assert supports(InstallMode.each(modes(*supported)), "own", targets) == refusal


def test_a_mode_that_is_not_listed_is_not_supported() -> None:
    """csv.md 2.1: absent = unsupported."""
    assert supports([], "own", ["own"]) is not None


@pytest.mark.parametrize(
    ("listed", "reason"),
    [
        pytest.param(modes(), None, id="csv.md 3.2 row 4: a set"),
        pytest.param(
            [*modes("OwnNamespace")[:2], {"type": "OwnNamespace", "supported": False}],
            "InstallMode list contains duplicates, cannot make set: "
            "[{OwnNamespace true} {SingleNamespace false} {OwnNamespace false}]",
            id="csv.md 3.2 row 4: a type twice",
        ),
    ],
)
def test_duplicates(listed: list[dict[str, object]], reason: str | None) -> None:
    assert duplicates(InstallMode.each(listed)) == reason


def test_targets_of_an_annotation() -> None:
    """csv.md 3.2 row 6: split on the comma; the empty text is one empty name."""
    found = [Csv({"metadata": {"annotations": {TARGET_NAMESPACES: text}}}).target_namespaces for text in ("a,b", "")]
    assert found == [("a", "b"), ("",)]
    assert Csv({}).target_namespaces is None


def test_modes_of_a_version() -> None:
    assert Csv({"spec": {"installModes": modes()}}).install_modes == InstallMode.each(modes())
    assert Csv({}).install_modes == ()


@pytest.mark.parametrize(
    ("supported", "want"),
    [
        pytest.param(("OwnNamespace", "AllNamespaces"), ("",), id="csv.md 3.4: the first of two"),
        pytest.param(("OwnNamespace",), ("own",), id="csv.md 3.4: the second"),
        pytest.param(("MultiNamespace",), (), id="csv.md 3.4: none"),
    ],
)
def test_the_first_selection_that_an_operator_can_watch(supported: tuple[str, ...], want: tuple[str, ...]) -> None:
    assert first_supported(InstallMode.each(modes(*supported)), "own", (("",), ("own",))) == want
