from datetime import timedelta

import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.domain.csv import phases
from shared.domain.csv.phases import Notice, Status, status_of
from shared.domain.objects import csv as csvs
from tests.domain.csv.builders import NOW, a_csv, a_status, at

HOUR = timedelta(hours=1)
BEFORE = a_status("Pending", "RequirementsUnknown", "not yet", ago=HOUR)


def test_a_new_phase_moves_both_times_and_joins_the_history_csv_md_2_3() -> None:
    status = Status(BEFORE, NOW).to("InstallReady", "AllRequirementsMet", "go")
    entry = {
        "phase": "InstallReady",
        "reason": "AllRequirementsMet",
        "message": "go",
        "lastUpdateTime": at(),
        "lastTransitionTime": at(),
    }
    assert status.manifest == {**entry, "conditions": [*BEFORE["conditions"], entry]}


def test_a_new_reason_keeps_the_transition_time_and_joins_the_history_csv_md_2_3() -> None:
    status = Status(BEFORE, NOW).to("Pending", "RequirementsNotMet", "no")
    assert (status.manifest["lastUpdateTime"], status.manifest["lastTransitionTime"]) == (at(), at(HOUR))
    assert len(status.manifest["conditions"]) == 2
    assert status.since == NOW - HOUR


def test_since_when_it_does_not_work_is_told_by_its_history() -> None:
    worked = Status(a_status("Succeeded", "InstallSucceeded", ago=3 * HOUR), NOW - 2 * HOUR)
    ill = worked.to("Failed", "ComponentUnhealthy", "no")
    again = Status(ill.manifest, NOW - HOUR).to("Pending", "RequirementsUnknown", "again")
    histories = (BEFORE, worked.manifest, ill.manifest, again.manifest)
    assert [phases.not_working_since(Csv({"status": one})) for one in histories] == [
        NOW - HOUR, None, NOW - 2 * HOUR, NOW - 2 * HOUR,
    ]  # fmt: skip


def test_a_new_message_alone_does_not_join_the_history_csv_md_2_3() -> None:
    status = Status(BEFORE, NOW).to("Pending", "RequirementsUnknown", "still not")
    assert status.manifest["message"] == "still not"
    assert status.manifest["conditions"] == BEFORE["conditions"]


def test_nothing_new_changes_nothing_csv_md_2_3() -> None:
    status = Status(BEFORE, NOW)
    assert status.to("Pending", "RequirementsUnknown", "not yet") is status


def test_the_history_keeps_twenty_csv_md_18_row_49() -> None:
    status = Status({}, NOW)
    for number in range(30):
        status = status.to("Pending", f"Reason{number}", "")
    reasons = [entry["reason"] for entry in status.manifest["conditions"]]
    assert reasons == [f"Reason{number}" for number in range(10, 30)]


@pytest.mark.parametrize(
    ("phase", "want"),
    [
        pytest.param("Failed", "Warning", id="csv.md 2.3: Failed warns"),
        pytest.param("Replacing", "Normal", id="csv.md 2.3: any other phase does not"),
    ],
)
def test_each_transition_is_an_event(phase: phases.Phase, want: str) -> None:
    status = Status({}, NOW).to(phase, "Why", "text")
    assert [(notice.type, notice.reason, notice.message) for notice in status.notices] == [(want, "Why", "text")]


def test_several_transitions_keep_all_their_events() -> None:
    status = Status({}, NOW).to("Pending", "One", "1").to("InstallReady", "Two", "2")
    assert status.notices == (Notice("Normal", "One", "1"), Notice("Normal", "Two", "2"))


def test_a_status_without_times_began_now() -> None:
    assert status_of(Csv(a_csv()), NOW).since == NOW
    assert Status({"phase": "Pending", "reason": "x"}, NOW).to("Pending", "y", "").since == NOW


@pytest.mark.parametrize(
    ("csv", "want"),
    [
        pytest.param(a_csv(), False, id="csv.md 2.4: an original"),
        pytest.param(a_csv(meta={"labels": {"olm.copiedFrom": "x"}}), True, id="csv.md 2.4: the label says so"),
        pytest.param(
            a_csv(annotations={"olm.operatorNamespace": "x"}), True, id="csv.md 2.4: its operator lives elsewhere"
        ),
        pytest.param(a_csv(status={"reason": "Copied"}), True, id="csv.md 2.4: the reason says so"),
    ],
)
def test_is_copied(csv: Manifest, want: bool) -> None:
    assert Csv(csv).is_copy is want


@pytest.mark.parametrize(
    ("status", "want"),
    [
        pytest.param({}, True, id="csv.md 2.4: no phase yet"),
        pytest.param(a_status("Succeeded", "InstallSucceeded"), False, id="csv.md 2.4: a healthy one"),
        pytest.param(a_status("Failed", "ComponentUnhealthy"), False, id="csv.md 2.4: an unhealthy one"),
        *(
            pytest.param(a_status("Failed", reason), True, id=f"csv.md 2.4: {reason}")
            for reason in (
                "Copied", "InvalidInstallModes", "NoTargetNamespaces", "UnsupportedOperatorGroup", "NoOperatorGroup",
                "TooManyOperatorGroups", "InterOperatorGroupOwnerConflict",
                "CannotModifyStaticOperatorGroupProvidedAPIs",
            )
        ),
    ],
)  # fmt: skip
def test_is_uncopiable(status: Manifest, want: bool) -> None:
    assert csvs.is_uncopiable(Csv(a_csv(status=status))) is want
