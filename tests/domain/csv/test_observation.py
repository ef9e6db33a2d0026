from datetime import timedelta

import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.domain.csv.health import Problem
from shared.domain.csv.observation import decide, is_observed, is_outdated, unchecked_requirements
from shared.domain.csv.phases import Status
from tests.domain.csv.builders import NOW, a_csv, a_status, owned_crd

TIMEOUT = timedelta(minutes=5)
MISSING = Problem("missing", "missing deployment with name=x")
WAITING = Problem("waiting", "waiting for deployment x to become ready: y")
STUCK = Problem("stuck", "deployment x not ready before timeout: y")
ROLLING = Problem("rolling", "waiting for deployment x to become ready: y")
OUTDATED = Problem("outdated", "deployment changed old hash=a, new hash=b")


def transition(status: Manifest, problem: Problem | None) -> tuple[str, str, str]:
    found = decide(Status(status, NOW), problem, TIMEOUT).status
    return found.phase, found.reason, found.message


@pytest.mark.parametrize("phase", ["Installing", "Succeeded", "Failed"])
def test_a_well_operator_has_succeeded_csv_md_4_9_1(phase: str) -> None:
    want = ("Succeeded", "InstallSucceeded", "install strategy completed with no errors")
    assert transition(a_status(phase), None) == want


@pytest.mark.parametrize("phase", ["Installing", "Succeeded", "Failed"])
def test_a_deployment_that_gave_up_fails_the_installation_csv_md_4_9_3(phase: str) -> None:
    want = ("Failed", "InstallCheckFailed", f"install failed: {STUCK.message}")
    assert transition(a_status(phase), STUCK) == want


@pytest.mark.parametrize(
    ("phase", "problem", "want"),
    [
        pytest.param("Installing", OUTDATED, ("InstallReady", "InstallWaiting"), id="csv.md 4.9-9 and 18 rows 15, 16"),
        pytest.param("Succeeded", OUTDATED, ("InstallReady", "ComponentUnhealthy"), id="csv.md 4.9-9 and 18 row 21"),
        pytest.param("Failed", OUTDATED, ("InstallReady", "NeedsReinstall"), id="csv.md 4.9-9: after a failure"),
        pytest.param("Installing", MISSING, ("Installing", "InstallWaiting"), id="csv.md 4.9-10 and 18 row 14"),
        pytest.param("Installing", WAITING, ("Installing", "InstallWaiting"), id="csv.md 4.9-10: waiting"),
        pytest.param("Succeeded", MISSING, ("Failed", "ComponentUnhealthy"), id="csv.md 4.9-10 and 6.6: deleted"),
        pytest.param("Installing", ROLLING, ("Installing", "InstallWaiting"), id="csv.md 4.9-10: old pods still run"),
        pytest.param("Failed", ROLLING, ("Pending", "NeedsReinstall"), id="csv.md 4.9-10: rolling after a failure"),
        pytest.param("Failed", MISSING, ("Pending", "NeedsReinstall"), id="csv.md 4.9-10 and 18 row 28"),
        pytest.param("Failed", WAITING, ("Pending", "NeedsReinstall"), id="csv.md 4.9-10 and 18 row 17"),
    ],
)
def test_problems(phase: str, problem: Problem, want: tuple[str, str]) -> None:
    assert transition(a_status(phase), problem) == (*want, f"installing: {problem.message}")


UNCONVERTED = Problem("unconverted", "Webhook install failed: conversionWebhook not ready")


@pytest.mark.parametrize(
    ("phase", "lasted", "want"),
    [
        pytest.param(
            "Installing", 299, ("Installing", "InstallWaiting"), id="while it is installed: its timeout counts"
        ),
        pytest.param("Installing", 300, ("Failed", "InstallCheckFailed"), id="it was not installed in time"),
        pytest.param("Succeeded", 60, ("InstallReady", "ComponentUnhealthy"), id="csv.md 4.9-7: after it worked"),
        pytest.param("Failed", 60, ("InstallReady", "NeedsReinstall"), id="csv.md 4.9-7: after a failure"),
        pytest.param("Succeeded", 59, ("Failed", "ComponentUnhealthy"), id="it was ended at once: pauses follow"),
        pytest.param("Failed", 59, ("Pending", "NeedsReinstall"), id="it was ended at once: after the pause"),
    ],
)
def test_a_conversion_that_somebody_ended_csv_md_4_9_7(phase: str, lasted: int, want: tuple[str, str]) -> None:
    before = Status(a_status(phase), NOW + timedelta(seconds=lasted))
    found = decide(before, UNCONVERTED, TIMEOUT)
    message = "install timeout" if found.status.phase == "Failed" and phase == "Installing" else UNCONVERTED.message
    assert (found.status.phase, found.status.reason, found.status.message) == (*want, message)
    assert found.again_in == (timedelta(seconds=1) if found.status.phase == "Installing" else None)


