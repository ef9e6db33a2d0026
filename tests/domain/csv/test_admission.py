from datetime import timedelta
from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv, OperatorGroup
from shared.domain.csv.admission import joined, not_admitted
from shared.domain.csv.phases import status_of
from shared.domain.csv.transition import Transition
from tests.domain.csv.builders import ALL_MODES, MEMBERSHIP, NOW, a_csv, a_group, a_status, at, owned_crd

CONFLICT = ("Failed", "InterOperatorGroupOwnerConflict", "intersecting operatorgroups provide the same apis")
STATIC = (
    "Failed",
    "CannotModifyStaticOperatorGroupProvidedAPIs",
    "static provided api operatorgroup cannot be modified by these apis",
)
API = "Thing.v1.example.com"


def refused(csv: Manifest, *groups: Manifest) -> Transition | None:
    return not_admitted(Csv(csv), OperatorGroup.each(groups), status_of(Csv(csv), NOW))


def transition(csv: Manifest, *groups: Manifest) -> tuple[str, str, str] | None:
    found = refused(csv, *groups)
    return (found.status.phase, found.status.reason, found.status.message) if found else None


def providing(*apis: str, namespace: str = "ns", **more: Any) -> Manifest:
    group = a_group(**more)
    meta = {**group["metadata"], "namespace": namespace, "annotations": {"olm.providedAPIs": ",".join(apis)}}
    return {**group, "metadata": meta}


@pytest.mark.parametrize("phase", ["", "Pending", "InstallReady", "Installing", "Succeeded", "Failed", "Replacing"])
def test_the_checks_hold_in_every_phase_csv_md_3_2(phase: str) -> None:
    csv = a_csv(status=a_status(phase, "Any") if phase else None)
    assert transition(csv, a_group()) is None
    assert transition(csv) == ("Failed", "NoOperatorGroup", "csv in namespace with no operatorgroups")


@pytest.mark.parametrize(
    ("groups", "want"),
    [
        pytest.param([], ("NoOperatorGroup", "csv in namespace with no operatorgroups"), id="csv.md 3.3: no group"),
        pytest.param(
            [a_group("one"), a_group("two")],
            (
                "TooManyOperatorGroups",
                "csv created in namespace with multiple operatorgroups, can't pick one automatically",
            ),
            id="csv.md 3.3: more than one group",
        ),
        pytest.param(
            [providing(namespace="elsewhere")], ("NoOperatorGroup", "csv in namespace with no operatorgroups"),
            id="csv.md 3.3: groups of other namespaces do not count",
        ),
    ],
)  # fmt: skip
def test_membership(groups: list[Manifest], want: tuple[str, str]) -> None:
    assert transition(a_csv(), *groups) == ("Failed", *want)


@pytest.mark.parametrize("reason", ["NoOperatorGroup", "TooManyOperatorGroups"])
def test_the_same_failure_is_not_written_again_csv_md_18_row_38_and_19_6(reason: str) -> None:
    groups = [] if reason == "NoOperatorGroup" else [a_group("one"), a_group("two")]
    first = refused(a_csv(status=a_status("Pending", "x", ago=timedelta(hours=1))), *groups)
    assert first
    again = refused(a_csv(status=dict(first.status.manifest)), *groups)
    assert again
    assert again.status.manifest == first.status.manifest
    assert again.status.notices == ()


@pytest.mark.parametrize(
    ("annotations", "changed"),
    [
        pytest.param({}, MEMBERSHIP, id="csv.md 3.3: all three are missing"),
        pytest.param(
            {**MEMBERSHIP, "olm.targetNamespaces": "other"}, {"olm.targetNamespaces": "ns"},
            id="csv.md 3.3: the targets differ",
        ),
        pytest.param(
            {**MEMBERSHIP, "olm.operatorGroup": "old"}, {"olm.operatorGroup": "og"}, id="csv.md 3.3: another group"
        ),
    ],
)  # fmt: skip
def test_annotations_are_written_before_anything_else(annotations: Manifest, changed: Manifest) -> None:
    found = refused(a_csv(annotations=annotations), a_group())
    assert found
    assert found.patch == {"metadata": {"annotations": changed}}
    assert found.status.manifest == {}


def test_the_finalizer_is_added_beside_others_csv_md_3_1_2() -> None:
    found = refused(a_csv(meta={"finalizers": ["theirs"]}), a_group())
    assert found
    assert found.patch == {"metadata": {"finalizers": ["theirs", "operators.coreos.com/csv-cleanup"]}}


def test_targets_are_sorted_and_joined_csv_md_0() -> None:
    found = refused(a_csv(annotations={}), a_group(targets=("z", "a")))
    assert found
    assert found.patch["metadata"]["annotations"]["olm.targetNamespaces"] == "a,z"


WITHOUT_TARGETS = {key: value for key, value in MEMBERSHIP.items() if key != "olm.targetNamespaces"}


def test_a_group_that_selected_nothing_yet_is_waited_for_csv_md_3_3() -> None:
    found = refused(a_csv(annotations=WITHOUT_TARGETS), a_group(targets=None))
    assert found
    assert found.waits_for == "OperatorGroup og to select its target namespaces"
    assert found.status.manifest == {}
    assert found.again_in


