"""What is done with the objects of a revision (v1.md §21.7)."""

from __future__ import annotations

from typing import Any

import pytest

from shared import names
from shared.domain.extension.phases.actions import (
    Action,
    Drift,
    Protection,
    Revision,
    Teardown,
    object_action,
    protection_of,
    revision_of,
    teardown_action,
)
from shared.domain.extension.phases.order import Phase
from shared.domain.extension.phases.validation import problems

Object = dict[str, Any]
ME = Revision("me", 2, frozenset({"sibling"}))
PROTECTIONS: tuple[Protection, ...] = ("Prevent", "IfNoController", "None")


def an_object(controller: str = "", revision: str = "") -> Object:
    owners = [{"uid": "bystander"}, *([{"uid": controller, "controller": True}] if controller else [])]
    annotations = {names.V1_REVISION: revision} if revision else {}
    return {"metadata": {"name": "a", "ownerReferences": owners, "annotations": annotations}}


C, A, P = Action.COLLISION, Action.ADOPT, Action.PROGRESSED


@pytest.mark.parametrize(
    ("actual", "want"),
    [
        pytest.param(None, (Action.CREATE,) * 3, id="v1.md 21.7: not there"),
        pytest.param(an_object("me", "2"), (Action.IDLE,) * 3, id="v1.md 21.7: this COS is controller"),
        pytest.param(an_object("sibling", "3"), (P, P, P), id="v1.md 21.7: sibling, higher revision"),
        pytest.param(an_object("sibling", "1"), (A, A, A), id="v1.md 21.7: sibling, lower revision"),
        pytest.param(an_object("sibling"), (A, A, A), id="v1.md 21.7: sibling, no revision"),
        pytest.param(an_object("sibling", "2"), (C, C, C), id="v1.md 21.7: sibling, equal revision"),
        pytest.param(an_object("foreign"), (C, C, A), id="v1.md 21.7: foreign controller"),
        pytest.param(an_object("foreign", "1"), (C, C, A), id="v1.md 21.7: foreign COS"),
        pytest.param(an_object(), (C, A, A), id="v1.md 21.7: no controller, never managed"),
        pytest.param(an_object("", "1"), (C, C, C), id="v1.md 21.7: just orphaned"),
    ],
)
def test_who_has_the_object(actual: Object | None, want: tuple[Action, ...]) -> None:
    assert tuple(object_action(actual, ME, protection) for protection in PROTECTIONS) == want


@pytest.mark.parametrize(
    ("drift", "want"),
    [
        (Drift(), Action.IDLE),
        (Drift(is_modified=True), Action.UPDATE),
        (Drift(is_contested=True), Action.RECOVER),
        (Drift(is_modified=True, is_contested=True), Action.RECOVER),
    ],
)
def test_v1_md_21_7_what_is_ours_is_repaired(drift: Drift, want: Action) -> None:
    assert object_action(an_object("me", "2"), ME, drift=drift) == want


@pytest.mark.parametrize(
    ("actual", "want"),
    [
        pytest.param(None, Teardown.GONE, id="v1.md 21.7 teardown: gone"),
        pytest.param(an_object("me", "2"), Teardown.DELETE, id="v1.md 21.7 teardown: ours"),
        pytest.param(an_object("sibling", "3"), Teardown.RELEASE, id="v1.md 21.7 teardown: handed over"),
        pytest.param(an_object("foreign", "2"), Teardown.RELEASE, id="v1.md 28 (18): our number, another's object"),
        pytest.param(an_object("", "2"), Teardown.RELEASE, id="v1.md 21.7 teardown: orphaned"),
    ],
)
def test_teardown(actual: Object | None, want: Teardown) -> None:
    assert teardown_action(actual, {"metadata": {"uid": "me"}}) == want


def test_v1_md_21_7_teardown_an_owner_that_orphans() -> None:
    owner = {"metadata": {"uid": "me", "finalizers": ["orphan"]}}
    assert teardown_action(an_object("me", "2"), owner) == Teardown.UNMARK


@pytest.mark.parametrize(
    ("declared", "want"),
    [
        ((None, None, None), "Prevent"),
        ((None, None, "None"), "None"),
        ((None, "IfNoController", "None"), "IfNoController"),
        (("Prevent", "IfNoController", "None"), "Prevent"),
        (("None", None, "Prevent"), "None"),
        ((None, "None", None), "None"),
        (("IfNoController", None, None), "IfNoController"),
    ],
)
def test_v1_md_21_1_protection_of_object_phase_and_revision(declared: tuple[str | None, ...], want: str) -> None:
    assert protection_of(*declared) == want


def test_a_revision_is_a_number() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        revision_of(an_object("me", "two"))


MAP: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}}
EMPTY = "Required value: must not be empty"
FORBIDDEN = {
    "uid": "u", "generation": 1, "generateName": "a-", "finalizers": ["f"], "ownerReferences": [{}],
    "resourceVersion": "1",
}  # fmt: skip


@pytest.mark.parametrize(
    ("phases", "want"),
    [
        pytest.param([Phase("deploy", (MAP,))], (), id="v1.md 21.7 validation: fine"),
        pytest.param(
            [Phase("deploy", ({"metadata": {"name": "a"}},))],
            (f'phase "deploy": /, Kind= /a: apiVersion: {EMPTY}, kind: {EMPTY}',),
            id="v1.md 21.7 validation: apiVersion and kind",
        ),
        *(
            pytest.param(
                [Phase("deploy", ({**MAP, "metadata": {"name": "a", field: value}},))],
                (f'phase "deploy": /v1, Kind=ConfigMap /a: metadata.{field}: Forbidden: must be empty',),
                id=f"v1.md 21.7 validation: {field}",
            )
            for field, value in FORBIDDEN.items()
        ),
        pytest.param(
            [Phase("deploy", (MAP,)), Phase("crds", (MAP,)), Phase("roles", ())],
            (
                'phase "deploy": /v1, Kind=ConfigMap n/a: duplicate object found in phases: crds, deploy',
                'phase "crds": /v1, Kind=ConfigMap n/a: duplicate object found in phases: crds, deploy',
            ),
            id="v1.md 21.7 validation: an object in two phases",
        ),
        pytest.param(
            [Phase("deploy", (MAP, MAP))],
            ('phase "deploy": /v1, Kind=ConfigMap n/a: duplicate object found in phases: deploy',),
            id="v1.md 21.7 validation: an object twice in a phase",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_revision(phases: list[Phase], want: tuple[str, ...]) -> None:
    assert problems(phases) == want


@pytest.mark.parametrize(
    ("name", "why"),
    [("1a", "a DNS-1035 label must"), ("a" * 64, "must be no more than 63 characters"), ("", "a DNS-1035 label must")],
)
def test_v1_md_21_7_validation_phase_names(name: str, why: str) -> None:
    [problem] = problems([Phase(name, ())])
    assert problem.startswith(f'phase "{name}": phase name invalid: {why}')