def test_a_time_that_is_yet_to_come_counts_as_now() -> None:
    """Whoever may write a status may write any time."""
    before = {**a_status("Installing", "InstallWaiting"), "lastTransitionTime": "9999-12-31T23:59:59Z"}
    assert decide(Status(before, NOW), WAITING, TIMEOUT).again_in == TIMEOUT


def test_an_operator_that_works_keeps_its_phase_while_its_pods_change_places() -> None:
    before = a_status("Succeeded")
    found = decide(Status(before, NOW), ROLLING, TIMEOUT)
    assert found.status.manifest == before
    assert found.waits_for == ROLLING.message


@pytest.mark.parametrize(
    ("phase", "problem", "want"),
    [
        ("Succeeded", OUTDATED, True),
        ("Installing", OUTDATED, False),
        ("Succeeded", WAITING, False),
        ("Succeeded", None, False),
    ],
)
def test_which_operators_work_and_are_outdated(phase: str, problem: Problem | None, want: bool) -> None:
    assert is_outdated(Status(a_status(phase), NOW), problem) is want


def test_the_same_problem_changes_nothing_csv_md_4_9() -> None:
    before = a_status("Installing", "InstallWaiting", f"installing: {WAITING.message}")
    assert decide(Status(before, NOW), WAITING, TIMEOUT).status.manifest == before


def test_an_installation_that_takes_too_long_fails_csv_md_18_row_17() -> None:
    before = a_status("Installing", "InstallWaiting", ago=TIMEOUT)
    assert transition(before, WAITING) == ("Failed", "InstallCheckFailed", "install timeout")


def test_the_deadline_is_looked_at_when_it_comes_csv_md_4_4_3() -> None:
    before = a_status("Installing", "InstallWaiting", ago=timedelta(minutes=2))
    found = decide(Status(before, NOW), WAITING, TIMEOUT)
    assert found.again_in == timedelta(minutes=3)
    assert found.waits_for == WAITING.message


@pytest.mark.parametrize(
    ("phase", "reason", "want"),
    [
        ("Installing", "", True),
        ("Succeeded", "", True),
        ("Failed", "ComponentUnhealthy", True),
        ("Failed", "InstallCheckFailed", True),
        ("Failed", "RequirementsNotMet", False),
        ("Pending", "", False),
        ("Replacing", "", False),
    ],
)
def test_which_phases_the_deployments_decide(phase: str, reason: str, want: bool) -> None:
    assert is_observed(Status(a_status(phase, reason), NOW)) is want


@pytest.mark.parametrize(
    ("failures", "pause"),
    [(1, 0), (2, 5), (3, 10), (4, 20), (20, 300)],
    ids=lambda value: f"issue 3: no hot loop {value}",
)
def test_a_version_that_fails_again_and_again_rests(failures: int, pause: int) -> None:
    before = a_status("Failed", "ComponentUnhealthy")
    before["conditions"] = before["conditions"] * failures
    found = decide(Status(before, NOW), MISSING, TIMEOUT)
    assert found.again_in == (timedelta(seconds=pause) if pause else None)
    assert found.status.phase == ("Failed" if pause else "Pending")


def test_failures_of_long_ago_do_not_count() -> None:
    entry = a_status("Failed", "ComponentUnhealthy", ago=timedelta(hours=1))
    before = {**a_status("Failed", "ComponentUnhealthy"), "conditions": entry["conditions"] * 9}
    assert decide(Status(before, NOW), MISSING, TIMEOUT).status.phase == "Pending"


@pytest.mark.parametrize(("seconds", "phase"), [(60, "Pending"), (59, "Failed")])
def test_failures_before_a_calm_minute_do_not_count(seconds: int, phase: str) -> None:
    """Somebody did new harm: it is repaired at once, as in OLM (csv.md 4.6)."""
    worked = a_status("Succeeded", ago=timedelta(seconds=seconds))["conditions"]
    before = a_status("Failed", "ComponentUnhealthy")
    before["conditions"] = [*before["conditions"] * 9, *worked, *before["conditions"]]
    assert decide(Status(before, NOW), MISSING, TIMEOUT).status.phase == phase


@pytest.mark.parametrize(
    ("phase", "known", "want"),
    [
        pytest.param("Succeeded", True, None, id="everything was checked"),
        pytest.param("Succeeded", False, "Pending", id="csv.md 4.5-5: the spec was edited"),
        pytest.param("Installing", False, None, id="csv.md 4.4: requirements do not count while installing"),
    ],
)
def test_outgrown(phase: str, known: bool, want: str | None) -> None:
    judged = [{"kind": "CustomResourceDefinition", "name": "things.example.com"}] if known else []
    status = {**a_status(phase), "requirementStatus": judged}
    found = unchecked_requirements(
        Csv(a_csv(customresourcedefinitions=owned_crd(), status=status)), Status(status, NOW)
    )
    assert (found.status.phase if found else None) == want