def selecting(age: timedelta) -> Manifest:
    group = a_group(targets=None, selector={"matchLabels": {"a": "b"}})
    return {**group, "metadata": {**group["metadata"], "creationTimestamp": at(age)}}


def test_a_selector_that_matches_nothing_fails_the_version_csv_md_18_row_30() -> None:
    csv = a_csv(annotations=WITHOUT_TARGETS)
    want = ("NoTargetNamespaces", "no targetNamespaces are matched operatorgroups namespace selection")
    assert transition(csv, selecting(timedelta(hours=1))) == ("Failed", *want)
    assert transition(csv, selecting(timedelta())) == ("", "", "")


def test_a_selector_that_matches_nothing_any_more_never_means_everything_csv_md_3_3() -> None:
    found = refused(a_csv(), selecting(timedelta(hours=1)))
    assert found
    assert (found.status.phase, found.status.reason, found.patch) == ("Failed", "NoTargetNamespaces", {})


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param({"targetNamespaces": [""]}, "TargetNamespaces cannot contain NamespaceAll", id="csv.md 18 row 31"),
    ],
)
def test_a_group_that_is_refused_takes_no_members(spec: Manifest, message: str) -> None:
    found = transition(a_csv(), a_group(targets=None, **spec))
    assert found
    assert found[:2] == ("Failed", "NoTargetNamespaces")
    assert found[2].startswith(message)


def test_a_mode_that_is_listed_twice_csv_md_3_2_4() -> None:
    csv = a_csv(modes=("OwnNamespace", "OwnNamespace"))
    want = "InstallMode list contains duplicates, cannot make set: [{OwnNamespace true} {OwnNamespace true}]"
    assert transition(csv, a_group()) == ("Failed", "InvalidInstallModes", want)


@pytest.mark.parametrize(
    ("targets", "modes", "want"),
    [
        pytest.param(
            ("ns",), ("AllNamespaces",),
            "OwnNamespace InstallModeType not supported, cannot configure to watch own namespace",
            id="csv.md 3.4 and 18 row 23: own namespace",
        ),
        pytest.param(
            ("",), ("OwnNamespace",),
            "AllNamespaces InstallModeType not supported, cannot configure to watch all namespaces",
            id="csv.md 3.4 and 18 row 118: all namespaces",
        ),
        pytest.param(
            ("a",), ("OwnNamespace",),
            "SingleNamespace InstallModeType not supported, cannot configure to watch one namespace",
            id="csv.md 3.4: one namespace",
        ),
        pytest.param(
            ("a", "b"), ("SingleNamespace",),
            "MultiNamespace InstallModeType not supported, cannot configure to watch 2 namespaces",
            id="csv.md 3.4: several namespaces",
        ),
    ],
)  # fmt: skip
def test_install_modes(targets: tuple[str, ...], modes: tuple[str, ...], want: str) -> None:
    annotations = {**MEMBERSHIP, "olm.targetNamespaces": ",".join(targets)}
    assert transition(a_csv(annotations=annotations, modes=modes), a_group(targets=targets)) == (
        "Failed", "UnsupportedOperatorGroup", want,
    )  # fmt: skip
    assert transition(a_csv(annotations=annotations, modes=ALL_MODES), a_group(targets=targets)) is None


OWNER = a_csv(customresourcedefinitions=owned_crd())
CONFLICTING = providing(API, namespace="other", name="rival", targets=("ns",))


@pytest.mark.parametrize(
    ("groups", "want"),
    [
        pytest.param([providing(API)], None, id="csv.md 9.2: NoAPIConflict"),
        pytest.param([providing(), CONFLICTING], CONFLICT, id="csv.md 9.2 and 18 row 34: APIConflict"),
        pytest.param([providing(staticProvidedAPIs=True)], STATIC, id="csv.md 9.2 and 18 row 36: static, AddAPIs"),
    ],
)
def test_provided_apis(groups: list[Manifest], want: tuple[str, str, str] | None) -> None:
    assert transition(OWNER, *groups) == want


def test_apis_are_announced_before_the_phase_goes_on_csv_md_18_row_35() -> None:
    found = refused(OWNER, providing())
    assert found
    assert found.status.manifest == {}
    assert found.waits_for == f"the provided APIs of OperatorGroup og to become {API!r}"
    assert found.again_in


def test_a_version_is_made_as_a_member_of_its_group_csv_md_3_1_and_3_3() -> None:
    made = joined(Csv(a_csv(annotations={"own": "kept"}, meta={"finalizers": []})), [OperatorGroup(a_group())])
    assert made["metadata"]["annotations"] == {"own": "kept", **MEMBERSHIP}
    assert made["metadata"]["finalizers"] == ["operators.coreos.com/csv-cleanup"]
    assert joined(Csv(made), [OperatorGroup(a_group())]) == made


@pytest.mark.parametrize("groups", [pytest.param([], id="none"), pytest.param([a_group(), a_group("b")], id="two")])
def test_without_one_group_a_version_is_made_as_it_is_csv_md_3_3(groups: list[Manifest]) -> None:
    csv = a_csv(annotations={}, meta={"finalizers": []})
    assert joined(Csv(csv), OperatorGroup.each(groups)) == csv
